"""Published files with something wrong: one sentence that names the file, from every reader, before anything starts.

Each layout is written small and whole, then each of its files is damaged in every way that downloads, editors and disks
know. What is only written differently (line ends of Windows, a byte order mark, gzip) must read the same.
"""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from groundling.corpus import Corpus
from groundling.corpus.formats import coco_three, f8k7, flickr8k, karpathy, multi30k
from groundling.errors import UserError

SIZES = {"train": 3, "dev": 2, "test": 2}
PHOTOS = [f"{split}{i}.jpg" for split, size in SIZES.items() for i in range(size)]
Reader = Callable[[Path], Corpus]


@pytest.fixture(autouse=True)
def few_photos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multi30k, "PHOTOS", SIZES)


def multi30k_files(task: int, text: str) -> dict[str, list[str]]:
    """File → its lines, as published."""
    files = {}
    for split, name in multi30k.FILE_NAMES[task].items():
        photos = [photo for photo in PHOTOS if photo.startswith(split)]
        listed = f"{name}.txt" if task == 1 else f"{name}_images.txt"
        files[f"multi30k/task{task}/image_splits/{listed}"] = photos
        for language in multi30k.LANGUAGES[task]:
            for which in [""] if task == 1 else [f".{number}" for number in range(1, 6)]:
                kind = ".lc.norm.tok" if text == "tok" else ""
                file = f"multi30k/task{task}/{text}/{name}{kind}{which}.{language}"
                files[file] = [f"caption {which} {language} {photo}" for photo in photos]
    return files


def flickr8k_files() -> dict[str, list[str]]:
    lists = {
        f"flickr8k/Flickr_8k.{split}Images.txt": [photo for photo in PHOTOS if photo.startswith(split)]
        for split in SIZES
    }
    captions = [f"{photo}#{number}\tCaption {number} of {photo} ." for photo in PHOTOS for number in range(2)]
    return {"flickr8k/Flickr8k.token.txt": captions, **lists}


def f8k7_files() -> dict[str, list[str]]:
    photos = [
        {"image": photo, "split": photo[:-5], "captions": {"en": [f"A {photo}"], "zh": [f"狗 {photo}"]}}
        for photo in PHOTOS
    ]
    return {"f8k7/captions.jsonl": [json.dumps(photo, ensure_ascii=False) for photo in photos]}


def karpathy_files() -> dict[str, list[str]]:
    images = [
        {"filepath": "val2014", "filename": photo, "split": photo[:-5], "sentences": [{"raw": f"Café {photo}"}]}
        for photo in PHOTOS
    ]
    content = json.dumps({"images": images, "dataset": "coco"}, ensure_ascii=False, indent=1)
    return {"coco/dataset_coco.json": content.split("\n")}


def coco_three_files() -> dict[str, list[str]]:
    """What people wrote in three languages, as three groups released it, and the lists of a fourth."""
    names = [f"COCO_val2014_{number:012d}" for number in range(len(PHOTOS))]
    images = [
        {"filepath": "val2014", "filename": f"{name}.jpg", "split": "test", "sentences": [{"raw": f"Café {name}"}]}
        for name in names
    ]
    japanese = [{"image_id": number, "id": number, "caption": f"犬 {number}"} for number in range(len(PHOTOS))]
    files = {
        "coco/dataset_coco.json": {"images": images},
        "yjcaptions/yjcaptions26k_clean.json": {"annotations": japanese},
    }
    return {
        **{file: json.dumps(content, ensure_ascii=False, indent=1).split("\n") for file, content in files.items()},
        "coco-cn/imageid.human-written-caption.txt": [f"{name}#0\t狗 {name}" for name in names],
        "mule/coco/val.txt": [name for name, photo in zip(names, PHOTOS, strict=True) if photo.startswith("dev")],
        "mule/coco/test.txt": [name for name, photo in zip(names, PHOTOS, strict=True) if photo.startswith("test")],
    }


LAYOUTS: dict[str, tuple[dict[str, list[str]], Reader]] = {
    "task1-tok": (multi30k_files(1, "tok"), lambda data: multi30k.read(data, task=1)),
    "task1-raw": (multi30k_files(1, "raw"), lambda data: multi30k.read(data, task=1, text="raw")),
    "task2-tok": (multi30k_files(2, "tok"), lambda data: multi30k.read(data, task=2)),
    "task2-raw": (multi30k_files(2, "raw"), lambda data: multi30k.read(data, task=2, text="raw")),
    "flickr8k": (flickr8k_files(), flickr8k.read),
    "f8k7": (f8k7_files(), f8k7.read),
    "coco": (karpathy_files(), lambda data: karpathy.read(data, "coco")),
    "coco-three": (coco_three_files(), coco_three.read),
}
EVERY_FILE = [(layout, file) for layout, (files, _) in LAYOUTS.items() for file in files]
ONE_OF_A_KIND = [  # task 2 has ten caption files for each split, all read alike
    (layout, file)
    for layout, file in EVERY_FILE
    if not layout.startswith("task2") or "image_splits" in file or file.endswith(".5.de")
]
MULTI30K = [(layout, file) for layout, file in ONE_OF_A_KIND if layout.startswith("task")]


def written(data: Path, layout: str) -> Reader:
    files, read = LAYOUTS[layout]
    for file, lines in files.items():
        (data / file).parent.mkdir(parents=True, exist_ok=True)
        (data / file).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return read


def assert_named(read: Reader, data: Path, name: str, *words: str) -> None:
    with pytest.raises(UserError) as raised:
        read(data)
    sentence = str(raised.value)
    assert name in sentence
    assert "\n" not in sentence
    assert len(sentence) < 400
    for word in words:
        assert word in sentence


@pytest.mark.parametrize("layout", LAYOUTS)
def test_whole_files_are_read(tmp_path: Path, layout: str) -> None:
    corpus = written(tmp_path, layout)(tmp_path)
    if layout == "coco-three":
        assert len(corpus) == 3 * len(PHOTOS)
    else:
        assert sorted(corpus.pictures.tolist()) == sorted(f"val2014/{x}" if layout == "coco" else x for x in PHOTOS)
    assert {split: row["pictures"] for split, row in corpus.counts().items()} == SIZES


@pytest.mark.parametrize(("layout", "file"), EVERY_FILE)
def test_a_missing_file(tmp_path: Path, layout: str, file: str) -> None:
    read = written(tmp_path, layout)
    (tmp_path / file).unlink()
    assert_named(read, tmp_path, Path(file).name, "no such file")


@pytest.mark.parametrize(("layout", "file"), ONE_OF_A_KIND)
def test_a_folder_in_the_place_of_a_file(tmp_path: Path, layout: str, file: str) -> None:
    read = written(tmp_path, layout)
    (tmp_path / file).unlink()
    (tmp_path / file).mkdir()
    assert_named(read, tmp_path, Path(file).name)


@pytest.mark.parametrize(("layout", "file"), ONE_OF_A_KIND)
def test_an_empty_file(tmp_path: Path, layout: str, file: str) -> None:
    read = written(tmp_path, layout)
    (tmp_path / file).write_bytes(b"")
    assert_named(read, tmp_path, Path(file).name)


@pytest.mark.parametrize(("layout", "file"), MULTI30K)
@pytest.mark.parametrize("change", ["few", "many", "blank at the end"])
def test_a_wrong_number_of_lines(tmp_path: Path, layout: str, file: str, change: str) -> None:
    read = written(tmp_path, layout)
    lines = LAYOUTS[layout][0][file]
    changed = {"few": lines[:-1], "many": [*lines, "one more.jpg"], "blank at the end": [*lines, ""]}[change]
    (tmp_path / file).write_text("".join(line + "\n" for line in changed), encoding="utf-8")
    if change == "blank at the end" and "image_splits" in file:
        assert_named(read, tmp_path, f"{Path(file).name}:{len(changed)}", "empty")
    else:
        assert_named(read, tmp_path, Path(file).name, f"{len(changed)} lines where Multi30K has {len(lines)}")


@pytest.mark.parametrize(("layout", "file"), ONE_OF_A_KIND)
def test_text_that_is_not_utf_8(tmp_path: Path, layout: str, file: str) -> None:
    read = written(tmp_path, layout)
    lines = [line.encode() for line in LAYOUTS[layout][0][file]]
    lines[1] = b"caf\xe9 " + lines[1]
    (tmp_path / file).write_bytes(b"\n".join(lines) + b"\n")
    assert_named(read, tmp_path, f"{Path(file).name}:2" if layout != "coco" else Path(file).name, "UTF-8")


@pytest.mark.parametrize(("layout", "file"), ONE_OF_A_KIND)
def test_windows_line_ends_a_byte_order_mark_and_no_last_line_end(tmp_path: Path, layout: str, file: str) -> None:
    read = written(tmp_path, layout)
    expected = read(tmp_path)
    text = "\r\n".join(LAYOUTS[layout][0][file])
    (tmp_path / file).write_bytes(b"\xef\xbb\xbf" + text.encode())
    found = read(tmp_path)
    assert found.pictures.tolist() == expected.pictures.tolist()
    assert found.texts == expected.texts
    assert found.splits.tolist() == expected.splits.tolist()


@pytest.mark.parametrize(("layout", "file"), ONE_OF_A_KIND)
def test_gzip_reads_the_same_and_cut_short_is_named(tmp_path: Path, layout: str, file: str) -> None:
    read = written(tmp_path, layout)
    expected = read(tmp_path)
    path = tmp_path / file
    packed = gzip.compress(path.read_bytes())
    path.unlink()
    beside = path.with_name(path.name + ".gz")
    beside.write_bytes(packed)
    assert read(tmp_path).texts == expected.texts
    for content in (packed[:-9], packed[: len(packed) // 2], packed[:5], b"not gzip at all", b""):
        beside.write_bytes(content)
        assert_named(read, tmp_path, beside.name)
    middle = len(packed) // 2
    beside.write_bytes(packed[:middle] + bytes([packed[middle] ^ 255]) + packed[middle + 1 :])
    assert_named(read, tmp_path, beside.name)


LISTS = {
    "task1-tok": "multi30k/task1/image_splits/{}.txt",
    "task2-raw": "multi30k/task2/image_splits/{}_images.txt",
    "flickr8k": "flickr8k/Flickr_8k.{}Images.txt",
}


@pytest.mark.parametrize("layout", LISTS)
@pytest.mark.parametrize("twin", ["train0.jpg", "dev0.jpg"])
def test_a_photo_listed_twice(tmp_path: Path, layout: str, twin: str) -> None:
    """Within one list, and in the lists of two splits, which would be a leak."""
    read = written(tmp_path, layout)
    name = LISTS[layout].format("dev" if layout == "flickr8k" else "val")
    (tmp_path / name).write_text(f"dev0.jpg\n{twin}\n")
    assert_named(read, tmp_path, f"{Path(name).name}:2", f'"{twin}" was listed before')


@pytest.mark.parametrize("layout", LISTS)
@pytest.mark.parametrize("line", ["", "   ", "../up.jpg", "/root.jpg"])
def test_a_list_with_a_line_that_is_no_photo(tmp_path: Path, layout: str, line: str) -> None:
    read = written(tmp_path, layout)
    name = LISTS[layout].format("train")
    (tmp_path / name).write_text(f"train0.jpg\n{line}\ntrain2.jpg\n")
    if layout == "flickr8k" and not line.strip():
        assert read(tmp_path).counts()["train"]["pictures"] == 2  # the published lists end in blank lines
    else:
        assert_named(read, tmp_path, f"{Path(name).name}:2")


@pytest.mark.parametrize(("layout", "file"), [("f8k7", "f8k7/captions.jsonl"), ("coco", "coco/dataset_coco.json")])
def test_json_cut_short(tmp_path: Path, layout: str, file: str) -> None:
    read = written(tmp_path, layout)
    whole = (tmp_path / file).read_bytes()
    for length in (len(whole) - 5, len(whole) // 2, 10):
        (tmp_path / file).write_bytes(whole[:length])
        assert_named(read, tmp_path, Path(file).name)


@pytest.mark.parametrize(("layout", "file"), [("f8k7", "f8k7/captions.jsonl"), ("coco", "coco/dataset_coco.json")])
def test_json_nested_without_end(tmp_path: Path, layout: str, file: str) -> None:
    read = written(tmp_path, layout)
    (tmp_path / file).write_text("[" * 100_000)
    assert_named(read, tmp_path, Path(file).name)


@pytest.mark.parametrize("layout", ["f8k7", "coco"])
def test_a_photo_without_captions_is_named(tmp_path: Path, layout: str) -> None:
    """A gallery picture that nobody asks for can be meant, but in these data sets it is a damaged file."""
    read = written(tmp_path, layout)
    file = next(iter(LAYOUTS[layout][0]))
    text = (tmp_path / file).read_text(encoding="utf-8")
    if layout == "f8k7":
        first, rest = text.split("\n", 1)
        text = json.dumps({**json.loads(first), "captions": {}}) + "\n" + rest
    else:
        content = json.loads(text)
        content["images"][0]["sentences"] = []
        text = json.dumps(content)
    (tmp_path / file).write_text(text, encoding="utf-8")
    assert_named(read, tmp_path, Path(file).name, "train0.jpg", "no caption")
