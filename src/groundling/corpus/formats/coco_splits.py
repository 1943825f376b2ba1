"""Which pictures of COCO train and which test, for captions in three languages (Kim et al. 2020).

Kim et al. drew 1,000 pictures for testing and 1,000 for validation among those described in all three languages, and
trained on the rest. Their lists come with their data; without them the same rule is followed here with another draw.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.coco_pictures import CocoPicture, CocoPictures
from groundling.corpus.formats.text_lines import first_file, numbered_lines
from groundling.errors import UserError

HELD_OUT = 1_000  # pictures in each of dev and test
LISTS = {"train": "train.txt", "dev": "val.txt", "test": "test.txt"}


def listed(folder: Path, pictures: CocoPictures) -> dict[int, str] | None:
    """The split of each picture in the lists of a folder; None where it has none of them.

    Without train.txt all pictures that are in neither val.txt nor test.txt train.
    """
    paths = {split: first_file([folder], name) for split, name in LISTS.items()}
    if not any(paths.values()):
        return None
    splits: dict[int, str] = {}
    for split, path in paths.items():
        if path is not None:
            _add(splits, split, path, pictures)
        elif split != "train":
            raise UserError(f"{folder / LISTS[split]}: no such file; it belongs to the other lists in that folder")
    if paths["train"] is None:
        splits = {number: splits.get(number, "train") for number in pictures.by_number}
    return splits


def _add(splits: dict[int, str], split: str, path: Path, pictures: CocoPictures) -> None:
    empty = True
    for line, text in numbered_lines(path):
        name = text.strip()
        if not name:
            continue
        try:
            picture = pictures.find(name)
        except BadRow as problem:
            raise UserError(f"{path.name}:{line}: {problem}") from None
        if picture.number in splits:
            other = LISTS[splits[picture.number]]
            raise UserError(f'{path.name}:{line}: "{picture.file}" was listed before, in {other}; list it once')
        splits[picture.number] = split
        empty = False
    if empty:
        raise UserError(f"{path}: lists no picture")


def drawn(pictures: CocoPictures, languages: Sequence[str]) -> dict[int, str]:
    """Test and dev pictures drawn among those with captions in all `languages`; all others train.

    The order of the draw is that of a hash of the file names: the same pictures on every machine, whatever the order
    of the files, and no picture's chance depends on what it shows.
    """
    able = [picture for picture in pictures.by_number.values() if all(picture.captions.get(code) for code in languages)]
    if len(able) < 2 * HELD_OUT:
        raise UserError(
            f"COCO: {len(able):,} pictures have captions in {', '.join(languages)}, too few to hold out "
            f"{2 * HELD_OUT:,} of them; fetch the captions again, or put the lists of Kim et al. in mule/coco/"
        )
    order = sorted(able, key=_draw)
    splits = dict.fromkeys(pictures.by_number, "train")
    splits |= {picture.number: "test" for picture in order[:HELD_OUT]}
    splits |= {picture.number: "dev" for picture in order[HELD_OUT : 2 * HELD_OUT]}
    return splits


def _draw(picture: CocoPicture) -> bytes:
    return hashlib.sha256(picture.file.encode()).digest()
