"""Whether a test set can be trusted: captions and pictures of dev and test that are also in train."""

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import regex

from groundling.corpus import near_duplicates
from groundling.corpus.caption_keys import CaptionKeys, normalised, owners_by_key
from groundling.corpus.columns import Mask
from groundling.corpus.corpus import Corpus, Integers
from groundling.corpus.near_captions import NEAR, near_captions
from groundling.corpus.near_duplicates import HELD_OUT, SAME, FeatureLeaks
from groundling.corpus.nearest_features import Features
from groundling.progress import bar

SHORT = 5  # words; where a script has no spaces, characters
_EXAMPLES = 5
_NO_SPACES = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}"
_WORD = regex.compile(rf"[{_NO_SPACES}]|[^\s{_NO_SPACES}]+")


@dataclass(frozen=True)
class CaptionLeaks:
    """Captions of one split that train has, too.

    Attributes:
        count, of: how many of how many.
        generic: how many of these are short, or said of several training pictures: less of a worry.
        examples: a few, the most worrying first.
    """

    count: int
    of: int
    generic: int
    examples: list[str]


@dataclass(frozen=True)
class PairLeaks:
    """Captions or pictures of one split that train has, too, or nearly; a few with their counterparts in train."""

    count: int
    examples: list[list[str]]


@dataclass(frozen=True)
class FileLeaks:
    """Pictures by the bytes of their files.

    Attributes:
        splits: what was found in dev and in test.
        missing_files: how many pictures have no file.
    """

    splits: dict[str, PairLeaks]
    missing_files: int

    def to_json(self) -> dict[str, object]:
        return {**{split: asdict(found) for split, found in self.splits.items()}, "missing_files": self.missing_files}


@dataclass(frozen=True)
class Leaks:
    """What of dev and test is also in train.

    Attributes:
        captions: language → split → those that are there word for word.
        near: language → split → those that are not, but nearly (see `near_captions`).
        near_threshold: the likeness from which a caption is nearly another.
        pictures_by_content: None where the corpus has no files.
        pictures_by_feature: None where no features were given.
    """

    captions: dict[str, dict[str, CaptionLeaks]]
    near: dict[str, dict[str, PairLeaks]]
    near_threshold: float
    pictures_by_content: FileLeaks | None
    pictures_by_feature: FeatureLeaks | None

    def any(self) -> bool:
        """Whether anything was found."""
        pictures = [found.splits for found in (self.pictures_by_content, self.pictures_by_feature) if found is not None]
        kinds = (*self.captions.values(), *self.near.values(), *pictures)
        return any(found.count for splits in kinds for found in splits.values())

    def to_json(self) -> dict[str, object]:
        captions, near = (
            {code: {split: asdict(one) for split, one in splits.items()} for code, splits in found.items()}
            for found in (self.captions, self.near)
        )
        by_content, by_feature = self.pictures_by_content, self.pictures_by_feature
        return {
            "captions": captions,
            "captions_nearly": {"threshold": self.near_threshold, "languages": near},
            "pictures_by_content": by_content and by_content.to_json(),
            "pictures_by_feature": by_feature and by_feature.to_json(),
        }


def leaks(
    corpus: Corpus,
    features: Features | None = None,
    rows: Integers | None = None,
    threshold: float = SAME,
    keys: CaptionKeys | None = None,
) -> Leaks:
    """What of dev and test (of captions, those that are queries) is also in train.

    Picture i has the features in row i, or in `rows[i]`, which is −1 where it has none. `keys` are those of the corpus,
    where they are known already.
    """
    if features is not None and rows is None and len(features) != len(corpus.pictures):
        raise ValueError(f"{len(features)} rows of features for {len(corpus.pictures)} pictures")
    by_feature = None
    if features is not None:
        rows = np.arange(len(features)) if rows is None else rows
        by_feature = near_duplicates.find(corpus.pictures, corpus.splits, features, rows, threshold)
    keys = CaptionKeys.of(corpus) if keys is None else keys
    asked = corpus.is_query()
    captions, there = _caption_leaks(corpus, keys, asked)
    near = _near_leaks(corpus, keys, asked & ~there)
    by_content = None if corpus.root is None else _content_leaks(corpus, corpus.root)
    return Leaks(captions, near, NEAR, by_content, by_feature)


def _caption_leaks(corpus: Corpus, keys: CaptionKeys, asked: Mask) -> tuple[dict[str, dict[str, CaptionLeaks]], Mask]:
    """What was found, and for each caption whether it is one of those found."""
    in_train = (corpus.splits == "train")[corpus.owners] & (keys.hashes != 0)  # punctuation alone says nothing
    found: dict[str, dict[str, CaptionLeaks]] = {}
    all_leaked = np.zeros(len(corpus), dtype=bool)
    for language in corpus.all_languages():
        here = corpus.languages == language
        known, pictures, _ = owners_by_key(keys.hashes[here & in_train], corpus.owners[here & in_train])
        found[language] = {}
        for split in HELD_OUT:
            rows = np.flatnonzero(here & (corpus.splits == split)[corpus.owners] & asked)
            place = np.searchsorted(known, keys.hashes[rows])
            there = np.flatnonzero(place < len(known))
            there = there[known[place[there]] == keys.hashes[rows[there]]]
            leaked, several = rows[there], pictures[place[there]] > 1
            words = np.array([len(_WORD.findall(normalised(corpus.texts[row]))) for row in leaked], dtype=np.int64)
            generic = (words <= SHORT) | several
            worst = leaked[np.lexsort((-words, generic))]
            all_leaked[leaked] = True
            examples = [corpus.texts[row] for row in worst[:_EXAMPLES]]
            found[language][split] = CaptionLeaks(len(leaked), len(rows), int(generic.sum()), examples)
    return found, all_leaked


def _near_leaks(corpus: Corpus, keys: CaptionKeys, asked: Mask) -> dict[str, dict[str, PairLeaks]]:
    """Language → split → how many captions are nearly in train, and the nearest of them with their counterparts."""
    pairs: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for pair in sorted(near_captions(corpus, keys, asked), key=lambda pair: -pair.similarity):
        place = str(corpus.languages[pair.row]), str(corpus.splits[corpus.owners[pair.row]])
        pairs.setdefault(place, []).append((pair.row, pair.train))

    def told(some: list[tuple[int, int]]) -> PairLeaks:
        return PairLeaks(len(some), [[corpus.texts[row] for row in pair] for pair in some[:_EXAMPLES]])

    return {code: {split: told(pairs.get((code, split), [])) for split in HELD_OUT} for code in corpus.all_languages()}


def _content_leaks(corpus: Corpus, root: Path) -> FileLeaks:
    """Only files of a size that train and held-out pictures share are read; most need not be."""
    sizes = np.full(len(corpus.pictures), -1, dtype=np.int64)
    in_train = corpus.splits == "train"
    with bar("Comparing picture files", len(sizes)) as progress:
        for row in range(len(sizes)):
            path = root / str(corpus.pictures[row])
            if path.is_file():
                sizes[row] = path.stat().st_size
            progress.advance()
    shared = np.intersect1d(sizes[in_train & (sizes >= 0)], sizes[~in_train & (sizes >= 0)])
    alike = np.flatnonzero(np.isin(sizes, shared))
    digests = np.zeros(len(alike), dtype="S32")  # 32 bytes a picture, where a dictionary would have hundreds
    with bar("Comparing picture files of equal size", len(alike)) as progress:
        for at, row in enumerate(alike.tolist()):
            digests[at] = _digest(root / str(corpus.pictures[row]))
            progress.advance()
    train = alike[in_train[alike]]
    contents, first = np.unique(digests[in_train[alike]], return_index=True)
    found = {}
    for split in HELD_OUT:
        here = np.flatnonzero(corpus.splits[alike] == split)
        place = np.searchsorted(contents, digests[here])
        leaked = np.flatnonzero(np.append(contents, b"")[place] == digests[here])
        pairs = [(alike[here[at]], train[first[place[at]]]) for at in leaked[:_EXAMPLES]]
        found[split] = PairLeaks(len(leaked), [[str(corpus.pictures[row]) for row in pair] for pair in pairs])
    return FileLeaks(found, int((sizes < 0).sum()))


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
