"""A tiny COCO in three languages, in the layouts of the released files."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def file_of(number: int) -> str:
    """Even numbers are pictures of val2014, odd ones of train2014."""
    return f"COCO_{folder_of(number)}_{number:012d}"


def folder_of(number: int) -> str:
    return "train2014" if number % 2 else "val2014"


def name_of(number: int) -> str:
    return f"{folder_of(number)}/{file_of(number)}.jpg"


def write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def annotations(captions: Iterable[tuple[int, str]]) -> dict[str, Any]:
    """COCO's layout, which YJ Captions has, too."""
    listed = [{"image_id": number, "id": 100 + at, "caption": text} for at, (number, text) in enumerate(captions)]
    return {"info": {}, "images": [], "licenses": [], "annotations": listed}


def karpathys(captions: dict[int, list[str]]) -> dict[str, Any]:
    """Karpathy's file; his splits are nobody's business here."""
    images = [
        {
            "filepath": folder_of(number),
            "filename": f"{file_of(number)}.jpg",
            "cocoid": number,
            "split": "restval",
            "sentences": [{"raw": text, "tokens": []} for text in texts],
        }
        for number, texts in captions.items()
    ]
    return {"images": images, "dataset": "coco"}


def chinese(captions: dict[int, list[str]]) -> str:
    return "".join(f"{file_of(n)}#{at}\t{text}\n" for n, texts in captions.items() for at, text in enumerate(texts))


def write_three(
    data: Path, en: dict[int, list[str]], zh: dict[int, list[str]], ja: dict[int, list[str]], own: bool = False
) -> None:
    """All three; English as Karpathy's file, or as COCO's `own` two."""
    if own:
        for folder in ("train2014", "val2014"):
            listed = [(number, text) for number, texts in en.items() if folder_of(number) == folder for text in texts]
            write(data / "coco" / "annotations" / f"captions_{folder}.json", json.dumps(annotations(listed)))
    else:
        write(data / "coco" / "dataset_coco.json", json.dumps(karpathys(en)))
    write(data / "coco-cn" / "coco-cn-version1805v1.1" / "imageid.human-written-caption.txt", chinese(zh))
    listed = [(number, text) for number, texts in ja.items() for text in texts]
    write(data / "yjcaptions" / "yjcaptions26k_clean.json", json.dumps(annotations(listed), ensure_ascii=False))


def write_lists(data: Path, **lists: list[str]) -> None:
    """The lists of Kim et al.: train, val, test."""
    for name, lines in lists.items():
        write(data / "mule" / "coco" / f"{name}.txt", "".join(f"{line}\n" for line in lines))
