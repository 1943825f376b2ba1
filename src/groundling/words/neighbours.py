"""The k candidates with the largest inner products, exactly, for queries that move a little from call to call.

A search of all candidates leaves a short list for each query: its best candidates, and a bound on the score of all
others. When the query has moved from q₀ to q = c·q₀ + e, no other candidate y can score more than c·bound + ‖e‖·‖y‖. If
the k-th best of the list beats that, the list holds the k nearest and the search is spared. The same bound lets the
search itself be done in bfloat16, where the processor multiplies it natively: the rounding error is added to the
bound, and scores are computed in float32 from the list.

A GPU multiplies faster than lists can be looked through: there all scores are computed each time, and the largest are
found from the largest of groups.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from groundling.progress import bar
from groundling.threads import workers

SCORES_AT_ONCE = 2**24  # by each thread; in float32 64 MB
LISTED_AT_ONCE = 2**19  # numbers gathered at once from the candidates; more would leave the cache
QUERIES_AT_ONCE = 512  # what a thread takes on; small enough to share out evenly
SCORES_AT_ONCE_ON_A_GPU = 2**28
GROUP = 64  # candidates whose largest score stands for all of them
FIRST_LOOK = 24  # of a list: most often enough
FLOAT32_ERROR = 2e-6  # of a score, relative to the length of the query


class Neighbours(NamedTuple):
    """For each query its k best scores, falling, and the rows of the candidates they belong to; both [n, k]."""

    scores: Tensor
    rows: Tensor


def nearest(queries: Tensor, candidates: Tensor, k: int, title: str = "") -> Neighbours:
    """The candidates with the largest inner products, for queries that are asked once."""
    parts = []
    with bar(title, len(queries)) as progress:
        search = MovingNeighbours(candidates, k, listed=max(FIRST_LOOK, 2 * k))
        for part in queries.split(16 * QUERIES_AT_ONCE):
            search.forget()
            parts.append(search(part))
            progress.advance(len(part))
    return Neighbours(torch.cat([part.scores for part in parts]), torch.cat([part.rows for part in parts]))


def best_scores(scores: Tensor, k: int) -> Neighbours:
    """The k largest of each row, as `topk`, in little more than one pass over them.

    The k largest scores lie in the k groups whose largest scores are largest.
    """
    whole = scores.shape[1] // GROUP * GROUP
    if whole < 2 * k * GROUP:
        return Neighbours(*scores.topk(k, dim=1))
    groups = scores[:, :whole].unflatten(1, (-1, GROUP)).amax(dim=2).topk(k, dim=1).indices
    columns = (groups[:, :, None] * GROUP + torch.arange(GROUP, device=scores.device)).flatten(1)
    rest = torch.arange(whole, scores.shape[1], device=scores.device).expand(len(scores), -1)
    columns = torch.cat([columns, rest], dim=1)
    best, places = scores.gather(1, columns).topk(k, dim=1)
    return Neighbours(best, columns.gather(1, places))


class MovingNeighbours:
    """Nearest neighbours among fixed candidates; call it with all queries, again and again.

    Attributes:
        candidates: [candidates, dimensions] float32, on any device.
        k: neighbours wanted.
        listed: length of the short lists; longer ones hold for longer moves and cost more to look through.
    """

    def __init__(self, candidates: Tensor, k: int, listed: int = 64, bfloat16: bool | None = None) -> None:
        self.candidates = candidates
        self.k = min(k, len(candidates))
        self.listed = min(max(listed, self.k), len(candidates))
        self.looks = sorted({min(max(FIRST_LOOK, self.k), self.listed), self.listed})
        self.radius = candidates.norm(dim=1).amax()
        self._rough = None
        if has_fast_bfloat16(candidates.device) if bfloat16 is None else bfloat16:
            self._rough = candidates.bfloat16()
            self._rough_error = _largest_distance(candidates, self._rough)
        self.forget()

    def forget(self) -> None:
        """Drop the lists: the next queries have nothing to do with the last ones."""
        self._origins = self._lists = self._bounds = torch.empty(0)

    @torch.no_grad()
    def __call__(self, queries: Tensor) -> Neighbours:
        """The neighbours of all queries."""
        if queries.device.type == "cuda":
            at_once = max(1, SCORES_AT_ONCE_ON_A_GPU // len(self.candidates))
            found = [best_scores(part @ self.candidates.T, self.k) for part in queries.split(at_once)]
            return Neighbours(torch.cat([part.scores for part in found]), torch.cat([part.rows for part in found]))
        scores = queries.new_empty(len(queries), self.k)
        rows = torch.empty(len(queries), self.k, dtype=torch.int64, device=queries.device)
        result = Neighbours(scores, rows)
        new = len(self._origins) != len(queries)
        if new:
            self._origins = torch.empty_like(queries)
            self._lists = rows.new_empty(len(queries), self.listed)
            self._bounds = scores.new_empty(len(queries), self.listed)

        def answer(part: Tensor) -> None:
            self._search(queries, part if new else self._from_lists(queries, part, result), result)

        parts = torch.arange(len(queries), device=queries.device).split(QUERIES_AT_ONCE)
        with workers(queries.device) as each:
            for _ in each(answer, parts):
                pass
        return result

    def _from_lists(self, queries: Tensor, part: Tensor, found: Neighbours) -> Tensor:
        """Fill in what the lists can answer; return the queries that are left.

        Each list is looked at once, as far as is likely to be enough, or not at all. The guess is that the k-th best
        score has grown with the query: if it is wrong, that costs time and nothing else.
        """
        now, before = queries[part], self._origins[part]
        growth = _dots(now, before) / _dots(before, before).clamp(min=1e-30)
        drift = (now - growth[:, None] * before).norm(dim=1) + FLOAT32_ERROR * now.norm(dim=1)
        drift[~(growth >= 0)] = torch.inf
        expected = growth * self._bounds[part, self.k - 1]
        hopeful = torch.ones_like(growth, dtype=torch.bool)
        left = []
        for length in self.looks:
            others = growth * self._bounds[part, length - 1] + drift * self.radius
            enough = hopeful & (expected >= others)
            hopeful &= ~enough
            left.append(self._look(queries, part[enough], length, others[enough], found))
        return torch.cat([*left, part[hopeful]])

    def _look(self, queries: Tensor, waiting: Tensor, length: int, others: Tensor, found: Neighbours) -> Tensor:
        """Fill in the best of the lists' first entries where no `others` can be better; return the queries left."""
        left = [waiting[:0]]
        size = max(1, LISTED_AT_ONCE // (length * queries.shape[1]))
        for part, limit in zip(waiting.split(size), others.split(size), strict=True):
            listed = self._lists[part, :length]
            vectors = self.candidates.index_select(0, listed.flatten()).view(*listed.shape, queries.shape[1])
            best, place = torch.bmm(vectors, queries[part, :, None]).squeeze(2).topk(self.k, dim=1)
            sure = best[:, -1] >= limit
            found.scores[part[sure]] = best[sure]
            found.rows[part[sure]] = listed.gather(1, place)[sure]
            left.append(part[~sure])
        return torch.cat(left)

    def _search(self, queries: Tensor, waiting: Tensor, found: Neighbours) -> None:
        """Score all candidates for these queries: new lists, and from them the neighbours."""
        at_once = max(32, SCORES_AT_ONCE // len(self.candidates))
        for part in waiting.split(at_once):
            some = queries[part]
            best = self._best(some) if self._rough is None else self._rough_best(some, self._rough)
            self._bounds[part], self._lists[part] = best
            self._origins[part] = some
        if self.listed == len(self.candidates):
            self._bounds[waiting, -1] = -torch.inf  # there are no others
        for length in self.looks:
            waiting = self._look(queries, waiting, length, self._bounds[waiting, length - 1], found)
        for part in waiting.split(at_once):  # more near ties than a list is long
            plain = (queries[part] @ self.candidates.T).topk(self.k, dim=1)
            found.scores[part], found.rows[part] = plain.values, plain.indices

    def _best(self, queries: Tensor) -> tuple[Tensor, Tensor]:
        """Bounds on the scores of the best candidates, falling, and their rows."""
        best = (queries @ self.candidates.T).topk(self.listed, dim=1)
        return best.values + FLOAT32_ERROR * queries.norm(dim=1, keepdim=True) * self.radius, best.indices

    def _rough_best(self, queries: Tensor, candidates: Tensor) -> tuple[Tensor, Tensor]:
        """The same from bfloat16. A score can be off by both roundings, and by that of the product."""
        rough = queries.bfloat16()
        best = (rough @ candidates.T).topk(self.listed, dim=1)
        values = best.values.float()
        error = (queries - rough.float()).norm(dim=1, keepdim=True) * (self.radius + self._rough_error)
        error += queries.norm(dim=1, keepdim=True) * (self._rough_error + FLOAT32_ERROR * self.radius)
        return values + values.abs() / 256 + error, best.indices


def has_fast_bfloat16(device: torch.device) -> bool:
    """Only processors that multiply it natively; a GPU is fast enough in float32."""
    check = getattr(torch.cpu, "_is_avx512_bf16_supported", None)  # not public; absent means we do not know
    return device.type == "cpu" and bool(check and check())


def _dots(one: Tensor, other: Tensor) -> Tensor:
    return torch.einsum("ij,ij->i", one, other)


def _largest_distance(one: Tensor, other: Tensor) -> Tensor:
    parts = zip(one.split(16_384), other.split(16_384), strict=True)
    return torch.stack([(a - b.float()).norm(dim=1).amax() for a, b in parts]).amax()
