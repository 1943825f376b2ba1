"""A retrieval model that tells whether captions belong to their pictures, by all others that it can compare them with.

>>> matcher = Matcher.load("clip-multilingual")                                          # doctest: +SKIP
>>> matcher.check("photo.jpg", "Zwei Hunde am Strand", others=photos).label              # doctest: +SKIP
'fits'
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from groundling.checking.answer import Answer, Value
from groundling.checking.belonging import FEWEST_ROWS, Belonging, Comparison
from groundling.checking.method import Method, Question
from groundling.checking.pictures import picture_bytes, vectors_of
from groundling.checking.problem import NotChecked
from groundling.checking.words import MisfitWord, misfit_words
from groundling.errors import UserError
from groundling.model import Model, Vectors

FITS, UNSURE, MISFIT = "fits", "unsure", "does not fit"
DOUBTED, TRUSTED = (
    0.5,
    0.1,
)  # the probability that a caption is wrong, from which it does not fit, and below which it does
RARE = 0.05  # the p-value below which a caption of a small table fits
EXPLAINED = 1000  # captions, the worst, whose words are looked at one by one


@dataclass(frozen=True)
class Match(Answer):
    """How a caption fits its picture, compared with the others (see `belonging`).

    Attributes:
        label: "fits", "unsure" or "does not fit".
        probability: that it belongs to the picture; None where there is too little to tell it from.
        score, fit, p_value, picture_rank, caption_rank: as `belonging.Belonging` has them.
        pictures: how many there were to compare with, its own included.
        better_picture: the name of the picture that fits the caption best, where that is another; else "".
        better_caption, better_line: the caption of another picture that fits this one best, where it fits better.
        misfits: words without which the caption fits better.
    """

    labels: ClassVar = {MISFIT: "fit another picture as well", UNSURE: "uncertain", FITS: "fit their own"}
    signs: ClassVar = {MISFIT: "✗", UNSURE: "?", FITS: "✓"}
    in_words: ClassVar = {MISFIT: "Does not fit this picture", UNSURE: "May not fit this picture", FITS: "Fits"}
    heads: ClassVar = ("belongs %", "rank", "better picture")

    label: str
    language: str
    detected: bool
    unknown_words: tuple[str, ...]
    probability: float | None
    score: float
    fit: float
    p_value: float
    pictures: int
    picture_rank: int
    caption_rank: int
    better_picture: str = ""
    better_caption: str = ""
    better_line: int | None = None
    misfits: tuple[MisfitWord, ...] = ()

    @property
    def badness(self) -> tuple[float, ...]:
        return self.p_value, -self.fit

    @property
    def shares(self) -> dict[str, float]:
        return {} if self.probability is None else {"belongs": self.probability}

    def cells(self) -> tuple[str, ...]:
        share = "" if self.probability is None else f"{100 * self.probability:.0f}"
        return share, f"{self.picture_rank}/{self.pictures}", self.better_picture

    def told(self) -> str:
        if self.pictures < 2:
            return f"similarity {self.score:.3f}, and no other picture to compare with: name a folder with --pictures"
        parts = [f"number {self.picture_rank:,} of {self.pictures:,} pictures for this text"]
        parts += [f"{self.better_picture} fits it best"] if self.better_picture else []
        parts += [f"it fits better without {', '.join(one.word for one in self.misfits)}"] if self.misfits else []
        return "; ".join(parts)

    @staticmethod
    def columns() -> tuple[str, ...]:
        return (
            "result", "probability", "p_value", "score", "fit", "picture_rank", "better_picture", "caption_rank",
            "better_caption", "better_line", "misfit_words",
        )  # fmt: skip

    def fields(self) -> dict[str, Value]:
        values = (
            self.label, self.probability, self.p_value, self.score, self.fit, self.picture_rank,
            self.better_picture or None, self.caption_rank, self.better_caption or None, self.better_line,
            " ".join(one.word for one in self.misfits) or None,
        )  # fmt: skip
        return dict(zip(self.columns(), values, strict=True))

    def as_json(self) -> dict[str, object]:
        return {
            **self.fields(),
            "pictures": self.pictures,
            "misfit_words": [one.word for one in self.misfits],
            "language": self.language,
            "detected": self.detected,
            "unknown_words": list(self.unknown_words),
        }


class Matcher(Method):
    """Any model that finds pictures by words: a run, an exported one, a pretrained pair."""

    answer = Match
    at_once = None

    def __init__(self, model: Model) -> None:
        model.check_finds()
        self.model = model

    @staticmethod
    def load(model: str | Path, device: str = "auto") -> "Matcher":
        return Matcher(Model.load(model, device))

    def look(self, prepared: Sequence[npt.NDArray[Any]]) -> Vectors:
        return self.model.encode_prepared(prepared)

    def check(
        self, picture: str | Path, text: str, language: str | None = None, others: Sequence[str | Path] = ()
    ) -> Match:
        """One text about one picture file, compared with others; those that cannot be read are left out.

        Raises UserError where the picture cannot be read, the text is empty, or the model does not know the language.
        """
        try:
            reading = self.read(text, language)
            [own] = vectors_of(self, [picture_bytes(picture)])
        except NotChecked as problem:
            raise UserError(f"{picture}: {problem}") from None
        if isinstance(own, str):
            raise UserError(f"{picture}: {own}")
        files = {}
        for name in others:
            try:
                files[str(name)] = picture_bytes(name)
            except NotChecked:
                continue
        looked = {str(picture): own}
        found = zip(files, vectors_of(self, list(files.values())), strict=True)
        looked |= {name: vector for name, vector in found if not isinstance(vector, str) and name != str(picture)}
        [answer] = self.answers([Question(text, reading, str(picture))], looked)
        return answer

    def answers(self, questions: Sequence[Question], looked: Mapping[str, Vectors]) -> list[Match]:  # type: ignore[override]
        """Compares all of them with each other, and with all pictures that were looked at."""
        names = list(looked)
        place = {name: row for row, name in enumerate(names)}
        owners = np.array([place[one.picture] for one in questions], dtype=np.int64)
        codes = np.array([one.reading.language for one in questions], dtype=np.str_)
        vectors = self.model.encode_text([one.text for one in questions], codes.tolist())
        pictures = np.stack([looked[name] for name in names])
        comparison = Comparison(vectors, pictures, owners, codes, self.model.similarity)
        found = comparison.belonging()
        labels = _labels(found, len(names))
        explained = [row for row in np.lexsort((found.fit, -found.p_value)).tolist() if labels[row] != FITS]
        misfits = misfit_words(self.model, comparison, questions, owners, found.fit, explained[:EXPLAINED])
        return [
            Match(
                labels[row],
                one.reading.language,
                one.reading.detected,
                one.reading.unknown,
                None if found.doubt is None else 1 - float(found.doubt[row]),
                float(found.score[row]),
                float(found.fit[row]),
                float(found.p_value[row]),
                len(names),
                int(found.picture_rank[row]),
                int(found.caption_rank[row]),
                names[found.better_picture[row]] if found.better_picture[row] >= 0 else "",
                questions[found.better_caption[row]].text if found.better_caption[row] >= 0 else "",
                questions[found.better_caption[row]].line if found.better_caption[row] >= 0 else None,
                misfits.get(row, ()),
            )
            for row, one in enumerate(questions)
        ]

    def notes(self, languages: Sequence[str]) -> list[str]:
        return [
            f"By the model {self.model.name}: each caption was compared with all pictures here, and each picture with "
            "the captions of the others in the same language. A caption that fits another picture as well as its own "
            "is likely wrong; a wrong word in one that fits no other picture can stay unseen. It marks what deserves a "
            "look, and does not replace one.",
            "Probabilities are told from this table alone: how well do pairs fit that do not belong together? A "
            f"table of fewer than {FEWEST_ROWS} captions has none.",
        ]


def _labels(found: Belonging, pictures: int) -> list[str]:
    """By the probability of being wrong; in small tables by the p-value, and by rank where even that says nothing."""
    if found.doubt is not None:
        return [MISFIT if doubt >= DOUBTED else FITS if doubt < TRUSTED else UNSURE for doubt in found.doubt.tolist()]
    if pictures < 2:
        return [UNSURE] * len(found.fit)
    first = (found.picture_rank == 1) & (found.caption_rank == 1)
    sure, lost = (found.p_value <= RARE) | first, found.p_value > DOUBTED
    return [MISFIT if wrong else FITS if right else UNSURE for right, wrong in zip(sure, lost, strict=True)]
