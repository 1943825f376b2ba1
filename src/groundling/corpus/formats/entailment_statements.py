"""What the published sets of statements about Flickr30k photos have in common."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from groundling.corpus.corpus import Corpus
from groundling.corpus.entailment import LABELS
from groundling.corpus.formats import checks
from groundling.corpus.formats.builder import Builder
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.flickr8k import pictures_in
from groundling.corpus.formats.precomputed import features_in
from groundling.corpus.formats.text_lines import numbered_lines, plain_or_gzipped
from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError, did_you_mean

UNDECIDED = "-"  # SNLI's label where the annotators did not agree
Fields = Mapping[str, object]


label_name = partial(checks.one_of, LABELS, "label")


def flickr30k_name(identity: str) -> str:
    """The published files write 4465359505.jpg or just 4465359505."""
    return checks.picture_name(identity if identity.endswith(".jpg") else f"{identity}.jpg")


class StatementBuilder:
    """Collects statements; what cannot be used is counted, not dropped in silence.

    Read the test file first: a photo belongs to the first split it is met in, and statements about it elsewhere are
    left out, so that nobody trains on photos of the test set.
    """

    def __init__(self, name: str) -> None:
        self.builder = Builder(name)
        self.left_out: Counter[str] = Counter()
        self._captions: set[tuple[str, str]] = set()

    def add(self, split: str, photo: str, language: str, text: str, label: str, name: str) -> int | None:
        """The row of the photo; None where the statement was left out."""
        text = checks.caption_text(text)
        if label.strip() == UNDECIDED:
            self.left_out["statements without an agreed label"] += 1
            return None
        label = label_name(label)
        row = self.builder.picture(photo, split)
        if self.builder.split_of(photo) != split:
            self.left_out["statements about a photo that is in another split"] += 1
            return None
        self.builder.statement(row, language, text, label, name)
        return row

    def caption(self, row: int, name: str, language: str, text: str, origin: str) -> None:
        """The caption that a statement was written about, once."""
        if text.strip() and (name, language) not in self._captions:
            self._captions.add((name, language))
            self.builder.caption(row, language, checks.caption_text(text), origin)

    def corpus(self, folder: Path, data: Path, note: str | None = None) -> Corpus:
        if not len(self.builder):
            raise UserError(f"{folder}: holds no statement")
        photos = data / "flickr30k"
        root = next((photos / name for name in ("flickr30k-images", "images") if (photos / name).is_dir()), None)
        info = CorpusInfo(note=note, skipped=dict(self.left_out) or None, features=features_in(photos))
        return self.builder.corpus(root and root.resolve(), info)


def read_lines(path: Path, add: Callable[[Fields], None]) -> None:
    """Every JSON object of a file, handed on; the line is named where one is not as it should be."""
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
            if not isinstance(fields, dict):
                raise BadRow("not a JSON object")
            add(fields)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path.name}:{number}: broken JSON ({error})") from None
        except BadRow as problem:
            raise UserError(f"{path.name}:{number}: {problem}") from None


def first_folder(data: Path, names: tuple[str, ...], file: str) -> Path:
    """The first of these folders below `data` that holds the file, plain or gzipped."""
    for folder in (data / name for name in names):
        if (folder / file).is_file() or (folder / f"{file}.gz").is_file():
            return folder
    raise UserError(f"{data / names[0] / file}: no such file (nor {file}.gz)")


def in_flickr8k(corpus: Corpus, data: Path) -> Corpus:
    """Only the photos that are in Flickr8k, too, under their names there: its features and photos serve them."""
    folder = data / "flickr8k"
    names = dict(_flickr8k_names(plain_or_gzipped(folder / "images.tsv")))
    kept = corpus.keep_pictures(np.isin(corpus.pictures, list(names)))
    if not len(kept.pictures):
        raise UserError(f"{folder / 'images.tsv'}: names none of the photos of {corpus.name}")
    lost = Counter(corpus.info.skipped)
    lost["photos that are not in Flickr8k"] += len(corpus.pictures) - len(kept.pictures)
    return replace(
        kept,
        name=f"{corpus.name}-flickr8k",
        pictures=np.array([names[name] for name in kept.pictures.tolist()]),
        root=pictures_in(folder),
        info=replace(corpus.info, skipped=dict(lost), features=features_in(folder) or corpus.info.features),
    )


def _flickr8k_names(path: Path) -> Iterator[tuple[str, str]]:
    """(name in Flickr30k, name in Flickr8k), from a table with columns file and flickr30k_id."""
    columns: list[str] | None = None
    for number, line in numbered_lines(path):
        values = line.rstrip("\r\n").split("\t")
        if columns is None:
            columns = values
            for column in ("file", "flickr30k_id"):
                if column not in columns:
                    raise UserError(f'{path.name}:{number}: no column "{column}"{did_you_mean(column, columns)}')
        elif len(values) != len(columns):
            raise UserError(f"{path.name}:{number}: {len(values)} fields where the header has {len(columns)}")
        else:
            fields = dict(zip(columns, values, strict=True))
            if fields["flickr30k_id"]:
                yield flickr30k_name(fields["flickr30k_id"]), fields["file"]
