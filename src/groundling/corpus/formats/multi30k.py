"""Multi30K exactly as published (Elliott et al. 2016, 2017; Barrault et al. 2018).

Task 1: one English caption per photo and its translations. Task 2: five independent captions in English and German.
"""

from pathlib import Path

from groundling.corpus.corpus import Corpus
from groundling.corpus.formats import checks
from groundling.corpus.formats.builder import Builder
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.precomputed import features_in
from groundling.corpus.formats.text_lines import plain_or_gzipped, stripped_lines
from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError, did_you_mean

LANGUAGES = {1: ["en", "de", "fr", "cs"], 2: ["en", "de"]}
PHOTOS = {"train": 29_000, "dev": 1_014, "test": 1_000}
FILE_NAMES = {1: {"train": "train", "dev": "val", "test": "test_2016_flickr"}}
FILE_NAMES[2] = {**FILE_NAMES[1], "test": "test_2016"}


def read(data: Path, task: int = 1, text: str = "tok", languages: list[str] | None = None) -> Corpus:
    """The corpus in data/multi30k (or in `data`, where that is the multi30k folder).

    `text` is "tok" (lower-cased, normalised, tokenised: what the papers train on) or "raw".
    """
    if task not in LANGUAGES:
        raise UserError(f"Multi30K has task 1 and task 2, not {task}")
    if text not in ("tok", "raw"):
        raise UserError(f'the text of Multi30K is "tok" or "raw", not "{text}"')
    for language in languages or []:
        if language not in LANGUAGES[task]:
            nearest = did_you_mean(language, LANGUAGES[task])
            raise UserError(f'Multi30K task {task} has no language "{language}"{nearest}')
    folder = _task_folder(data, task)
    builder = Builder(f"multi30k-task{task}" + ("" if text == "tok" else "-raw"))
    for split in FILE_NAMES[task]:
        _add_split(builder, folder, task, text, split, languages or LANGUAGES[task])
    info = CorpusInfo(
        segmentation="whitespace" if text == "tok" else None, features=features_in(*_folders_near(folder.parent))
    )
    return builder.corpus(_pictures_near(folder.parent), info)


def _add_split(builder: Builder, folder: Path, task: int, text: str, split: str, languages: list[str]) -> None:
    file = FILE_NAMES[task][split]
    listed = plain_or_gzipped(folder / "image_splits" / (f"{file}.txt" if task == 1 else f"{file}_images.txt"))
    photos = [_photo(listed, number, line) for number, line in enumerate(stripped_lines(listed), start=1)]
    _check_count(listed, len(photos), PHOTOS[split])
    columns: list[tuple[str, Path, list[str]]] = []
    for language in languages:
        for which in range(1, 2 if task == 1 else 6):
            path = plain_or_gzipped(folder / text / _caption_file(file, task, text, which, language))
            lines = stripped_lines(path)
            _check_count(path, len(lines), len(photos))
            columns.append((language, path, lines))
    for place, photo in enumerate(photos):
        if photo in builder:
            raise UserError(f'{listed.name}:{place + 1}: the photo "{photo}" was listed before')
        row = builder.picture(photo, split)
        for language, path, lines in columns:
            try:
                caption = checks.caption_text(lines[place])
            except BadRow as problem:
                raise UserError(f"{path.name}:{place + 1}: {problem}") from None
            builder.caption(row, language, caption, "translation" if task == 1 and language != "en" else "human")


def _photo(listed: Path, number: int, line: str) -> str:
    """A line is the photo's name, in task 1 with the number of the caption: 1000092795.jpg#0"""
    try:
        return checks.picture_name(line.partition("#")[0].strip())
    except BadRow as problem:
        raise UserError(f"{listed.name}:{number}: {problem}") from None


def _caption_file(file: str, task: int, text: str, which: int, language: str) -> str:
    parts = [file, *(["lc.norm.tok"] if text == "tok" else []), *([str(which)] if task == 2 else []), language]
    return ".".join(parts)


def _check_count(path: Path, found: int, expected: int) -> None:
    if found != expected:
        raise UserError(f"{path}: {found:,} lines where Multi30K has {expected:,}; fetch the file again")


def _task_folder(data: Path, task: int) -> Path:
    places = (data / "multi30k" / f"task{task}", data / f"task{task}")
    for place in places:
        if place.is_dir():
            return place
    raise UserError(f"{places[0]}: no such folder; put Multi30K's task{task} there")


def _folders_near(multi30k: Path) -> tuple[Path, ...]:
    beside = multi30k.absolute().parent  # not resolve(): where a link stands, not where it points
    return multi30k, beside / "flickr30k", beside


def _pictures_near(multi30k: Path) -> Path | None:
    """The photos are Flickr30k's, which come apart from the captions: where they usually lie."""
    places = [folder / name for folder in _folders_near(multi30k) for name in ("flickr30k-images", "images")]
    return next((place.resolve() for place in places if place.is_dir()), None)
