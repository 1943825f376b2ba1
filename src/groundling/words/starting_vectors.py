"""The word vectors that a table of words begins with: from files, or trained on the corpus's own captions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from groundling.corpus import Corpus
from groundling.errors import UserError
from groundling.text.vocabulary import FIRST
from groundling.words import WordVectors, storage, training
from groundling.words.reduction import reduce
from groundling.words.sources import find_file

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True)
class StartingVectors:
    """Where the vectors of a table of words come from.

    Attributes:
        source: "captions" to train vectors on each language's captions (kept between runs); "random"; or a file of word
            vectors, also below the data folder, in which {language} stands for the code.
        dimensions: of vectors that no file gives.
        lines: words of a file that are read; files list the frequent ones first.
        whiten: whether `begun` gives the words of each language the same spread in all directions.
    """

    source: str
    dimensions: int
    lines: int = 200_000
    whiten: bool = False

    @property
    def random(self) -> bool:
        return self.source == "random"

    def check(self, languages: Sequence[str], data: Path | None) -> None:
        """An error where files are named and one of them is missing."""
        for code in languages if self.source not in ("captions", "random") else []:
            self._path(code, len(languages), data)

    def prepare(self, corpus: Corpus, segmentation: str) -> None:
        """Vectors that are trained on captions are kept between runs."""
        for code in corpus.all_languages() if self.source == "captions" else []:
            caption_vectors(corpus, code, self.dimensions, segmentation)

    def table(
        self, corpus: Corpus, vocabularies: Mapping[str, Sequence[str]], segmentation: str, data: Path | None = None
    ) -> Matrix:
        """[rows, dimensions] for `tokenisers.by_language.LanguageTokeniser`: zeros for padding and for nothing."""
        tables = []
        for code, words in vocabularies.items():
            if self.source == "captions":
                vectors = caption_vectors(corpus, code, self.dimensions, segmentation)
            else:
                path = self._path(code, len(vocabularies), data)
                vectors, _ = storage.read(path, self.lines)
                if words and vectors.subwords is None and not any(word in vectors for word in words):
                    raise UserError(
                        f'{path}: has none of the {len(words):,} words of the training captions in "{code}"; is it of '
                        "this language, and in lower case?"
                    )
            table = look_up(vectors, words)
            tables += [np.zeros((1, table.shape[1]), dtype=np.float32), table]
        sizes = {table.shape[1] for table in tables}
        if len(sizes) > 1:
            raise UserError(
                f"{self.source}: word vectors of {' and '.join(map(str, sorted(sizes)))} dimensions; give all the same"
            )
        return np.concatenate([np.zeros((FIRST, sizes.pop()), dtype=np.float32), *tables])

    def begun(self, table: Matrix, vocabularies: Mapping[str, Sequence[str]], dimensions: int | None) -> Matrix:
        """What words with a vector of their own begin with: rows of `table`, or so many of their principal components.

        Vectors are whitened last: whitened ones have no principal components, only directions that are all alike.
        """
        kept = table if dimensions is None else reduced(table, vocabularies, dimensions)
        return by_language(kept, vocabularies, kept.shape[1], whitened) if self.whiten else kept

    def _path(self, language: str, languages: int, data: Path | None) -> Path:
        if "{language}" not in self.source and languages > 1:
            raise UserError(
                f'system.vectors: write {{language}} in "{self.source}" where the code of each language stands, '
                "as in cc.{language}.300.vec.gz"
            )
        return find_file(self.source.replace("{language}", language), data)


def caption_vectors(corpus: Corpus, language: str, dimensions: int, segmentation: str) -> WordVectors:
    """Trained on the language's training captions, once."""
    captions = training.sentences(corpus, language, segmentation)
    return training.trained_words(captions, training.WordSettings(dimensions=dimensions))


def check_reduction(setting: str, dimensions: int | None, available: int) -> None:
    """An error, named by the setting, where there are not so many dimensions to keep."""
    if dimensions is not None and dimensions > available:
        raise UserError(
            f"system.{setting}: word vectors of {available} dimensions cannot be reduced to {dimensions}; choose fewer"
        )


def reduced(table: Matrix, vocabularies: Mapping[str, Sequence[str]], dimensions: int) -> Matrix:
    """The same rows in fewer dimensions, by the principal components of each language's own words."""

    def components(rows: Matrix) -> Matrix:
        return reduce(WordVectors(tuple(map(str, range(len(rows)))), rows), dimensions)[0].matrix

    return by_language(table, vocabularies, dimensions, components)


def by_language(
    table: Matrix, vocabularies: Mapping[str, Sequence[str]], dimensions: int, change: Callable[[Matrix], Matrix]
) -> Matrix:
    """The words of each language changed together, to so many dimensions; rows that stand for no word are zeros."""
    result = np.zeros((len(table), dimensions), dtype=np.float32)
    at = FIRST + 1
    for words in vocabularies.values():
        rows = slice(at, at + len(words))
        if words:
            result[rows] = change(table[rows])
        at += len(words) + 1
    return result


def whitened(table: Matrix) -> Matrix:
    """The rows without their mean, of equal spread in every direction, and as far from zero on average as before.

    >>> whitened(np.array([[9.0, 5], [9, -5], [7, 5], [7, -5]], dtype=np.float32)).astype(int).tolist()
    [[6, 6], [6, -6], [-6, 6], [-6, -6]]
    """
    centred = table.astype(np.float64) - table.mean(axis=0, dtype=np.float64)
    variances, axes = np.linalg.eigh(centred.T @ centred / max(1, len(centred)))
    least = variances.max(initial=0.0) * 1e-6  # a direction that no word has is left as it is, at zero
    turned = (centred @ axes) / np.sqrt(np.where(variances > least, variances, np.inf))
    spread = np.linalg.norm(table, axis=1).mean() / max(float(np.linalg.norm(turned, axis=1).mean()), 1e-12)
    return (spread * (turned @ axes.T)).astype(np.float32)


def look_up(vectors: WordVectors, words: Sequence[str]) -> Matrix:
    """The vectors of the words; those that have none begin at random, spread as the others are."""
    table, found = vectors.lookup(words)
    spread = float(table[found].std()) if found.any() else 0.1
    missing = np.random.default_rng(0).standard_normal((int((~found).sum()), vectors.dimensions))
    table[~found] = spread * missing
    return table
