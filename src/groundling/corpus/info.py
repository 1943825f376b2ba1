"""What is known of a corpus as a whole, beside its columns; corpus.json has it under "info"."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class FeatureFiles:
    """Features of the pictures that somebody computed: an array, and the list of the names of its rows."""

    array: str
    names: str

    @property
    def paths(self) -> tuple[Path, Path]:
        return Path(self.array), Path(self.names)


@dataclass(frozen=True)
class Translated:
    """Captions, or statements, that were translated with `source`: how many to each language."""

    source: str
    captions: dict[str, int] | None = None
    statements: dict[str, int] | None = None


@dataclass(frozen=True)
class CorpusInfo:
    """Each is None where there is nothing to say.

    Attributes:
        queries: "first" where only the first caption of a picture and language is a fair test query.
        parallel: "first" where the first captions of a picture are translations of each other.
        segmentation: how its captions are cut into words, where that is not by script (see `TextSettings`).
        split: the way that emoji are split.
        seed: of what was drawn.
        version: of the generator that made it.
        notice: the licences of what it holds.
        source: what it was built from.
        note: one sentence that a user should read.
        skipped: what was left out when it was read or built, counted.
        features: features that came with it.
        translated: what machines have translated of it.
        others: what another version of groundling, or somebody else, has written there.
    """

    queries: str | None = None
    parallel: str | None = None
    segmentation: str | None = None
    split: str | None = None
    seed: int | None = None
    version: int | None = None
    notice: str | None = None
    source: str | None = None
    note: str | None = None
    skipped: dict[str, int] | None = None
    features: FeatureFiles | None = None
    translated: Translated | None = None
    others: Mapping[str, object] = field(default_factory=dict)

    def of_statements(self) -> "CorpusInfo":
        """The same where statements stand in the place of captions."""
        return replace(self, queries=None, parallel=None)

    def to_json(self) -> dict[str, object]:
        known = {key: value for key, value in asdict(self).items() if key != "others" and value is not None}
        if self.translated is not None:
            known["translated"] = {key: value for key, value in asdict(self.translated).items() if value is not None}
        return {**known, **self.others}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> "CorpusInfo":
        names = {one.name for one in fields(CorpusInfo)} - {"others"}
        known = {key: part for key, part in value.items() if key in names}
        if "features" in known:
            known["features"] = FeatureFiles(**known["features"])
        if "translated" in known:
            known["translated"] = Translated(**known["translated"])
        return CorpusInfo(**known, others={key: part for key, part in value.items() if key not in names})
