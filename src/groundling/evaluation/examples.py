"""A few queries with what the model answers, drawn at random, not chosen: the best ones would tell nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt
import torch

from groundling.corpus import Corpus
from groundling.corpus.columns import Integers
from groundling.evaluation.retrieval import RankedSplit
from groundling.evaluation.scores import SCORES

SHOWN = 5
BLOCK = 4096  # pairs scored together


@dataclass(frozen=True)
class ShownPicture:
    """A picture among the answers, or the one that is asked about.

    Attributes:
        picture: its file; None where there is none.
        name: what the corpus calls it.
        text: its first caption in the language, where it has one.
        score, correct: how well it matches what was asked, and whether it should.
    """

    picture: Path | None
    name: str = ""
    text: str | None = None
    score: float | None = None
    correct: bool = False


@dataclass(frozen=True)
class ShownCaption:
    """A caption among the answers."""

    language: str
    text: str
    score: float
    correct: bool


@dataclass(frozen=True)
class FoundPictures:
    """A caption with the pictures that are nearest to it.

    Attributes:
        rank: of its own picture.
        answer, name: the file and the name of that picture.
    """

    language: str
    text: str
    rank: int
    hits: list[ShownPicture]
    answer: Path | None
    name: str
    asks: ClassVar[bool] = True

    def files(self) -> list[Path | None]:
        """Of the pictures that are shown."""
        return [*(hit.picture for hit in self.hits), self.answer]


@dataclass(frozen=True)
class FoundCaptions:
    """A picture with the captions that are nearest to it: of one language, or (`language` is empty) of any.

    Attributes:
        text: its own first caption in that language.
        rank: of the best of its own captions in that language.
    """

    picture: Path | None
    captions: list[ShownCaption]
    name: str = ""
    text: str | None = None
    language: str = ""
    rank: int | None = None
    asks: ClassVar[bool] = False

    def files(self) -> list[Path | None]:
        return [self.picture]


Example = FoundPictures | FoundCaptions


def queries_of(sheet: Sequence[Example]) -> list[FoundPictures]:
    return [cast(FoundPictures, entry) for entry in sheet if entry.asks]


def pictures_of(sheet: Sequence[Example]) -> list[FoundCaptions]:
    return [cast(FoundCaptions, entry) for entry in sheet if not entry.asks]


def examples(evaluated: RankedSplit, queries: int = 12, annotated: int = 6, seed: int = 0) -> list[Example]:
    """For the report of a run: `queries` captions with their five nearest pictures, languages in turn, then `annotated`
    pictures with their five nearest captions of any language.

    Empty where the corpus has no picture files to show.
    """
    corpus = evaluated.corpus
    if corpus.root is None:
        return []
    draw = np.random.default_rng(seed)
    codes = _in_order(corpus)
    sheet: list[Example] = []
    for number in range(queries):
        rows = np.flatnonzero(corpus.languages == codes[number % len(codes)])
        sheet.append(asked_pictures(evaluated, int(rows[draw.integers(len(rows))])))
    drawn = draw.choice(len(corpus.pictures), size=min(annotated, len(corpus.pictures)), replace=False).tolist()
    return sheet + [FoundCaptions(corpus.path(at), _captions(evaluated, at)) for at in drawn]


def examples_by_language(
    evaluated: RankedSplit, queries: int = 8, pictures: int = 8, seed: int = 0, photos: Path | None = None
) -> list[Example]:
    """Captions with their five nearest pictures, then pictures with their five nearest captions of one language.

    Languages take turns, through queries and pictures alike. Where there are no picture files, in the corpus or in the
    folder `photos`, a picture is shown by its name and a caption. Nothing is drawn twice; where the split has no more,
    there are fewer examples.
    """
    corpus, draw = evaluated.corpus, np.random.default_rng(seed)
    codes = _in_order(corpus)
    captions = {code: draw.permutation(np.flatnonzero(corpus.languages == code)).tolist() for code in codes}
    described = {
        code: draw.permutation(np.flatnonzero(evaluated.by_language[code].image_to_text > 0)).tolist() for code in codes
    }
    sheet: list[Example] = []
    used: set[int] = set()
    for number in range(queries):
        left = captions[codes[number % len(codes)]]
        if left:
            sheet.append(asked_pictures(evaluated, left.pop(), photos))
    for number in range(queries, queries + pictures):
        code = codes[number % len(codes)]
        fresh = [at for at in described[code] if at not in used]
        if fresh:
            used.add(fresh[0])
            sheet.append(_described(evaluated, fresh[0], code, photos))
    return sheet


def _in_order(corpus: Corpus) -> list[str]:
    return sorted(corpus.all_languages(), key=lambda code: (code != "en", code))


def asked_pictures(evaluated: RankedSplit, row: int, photos: Path | None = None) -> FoundPictures:
    """A caption, the five pictures nearest to it, and its own picture with its rank."""
    corpus = evaluated.corpus
    owner, code = int(corpus.owners[row]), str(corpus.languages[row])
    rivals = np.arange(len(corpus.pictures))[evaluated.gallery(owner)]
    hits = [
        replace(_picture(corpus, at, code, photos), score=score, correct=at == owner)
        for at, score in _nearest(evaluated, rivals, np.full(len(rivals), row), rivals == owner, rivals.tolist())
    ]
    place = int((corpus.languages[:row] == code).sum())
    own = _picture(corpus, owner, code, photos)
    rank = int(evaluated.by_language[code].text_to_image[place])
    return FoundPictures(code, corpus.texts[row], rank, hits, own.picture, own.name)


def _described(evaluated: RankedSplit, at: int, code: str, photos: Path | None = None) -> FoundCaptions:
    """A picture, the five captions of one language nearest to it, and its first own one with the rank of its best."""
    own = _picture(evaluated.corpus, at, code, photos)
    rank = int(evaluated.by_language[code].image_to_text[at])
    return FoundCaptions(own.picture, _captions(evaluated, at, code), own.name, own.text, code, rank)


def _captions(evaluated: RankedSplit, at: int, code: str | None = None) -> list[ShownCaption]:
    """The five captions nearest to a picture, of one language or of all."""
    corpus, fold = evaluated.corpus, evaluated.gallery(at)
    inside = (corpus.owners >= fold.start) & (corpus.owners < fold.stop)
    rows = np.flatnonzero(inside if code is None else inside & (corpus.languages == code))
    own = corpus.owners[rows] == at
    return [
        ShownCaption(str(corpus.languages[row]), corpus.texts[row], score, bool(corpus.owners[row] == at))
        for row, score in _nearest(evaluated, np.full(len(rows), at), rows, own, rows.tolist())
    ]


def _picture(corpus: Corpus, at: int, code: str, photos: Path | None) -> ShownPicture:
    """How a picture can be shown: its file, where there is one, its name, and its first caption in the language."""
    name = str(corpus.pictures[at])
    path = corpus.path(at)
    if photos is not None:
        places = (photos / name, photos / Path(name).name)
        path = next((place for place in places if place.is_file()), path)
    own = np.flatnonzero((corpus.owners == at) & (corpus.languages == code))
    return ShownPicture(path, name, corpus.texts[own[0]] if len(own) else None)


def _nearest(
    evaluated: RankedSplit, pictures: Integers, captions: Integers, correct: npt.NDArray[np.bool_], names: Sequence[int]
) -> list[tuple[int, float]]:
    """The five best of pairs of rows, by their names, with scores; as in ranks, a tie counts against the model."""
    score, found = SCORES[evaluated.similarity], []
    for start in range(0, len(pictures), BLOCK):
        part = slice(start, start + BLOCK)
        left, right = evaluated.pictures[pictures[part]], evaluated.captions[captions[part]]
        found.append(score.pairs(torch.from_numpy(left).double(), torch.from_numpy(right).double()))
    scores = torch.cat(found).numpy()
    order = np.lexsort((correct, -scores))[:SHOWN]
    return [(names[place], float(scores[place])) for place in order]
