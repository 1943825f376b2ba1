"""How CLC-C learns: 30 steps on all of the validation queries at once, with the bidirectional triplet loss of SMALR.

For each query and its picture the ten costliest wrong pictures, and the ten costliest wrong captions of its picture,
should score `MARGIN` less than the right pair: captions count once, pictures 1.5 times (equation 3). Which ones they
are is found without gradients, tile by tile; only their scores, a few per query, are then differentiated. That is the
gradient of the whole loss, for what is left out of it has none.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from groundling.evaluation.compute import full_precision
from groundling.evaluation.consistency.score import Average, Combined, Learned, part_scores
from groundling.evaluation.scores import Score
from groundling.progress import bar

ITERATIONS = 30
MARGIN = 0.05
HARDEST = 10
PICTURES_WEIGHT = 1.5
RATE = 3e-3  # of Adam, enough to settle in 30 steps; the paper does not give one
KEPT = 2**27  # scores of single languages that are kept from one step to the next, half a gigabyte

Combine = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Queries:
    """Captions of one language that compete with each other: their vectors [c, parts · d] and pictures [c]."""

    vectors: Tensor
    owners: Tensor


def learn(
    base: Score, pictures: Tensor, groups: Sequence[Queries], parts: int, iterations: int = ITERATIONS
) -> tuple[Learned, list[float]]:
    """The combination of `parts` scores that these pictures and queries teach, and the loss before each step."""
    start = Learned.equal(parts)
    weights = [tensor.to(pictures.device).requires_grad_() for tensor in (start.first, start.second)]
    optimiser = torch.optim.Adam(weights, lr=RATE)
    rivals = [_Rivals(base, pictures, group, parts) for group in groups]
    losses = []
    with full_precision(pictures.device), bar("Learning to combine languages", iterations) as progress:
        for _ in range(iterations):
            combine = network(*weights)
            optimiser.zero_grad()
            loss = torch.stack([triplet_cost(each.hardest(combine), combine) for each in rivals]).mean()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
            progress.advance(note=f"loss {losses[-1]:.4f}")
    return Learned(weights[0].cpu(), scaled(*weights).cpu()), losses


def network(first: Tensor, second: Tensor) -> Combine:
    """As `Learned`, for weights that want a gradient, divided by what they add up to.

    Hard negatives score more than what is right, so the loss is smallest where all scores are the same: without the
    division, learning would shrink the weights to nothing rather than choose between languages.
    """
    return lambda scores: ((scores + Learned.shift) @ first).relu() @ scaled(first, second)


def scaled(first: Tensor, second: Tensor) -> Tensor:
    """The second layer such that scores which are all alike come out as they went in."""
    return second / (first @ second).sum()


@dataclass(frozen=True)
class Hardest:
    """Scores of single languages, for each query.

    Attributes:
        right: of the query with its picture [queries, languages].
        captions: of its picture with the hardest captions of other pictures [queries, hardest, languages].
        real: which of these there are [queries, hardest]; small corpora may have fewer than ten.
        pictures: of the query with the hardest pictures [queries, hardest, languages].
    """

    right: Tensor
    captions: Tensor
    real: Tensor
    pictures: Tensor


def triplet_cost(found: Hardest, combine: Combine) -> Tensor:
    """The mean cost of the hardest captions, and 1.5 times that of the hardest pictures."""
    own = combine(found.right)[:, None]
    by_caption = (MARGIN + combine(found.captions) - own).clamp(min=0) * found.real
    by_picture = (MARGIN + combine(found.pictures) - own).clamp(min=0)
    return by_caption.sum() / found.real.sum().clamp(min=1) + PICTURES_WEIGHT * by_picture.mean()


class _Rivals:
    """All pairs of a group of queries with all pictures, looked through for the hardest, a part of the queries at a
    time; the scores of their single languages are kept where there is room."""

    def __init__(self, base: Score, pictures: Tensor, queries: Queries, parts: int) -> None:
        self.combined = Combined(base, Average(parts), parts)
        self.pictures, self.queries, self.parts = pictures, queries, parts
        self.step = max(1, 2**22 // (len(pictures) * parts))
        self.kept: dict[int, Tensor] = {}
        own = [
            part_scores(base, pictures[queries.owners[at]].double(), queries.vectors[at].double(), parts)
            for at in torch.arange(len(queries.owners), device=pictures.device).split(1000)
        ]
        self.right = torch.cat(own).to(pictures.dtype)

    @torch.no_grad()
    def hardest(self, combine: Combine) -> Hardest:
        owners, device = self.queries.owners, self.pictures.device
        best = torch.zeros(len(self.pictures), 0, device=device)  # of each picture, the hardest captions so far
        best_scores = torch.zeros(len(self.pictures), 0, self.parts, device=device)
        wrong_pictures = []
        for start in range(0, len(owners), self.step):
            scores = self.scores(start)  # [pictures, some queries, languages]
            mine = owners[start : start + self.step]
            column = torch.arange(len(mine), device=device)
            combined = combine(scores)
            combined[mine, column] = -torch.inf
            top = combined.topk(min(HARDEST, len(self.pictures) - 1), dim=0).indices  # [hardest, queries]
            wrong_pictures.append(scores[top, column].transpose(0, 1))
            combined, scores = torch.cat([best, combined], dim=1), torch.cat([best_scores, scores], dim=1)
            best, places = combined.topk(min(HARDEST, combined.shape[1]), dim=1)
            best_scores = scores.gather(1, places[:, :, None].expand(-1, -1, self.parts))
        return Hardest(self.right, best_scores[owners], best[owners].isfinite(), torch.cat(wrong_pictures))

    def scores(self, start: int) -> Tensor:
        if start not in self.kept:
            scores = self.combined.single(self.pictures, self.queries.vectors[start : start + self.step])
            if sum(part.numel() for part in self.kept.values()) + scores.numel() > KEPT:
                return scores
            self.kept[start] = scores
        return self.kept[start]
