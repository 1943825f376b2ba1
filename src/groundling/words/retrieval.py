"""Word translation as retrieval: is a right translation among the nearest words of the other language?

By cosine (nn), and by CSLS (Conneau et al. 2018), which takes from each word's score its mean similarity to its k
nearest neighbours, so that words near to everything ("hubs") do not answer every question.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from groundling.words.neighbours import SCORES_AT_ONCE, nearest

DEPTHS = (1, 5, 10)
TIE = 1e-6  # scores nearer than rounding are equal


def precision(
    mapped: Tensor, target: Tensor, answers: Mapping[int, list[int]], k: int = 10
) -> dict[str, dict[str, float]]:
    """{"nn": {"1": …, "5": …, "10": …}, "csls": …}: the share of source words with a right answer that deep.

    `mapped` and `target` are unit rows of all words of both languages; `answers` holds, for rows of `mapped`, the rows
    of `target` that are right. Of several right answers the best placed counts, and the others stand in nobody's way.
    """
    words = torch.tensor(list(answers), device=mapped.device)
    queries = mapped[words]
    hubness = nearest(target, mapped, k, "Neighbourhoods for CSLS").scores.mean(dim=1)
    right = list(answers.values())
    by_method = {"nn": ranks(queries, target, right), "csls": ranks(queries, target, right, hubness / 2)}
    return {
        method: {str(depth): float((found <= depth).double().mean()) for depth in DEPTHS}
        for method, found in by_method.items()
    }


def ranks(queries: Tensor, target: Tensor, right: list[list[int]], handicap: Tensor | None = None) -> Tensor:
    """The place of each query's best right answer, from 1, by q·y − handicap(y); a wrong answer as good comes before.

    CSLS is 2·q·y − r(q) − r(y): r(q) is the same for all answers, so half of r(y) is the handicap.
    """
    found = []
    size = min(1024, max(1, SCORES_AT_ONCE // len(target)))
    for at in range(0, len(queries), size):
        scores = queries[at : at + size] @ target.T
        if handicap is not None:
            scores -= handicap
        part = right[at : at + size]
        owner = torch.tensor([row for row, answers in enumerate(part) for _ in answers], device=target.device)
        answer = torch.tensor([answer for answers in part for answer in answers], device=target.device)
        best = torch.full((len(part),), -torch.inf, device=target.device)
        best = best.scatter_reduce(0, owner, scores[owner, answer], "amax")
        scores[owner, answer] = -torch.inf
        found.append(1 + (scores >= best[:, None] - TIE).sum(dim=1))
    return torch.cat(found)
