"""Every way to name a corpus: a folder that was saved, a public corpus, or a table of your own.

A format of one's own is a function that reads it, and one line:

>>> CORPORA.register("mine", Entry("two photos", "mine", lambda data: Corpus.of(rows, data / "mine")))  # doctest: +SKIP

Another package declares its `Entry` as an entry point of the group `groundling.corpora`.
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from groundling.corpus import storage
from groundling.corpus.corpus import Corpus
from groundling.corpus.formats import (
    caption_table,
    coco_captions,
    coco_three,
    entailment_statements,
    esnli_ve,
    f8k7,
    f8k7_translations,
    flickr8k,
    karpathy,
    multi30k,
    smalr,
    snli_ve,
    xvnli,
)
from groundling.corpus.formats.sources import Source, source_of
from groundling.errors import UserError, did_you_mean
from groundling.files import cache_folder
from groundling.registry import Registry

DATA_VARIABLE = "GROUNDLING_DATA"


class Entry(NamedTuple):
    """A public corpus.

    Attributes:
        about: what it is, in one line.
        below: where below the data folder its files lie; "" for one that is made on this machine.
        read: reads it, given the data folder; makes it, given a folder of the cache where it may keep what it makes.
    """

    about: str
    below: str
    read: Callable[[Path], Corpus]


def _emoji(folder: Path, split: str = "concept") -> Corpus:
    from groundling.corpus.builtin import emoji

    return emoji.build(folder, split=split)


def _scenes(folder: Path) -> Corpus:
    from groundling.corpus.builtin import scenes

    return scenes.build(folder)


CORPORA: Registry[Entry] = Registry("corpus", "groundling.corpora")
_OURS = {
    "emoji": Entry("emoji drawings and their names in many languages, made on this machine", "", _emoji),
    "scenes": Entry(
        "10,000 drawn scenes, captions and statements with labels in ten languages, made on this machine", "", _scenes
    ),
    "f8k7": Entry("7,390 Flickr8k photos, captions in en de zh pt ar fr cs", "f8k7", f8k7.read),
    "f8k7-translations": Entry(
        "the same photos, one caption in en and its translation to de fr cs (Multi30K task 1)",
        "f8k7/ and multi30k",
        f8k7_translations.read,
    ),
    "multi30k-task1": Entry(
        "31,014 Flickr30k photos, one caption in en and its translation to de fr cs",
        "multi30k",
        lambda data: multi30k.read(data, task=1),
    ),
    "multi30k-task2": Entry(
        "31,014 Flickr30k photos, five independent captions in en and in de",
        "multi30k",
        lambda data: multi30k.read(data, task=2),
    ),
    "multi30k-task1-raw": Entry(
        "the same as multi30k-task1, the captions as they were written",
        "multi30k",
        lambda data: multi30k.read(data, task=1, text="raw"),
    ),
    "multi30k-task2-raw": Entry(
        "the same as multi30k-task2, the captions as they were written",
        "multi30k",
        lambda data: multi30k.read(data, task=2, text="raw"),
    ),
    "multi30k-four": Entry(
        "31,014 Flickr30k photos, five captions in en and in de, one in fr and in cs", "multi30k", smalr.four_languages
    ),
    **{
        f"smalr-{which}": Entry(about, "smalr", partial(smalr.read, which=which))
        for which, about in (
            ("multi30k", "Multi30K with captions in ten languages, which you make (SMALR)"),
            ("multi30k-both", "the same with translated test captions beside people's"),
            ("coco", "COCO with captions in ten languages, which you make (SMALR)"),
            ("coco-both", "the same with translated test captions beside people's"),
        )
    },
    "flickr8k": Entry("8,000 photos, five captions in en", "flickr8k", flickr8k.read),
    "flickr30k-karpathy": Entry(
        "31,014 photos, five captions in en, Karpathy's splits",
        "flickr30k",
        lambda data: karpathy.read(data, "flickr30k"),
    ),
    "coco-karpathy": Entry(
        "123,287 photos, five captions in en, Karpathy's splits", "coco", lambda data: karpathy.read(data, "coco")
    ),
    "coco-captions": Entry(
        "41,384 COCO photos of 256 pixels, captions in en, of some in it vi zh tr", "coco", coco_captions.read
    ),
    "coco-en-zh": Entry(
        "the same in en, of 5,262 photos in zh, some of which are dev photos here",
        "coco",
        coco_captions.english_chinese,
    ),
    "photos": Entry(
        "f8k7 and coco-captions together: 48,774 photos, captions in ten languages",
        "f8k7/, flickr8k/ and coco",
        coco_captions.with_f8k7,
    ),
    "coco-three": Entry(
        "123,287 photos, captions in en, of 20,341 in zh (COCO-CN), of some 26,000 in ja (YJ Captions)",
        "coco/, coco-cn/ and yjcaptions",
        coco_three.read,
    ),
    "snli-ve": Entry("565,286 statements in en about 31,783 Flickr30k photos, with labels", "snli-ve", snli_ve.read),
    "snli-ve-six": Entry(
        "snli-ve with de nl ja zh ko, as `corpus translate --statements` writes it",
        "snli-ve-six",
        lambda data: storage.load(data / "snli-ve-six"),
    ),
    "snli-ve-flickr8k": Entry(
        "those of them about photos of Flickr8k, by its names",
        "snli-ve/ and flickr8k",
        lambda data: entailment_statements.in_flickr8k(snli_ve.read(data), data),
    ),
    "e-snli-ve": Entry("the same as snli-ve, labels corrected", "entailment", esnli_ve.read),
    "e-snli-ve-flickr8k": Entry(
        "those of them about photos of Flickr8k, by its names",
        "entailment/ and flickr8k",
        lambda data: entailment_statements.in_flickr8k(esnli_ve.read(data), data),
    ),
    "xvnli": Entry("statements in en ar es fr ru about Flickr30k photos, with labels", "xvnli", xvnli.read),
}
for _name, _entry in _OURS.items():
    CORPORA.register(_name, _entry)


def names() -> list[tuple[str, str, str]]:
    """(name, one-line description, what it needs below the data folder; "" for nothing)."""
    return [(name, entry.about, entry.below and f"{entry.below}/") for name, entry in CORPORA.items()]


def load(name_or_path: str, data: Path | None = None, *, split: str | None = None, strict: bool = False) -> Corpus:
    """The corpus under a public name, in a folder that was saved, or in a table of your own.

    A public name wins over a folder of that name that was not saved by groundling: write ./f8k7 for the folder.
    `data` is where the files of public corpora lie, $GROUNDLING_DATA if not given. `split` is the way to split emoji.
    `strict` makes the first bad row or picture of a table an error; else they are left out.
    """
    return load_with_report(name_or_path, data, split=split, strict=strict)[0]


def load_with_report(
    name_or_path: str, data: Path | None = None, *, split: str | None = None, strict: bool = False
) -> tuple[Corpus, list[str]]:
    """The same, and a sentence for each row and picture that was left out, which only tables have."""
    if split is not None and name_or_path != "emoji":
        raise UserError(f'"{name_or_path}" comes with its own splits; a way to split ("{split}") is for emoji only')
    path = Path(name_or_path).expanduser()
    if path.is_dir() and storage.is_saved(path):
        return storage.load(path), []
    if split is not None:
        return _emoji(cache_folder() / "emoji", split), []
    if name_or_path in CORPORA:
        entry = CORPORA[name_or_path]
        made_here = cache_folder() / name_or_path
        return entry.read(_data_folder(name_or_path, entry, data) if entry.below else made_here), []
    source = source_of([name_or_path])
    if source is not None and not source.is_table:
        raise UserError(
            f"{name_or_path}: shards are made into a corpus first: "
            f"groundling corpus build '{name_or_path}' --out FOLDER"
        )
    if path.exists():
        corpus, report = caption_table.read(path, strict=strict)
        return corpus, report.sentences()
    raise UserError(f'no corpus, file or folder named "{name_or_path}"{did_you_mean(name_or_path, CORPORA)}')


def streamed(names: list[str]) -> Source | None:
    """What these names stand for where it is built as a stream, from shards or from a large table; else None."""
    if len(names) == 1 and (names[0] in CORPORA or storage.is_saved(Path(names[0]).expanduser())):
        return None
    return source_of(names)


def _data_folder(name: str, entry: Entry, data: Path | None) -> Path:
    if data is None:
        named = os.environ.get(DATA_VARIABLE)
        if not named:
            raise UserError(
                f'the corpus "{name}" needs its files: give --data, or set {DATA_VARIABLE}, '
                f"to the folder that holds {entry.below}/"
            )
        data = Path(named)
    data = data.expanduser()
    if not data.is_dir():
        raise UserError(f"{data}: no such folder; --data or {DATA_VARIABLE} names the one that holds {entry.below}/")
    return data
