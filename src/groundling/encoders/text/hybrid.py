"""Words of many languages as universal embeddings, some through a map of their language, some from a shared table.

HEM, the hybrid embedding of SMALR (Burns et al. 2020, section 3.1, https://arxiv.org/abs/2004.04312): frequent words
have a small vector of their own and a linear map for each language; all others share latent tokens, which are universal
embeddings already. With maps alone it is MULE's embedding (Kim et al. 2020, https://arxiv.org/abs/1909.03493), with
tokens alone the language-agnostic one (LA).
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from groundling.encoders.tokenisers.by_language import LanguageTokeniser


class HybridWords(nn.Module):
    """Rows of languages, then rows of latent tokens → universal embeddings.

    Where a GPU trains, the maps are applied to the whole table, then rows are looked up: shapes never depend on which
    words a batch has, which a recorded step needs. Otherwise the rows that are asked for are mapped, each once.

    Args:
        bounds: where the rows of each language begin, and where the last ones end; row 0 is padding.
        word_dimensions: of rows that are mapped.
        universal: dimensions of what comes out.
        tokens: latent ones, whose rows follow those of the languages.
        mapped: which languages have a map; the rows of others are universal embeddings. All when left out.
        start: [bounds[-1], word dimensions] pretrained vectors, which `start` keeps (outside of the saved weights).
        latent: [tokens, universal] what the latent tokens begin with.

    Attributes:
        table: word vectors of the languages that have a map, after one row for padding; None where no language has.
        latent: universal embeddings of the languages that have none, then of the tokens; None where there are none.
    """

    start: Tensor | None

    def __init__(
        self,
        bounds: Sequence[int],
        word_dimensions: int,
        universal: int,
        tokens: int = 0,
        mapped: Sequence[bool] | None = None,
        start: Tensor | None = None,
        latent: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.bounds, self.width, self.tokens = list(bounds), universal, tokens
        self.mapped = [True] * (len(bounds) - 1) if mapped is None else list(mapped)
        # Of each language and the tokens: whether it is mapped, and where it begins and ends in its table.
        self.places: list[tuple[bool, int, int]] = []
        ends = {True: bounds[0], False: 0}
        for has_map, (begin, end) in zip([*self.mapped, False], pairwise(self.edges), strict=True):
            self.places.append((has_map, ends[has_map], ends[has_map] + end - begin))
            ends[has_map] += end - begin
        any_map = any(self.mapped)
        self.table = nn.Parameter(torch.empty(ends[True], word_dimensions)) if any_map else None
        self.universal = nn.ModuleList(nn.Linear(word_dimensions, universal) for has_map in self.mapped if has_map)
        self.latent = nn.Parameter(torch.empty(ends[False], universal)) if ends[False] else None
        with torch.no_grad():
            if self.table is not None:
                nn.init.uniform_(self.table, -0.1, 0.1)
                if start is not None:
                    self.table.copy_(self._mapped_rows(start))
            if self.latent is not None:
                nn.init.normal_(self.latent, std=0.1)
                if latent is not None:
                    self.latent[len(self.latent) - tokens :] = latent
        kept = None if start is None or self.table is None else self.table.detach().clone()
        self.register_buffer("start", kept, persistent=False)

    @classmethod
    def of(cls, tokeniser: LanguageTokeniser, universal: int, mapped: bool = True) -> "HybridWords":
        """For the words of a tokeniser, which begin with its vectors; `mapped`: whether languages have maps."""
        start, latent = (
            None if table is None else torch.from_numpy(table) for table in (tokeniser.start, tokeniser.latent_start)
        )
        return cls(
            tokeniser.bounds,
            tokeniser.dimensions,
            universal,
            tokeniser.tokens,
            [mapped] * len(tokeniser.codes),
            start,
            latent if tokeniser.tokens else None,
        )

    @property
    def edges(self) -> list[int]:
        """The bounds, and where the latent tokens end."""
        return [*self.bounds, self.bounds[-1] + self.tokens]

    def forward(self, ids: Tensor, frozen: bool = False) -> Tensor:
        """[…] rows → […, universal dimensions]; `frozen`: the tables get no gradient, the maps do."""
        if self.training and self.on_gpu(ids):
            return embedding(ids, self.whole(frozen))
        rows, places = ids.unique(return_inverse=True)  # sorted, so that languages stand together
        cuts = torch.searchsorted(rows, torch.tensor(self.edges, dtype=rows.dtype, device=rows.device)).tolist()

        def asked_for(table: Tensor, has_map: bool) -> Sequence[Tensor]:
            wanted = [
                rows[begin:end].long() - edge + start
                for edge, (begin, end), (mapped, start, _) in zip(self.edges, pairwise(cuts), self.places, strict=False)
                if mapped == has_map
            ]
            return table[torch.cat(wanted)].split([len(numbers) for numbers in wanted])

        return embedding(places, self._universal(cuts[0], asked_for, frozen))

    @staticmethod
    def on_gpu(ids: Tensor) -> bool:
        return ids.is_cuda

    def whole(self, frozen: bool = False) -> Tensor:
        """[rows, universal dimensions] the embedding of every row."""

        def all_rows(table: Tensor, has_map: bool) -> Sequence[Tensor]:
            sizes = [end - begin for mapped, begin, end in self.places if mapped == has_map]
            return table.split([len(table) - sum(sizes), *sizes])[1:]

        return self._universal(self.bounds[0], all_rows, frozen)

    def _universal(self, padding: int, rows_of: Callable[[Tensor, bool], Sequence[Tensor]], frozen: bool) -> Tensor:
        """[padding, then rows of each language and of the tokens, universal dimensions] of the rows that `rows_of`
        takes from a table, language by language, at once: their gradient is then put together once, and not for each
        language as large as all."""
        taken = {
            has_map: iter(rows_of(table.detach() if frozen else table, has_map))
            for has_map, table in ((True, self.table), (False, self.latent))
            if table is not None
        }
        parts = []
        for number, (has_map, _, _) in enumerate(self.places):
            if has_map in taken:  # there may be no tokens
                rows, linear = next(taken[has_map]), self.map(number)
                parts.append(rows if linear is None else linear(rows))
        return torch.cat([parts[0].new_zeros(padding, self.width), *parts])

    def map(self, number: int) -> nn.Linear | None:
        """The map of a language."""
        if not self.places[number][0]:
            return None
        return cast(nn.Linear, self.universal[sum(self.mapped[:number])])

    def languages(self, ids: Tensor) -> Tensor:
        """The number of the language of each row."""
        return torch.bucketize(
            ids.contiguous(), torch.tensor(self.bounds[1:-1], dtype=ids.dtype, device=ids.device), right=True
        )

    def _mapped_rows(self, start: Tensor) -> Tensor:
        kept = [
            start[begin:end]
            for (begin, end), has_map in zip(pairwise(self.bounds), self.mapped, strict=True)
            if has_map
        ]
        return torch.cat([start[: self.bounds[0]], *kept])
