"""Captions of your own in COCO's layout (Chen et al. 2015): "images" with file names, "annotations" with captions.

What the layout does not say is found from what is there. The language is that of the annotation or of "info", where
they have one, or in the name of the file (captions.de.json), and English otherwise, as in COCO. Pictures lie beside the
file, in images/, or in the folder that the name of the file ends in (captions_val2017.json: val2017/), there or one
folder up. The split is the one that the file is named by.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from groundling.corpus.formats.rows import Row
from groundling.corpus.formats.text_lines import whole_json
from groundling.errors import UserError

ENGLISH = "en"
SPLITS = {"train": "train", "val": "dev", "dev": "dev", "test": "test"}
_LANGUAGE = re.compile(r"\.([a-z]{2,3}(?:-[A-Za-z]{2,4})?)\.json(?:\.gz)?$")
_PART = re.compile(r"(?:^|[_.-])((train|val|dev|test)\w*)\.", re.IGNORECASE)


class CocoTable(NamedTuple):
    """Rows as of any other table, whose lines are the numbers of annotations.

    Attributes:
        root: the folder that the names of pictures start from.
        note: what was assumed; "" where the file says all.
    """

    root: Path
    rows: Iterator[Row]
    note: str


def is_coco(path: Path) -> bool:
    return path.name.lower().endswith((".json", ".json.gz"))


def read(path: Path) -> CocoTable:
    content = whole_json(path)
    images, annotations = (
        content.get(name) if isinstance(content, dict) else None for name in ("images", "annotations")
    )
    if not isinstance(images, list) or not isinstance(annotations, list):
        raise UserError(
            f'{path}: no lists "images" and "annotations", as captions in COCO\'s layout have; '
            "other tables are .jsonl, .csv, .tsv or .parquet"
        )
    names = {
        one["id"]: str(one.get("file_name", "")) for one in images if isinstance(one, dict) and _key(one.get("id"))
    }
    info = content.get("info")
    said = str(info.get("language") or "") if isinstance(info, dict) else ""
    named = _LANGUAGE.search(path.name)
    language = said or (named.group(1) if named else "")
    part = _PART.search(path.name)
    root, below = _place(path, next(iter(names.values()), ""), part.group(1) if part else "")
    split = SPLITS[part.group(2).lower()] if part else ""
    assumed = not language and not all(isinstance(one, dict) and one.get("language") for one in annotations)
    note = (
        f"{path.name} does not say which language it is in, so it was read as English; name it captions.de.json or put "
        '"language" into its "info" if that is wrong'
        if assumed
        else ""
    )
    return CocoTable(root, _rows(annotations, names, below, language or ENGLISH, split), note)


def _rows(annotations: list[Any], names: dict[Any, str], below: str, language: str, split: str) -> Iterator[Row]:
    for number, one in enumerate(annotations, start=1):
        if not isinstance(one, dict):
            yield Row(number, {}, "not a JSON object")
        elif not _key(one.get("image_id")) or not names.get(one["image_id"]):
            yield Row(number, {}, f'no picture with the "id" {one.get("image_id")!r} and a "file_name" in "images"')
        else:
            fields = {"picture": below + names[one["image_id"]], "text": one.get("caption", ""), "split": split}
            yield Row(number, fields | {"language": str(one.get("language") or language)})


def _key(value: Any) -> bool:
    return isinstance(value, int | str)


def _place(path: Path, first: str, part: str) -> tuple[Path, str]:
    """The folder, and the way from it, in which the first picture is; the file's own where it is nowhere."""
    ways = ["", "images/", "photos/", *([f"{part}/", f"images/{part}/"] if part else [])]
    for root in (path.parent, path.parent.parent):
        for below in ways:
            if first and (root / below / first).is_file():
                return root.resolve(), below
    return path.parent.resolve(), ""
