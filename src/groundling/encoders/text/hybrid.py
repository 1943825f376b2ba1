"""Words of many languages as universal embeddings, some through a map of their language, some from a shared table.

HEM, the hybrid embedding of SMALR (Burns et al. 2020, section 3.1, https://arxiv.org/abs/2004.04312): frequent words
have a small vector of their own and a linear map for each language; all others share latent tokens, which are universal
embeddings already. With maps alone it is MULE's embedding (Kim et al. 2020, https://arxiv.org/abs/1909.03493), with
tokens alone the language-agnostic one (LA).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from groundling.encoders.tokenisers.by_language import LanguageTokeniser


class HybridWords(nn.Module):
    """Rows of languages, then rows of latent tokens → universal embeddings.

    In training the maps are applied to the whole table, then rows are looked up: shapes never depend on which words a
    batch has, and no word is mapped twice. Otherwise only the rows that are asked for are mapped.

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
        if self.training:
            return embedding(ids, self.whole(frozen))
        rows, places = ids.unique(return_inverse=True)  # sorted, so that languages stand together
        edges = torch.tensor(self.edges, dtype=rows.dtype, device=rows.device)
        cuts = torch.searchsorted(rows, edges).tolist()
        parts = [
            self.part(number, rows[begin:end] - self.edges[number], frozen)
            for number, (begin, end) in enumerate(pairwise(cuts))
        ]
        return _after_padding(cuts[0], parts)[places]

    def whole(self, frozen: bool = False) -> Tensor:
        """[rows, universal dimensions] the embedding of every row."""
        parts = [self.part(number, None, frozen) for number in range(len(self.places))]
        return _after_padding(self.bounds[0], parts)

    def part(self, number: int, rows: Tensor | None = None, frozen: bool = False) -> Tensor:
        """The universal embeddings of a language, or of the tokens after the last one: of some rows, or of all."""
        has_map, begin, end = self.places[number]
        table = self.table if has_map else self.latent
        if table is None:  # no tokens
            return torch.zeros(0, self.width, device=next(self.parameters()).device)
        values = (table.detach() if frozen else table)[begin:end]
        values = values if rows is None else values[rows.long()]
        linear = self.map(number)
        return values if linear is None else cast(Tensor, linear(values))

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


def _after_padding(rows: int, parts: list[Tensor]) -> Tensor:
    return torch.cat([parts[0].new_zeros(rows, parts[0].shape[1]), *parts])
