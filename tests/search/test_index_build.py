"""Building, going on after a kill, and updating: nothing is encoded twice, nothing is lost, nothing is left behind."""

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "decoding"))

import bombs
import colours
import numpy as np
import pytest
import torch
from colours import Toy, paint, paint_many
from PIL import Image

import groundling
from groundling.decoding import cores
from groundling.decoding.workers import DecodeLimits, Workers
from groundling.errors import UserError
from groundling.files import only_writer
from groundling.search import Index, build, index_captions, index_pictures, indexing, manifest
from groundling.search import store as stores
from power_cut import kill_9

pytest.importorskip("faiss")

toy = colours.toy  # a model that knows colours


def names(out: Path) -> list[str]:
    return Index.open(out).entries.table["name"].to_pylist()


def long_ago(folder: Path) -> None:
    """Files written this very moment are looked into again at the next update; these are old."""
    for number, path in enumerate(sorted(folder.rglob("*"))):
        os.utime(path, (1_500_000_000 + number, 1_500_000_000 + number))


def test_a_folder_is_searched_by_words_and_by_picture(toy: Toy, tmp_path: Path) -> None:
    for name, colour in {"r.png": (250, 5, 5), "g/g.jpg": (5, 250, 5), "b.webp": (5, 5, 250)}.items():
        paint(tmp_path / "photos" / name, colour)
    built = index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    assert (built.count, built.added, built.encoded, built.skipped) == (3, 3, 3, {})
    index = Index.open(tmp_path / "index")
    assert [index.search(word, k=1)[0].path for word in ("red", "grün", "blue")] == ["r.png", "g/g.jpg", "b.webp"]
    like = index.like(tmp_path / "photos" / "b.webp", k=2)
    assert like[0].path == "b.webp"
    assert like[0].score == pytest.approx(1, abs=1e-5)
    assert index.read("g/g.jpg") == (tmp_path / "photos" / "g" / "g.jpg").read_bytes()
    assert len(index.search("red", k=100)) == 3
    assert not (tmp_path / "index" / "journal.bin").exists()


CHILD = """
import sys
from pathlib import Path
import torch
torch.set_num_threads(2)
from colours import Toy
from groundling.search import index_request, indexing
photos, out, log = map(Path, sys.argv[1:4])
index_request.load = lambda *_, **__: Toy(log, pause=0.02)
indexing.index_pictures(photos, out, "toy", update="--update" in sys.argv)
"""


def start(*arguments: object) -> "subprocess.Popen[bytes]":
    source = Path(groundling.__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{Path(__file__).parent}"}
    return subprocess.Popen([sys.executable, "-c", CHILD, *map(str, arguments)], env=environment)


def kill_after(process: "subprocess.Popen[bytes]", log: Path, lines: int) -> None:
    kill_9(process, lambda: log.exists() and log.read_bytes().count(b"\n") >= lines)


def test_a_killed_build_loses_at_most_the_picture_in_hand_of_each_core(toy: Toy, tmp_path: Path) -> None:
    photos, out, count = tmp_path / "photos", tmp_path / "index", 60
    paint_many(photos, count)
    assert toy.log is not None
    for lines in (15, 35):  # killed twice
        kill_after(start(photos, out, toy.log), toy.log, lines)
    assert not (out / "manifest.json").exists()
    with pytest.raises(UserError, match="not finished; give the command that built it once more"):
        Index.open(out)
    built = index_pictures(photos, out, "toy")
    assert built.count == count
    assert count <= toy.encoded <= count + 2 * 2  # two kills, two threads
    assert built.encoded <= count - 35 + 2 * 2
    fresh = index_pictures(photos, tmp_path / "fresh", "toy")
    assert fresh.encoded == count
    rows = np.arange(count)
    np.testing.assert_array_equal(
        Index.open(out).store.vectors(rows), Index.open(tmp_path / "fresh").store.vectors(rows)
    )
    assert names(out) == names(tmp_path / "fresh")


def test_a_killed_update_leaves_the_old_index_whole(toy: Toy, tmp_path: Path) -> None:
    photos, out = tmp_path / "photos", tmp_path / "index"
    paint_many(photos, 5)
    index_pictures(photos, out, "toy")
    before, encoded = names(out), toy.encoded
    assert toy.log is not None
    paint_many(photos / "new", 40, seed=1)
    kill_after(start(photos, out, toy.log, "--update"), toy.log, encoded + 5)
    assert names(out) == before
    built = index_pictures(photos, out, update=True)
    assert (built.count, built.added, built.kept) == (45, 40, 5)
    assert toy.encoded <= 45 + 2


def test_an_update_adds_changes_removes_and_encodes_only_what_is_new(toy: Toy, tmp_path: Path) -> None:
    photos, out = tmp_path / "photos", tmp_path / "index"
    paint_many(photos, 9)
    long_ago(photos)
    index_pictures(photos, out, "toy")
    again = index_pictures(photos, out, "toy", update=True)
    assert (again.kept, again.encoded, again.added, again.changed, again.removed) == (9, 0, 0, 0, 0)
    files = {path.name for path in out.iterdir()}

    paint(photos / "added.png", (1, 2, 250))
    paint(photos / "000.png", (3, 200, 3))  # changed
    (photos / "a" / "001.png").unlink()  # removed
    os.utime(photos / "003.png")  # touched
    (photos / "006.png").rename(photos / "moved.png")
    (photos / "a" / "copy.png").write_bytes((photos / "a" / "004.png").read_bytes())
    encoded = toy.encoded
    built = index_pictures(photos, out, update=True)
    assert (
        toy.encoded - encoded == built.encoded == 2
    )  # what is added and what is changed; the rest is known by content
    assert (built.count, built.added, built.changed, built.removed, built.kept) == (10, 3, 1, 2, 6)
    assert names(out) == sorted(p.relative_to(photos).as_posix() for p in photos.rglob("*.png"))
    index = Index.open(out)
    assert index.search("green", k=1)[0].path == "000.png"
    for name in names(out):
        assert index.like(photos / name, k=10)[0].score == pytest.approx(1, abs=1e-5)
        assert name in [one.path for one in index.like(photos / name, k=2)]
    assert len({path.name for path in out.iterdir()}) == len(files)  # no old files beside the new ones


def test_a_file_rewritten_within_its_time_stamp_is_noticed(toy: Toy, tmp_path: Path) -> None:
    photos, out = tmp_path / "photos", tmp_path / "index"
    paint(photos / "a.png", (250, 0, 0), compress_level=0)
    index_pictures(photos, out, "toy")
    status = (photos / "a.png").stat()
    paint(photos / "a.png", (0, 250, 0), compress_level=0)
    assert (photos / "a.png").stat().st_size == status.st_size
    os.utime(photos / "a.png", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert index_pictures(photos, out, update=True).changed == 1


def test_broken_files_are_listed_and_skipped_and_taken_in_once_mended(toy: Toy, tmp_path: Path) -> None:
    photos, out = tmp_path / "photos", tmp_path / "index"
    paint(photos / "good.png", (250, 0, 0))
    paint(photos / "cut.jpg", (0, 250, 0), quality=95)
    whole = (photos / "cut.jpg").read_bytes()
    (photos / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    (photos / "empty.png").touch()
    (photos / "text.gif").write_text("hello")
    (photos / "script.jpg").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n")  # would start a program
    built = index_pictures(photos, out, "toy")
    assert built.count == 1
    assert sorted(built.skipped) == ["cut.jpg", "empty.png", "script.jpg", "text.gif"]
    assert built.skipped["script.jpg"] == built.skipped["text.gif"] == "not a picture of a known format"
    assert Index.open(out).manifest.skipped == built.skipped
    (photos / "cut.jpg").write_bytes(whole)
    built = index_pictures(photos, out, update=True)
    assert (built.count, built.added, len(built.skipped)) == (2, 1, 3)
    (photos / "cut.jpg").write_bytes(whole[:100])
    built = index_pictures(photos, out, update=True)
    assert (built.count, built.removed, len(built.skipped)) == (1, 1, 4)


def test_a_decompression_bomb_is_refused(toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    paint(tmp_path / "photos" / "a.png", (1, 2, 3))
    Image.new("RGB", (40, 40)).save(tmp_path / "photos" / "bomb.png")
    workers = Workers(DecodeLimits(pixels=100))
    monkeypatch.setattr(indexing, "shared", lambda formats: workers)
    built = index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    assert built.count == 1
    assert "40 × 40 pixels" in built.skipped["bomb.png"]
    workers.close()


def test_old_and_printed_formats_and_photos_of_108_megapixels_are_taken_in_without_a_word(
    toy: Toy, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, colour in (("a.bmp", (250, 5, 5)), ("b.tiff", (5, 250, 5)), ("c.TIF", (5, 5, 250))):
        paint(tmp_path / "photos" / name, colour, format="BMP" if name == "a.bmp" else "TIFF")
    Image.new("L", (12_000, 9_000), 200).save(tmp_path / "photos" / "large.jpg", quality=20)
    (tmp_path / "photos" / "film.mov").write_bytes(b"no picture")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        built = index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    assert (built.count, built.skipped, built.others) == (4, {}, {".mov": 1})
    found = Index.open(tmp_path / "index").search("blue", k=1)
    assert [one.path for one in found] == ["c.TIF"]
    assert "Warning" not in capfd.readouterr().err


def test_pictures_that_were_made_to_harm_are_skipped_within_seconds(toy: Toy, tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    good = paint_many(photos, 6)
    for name, data in {
        "segments.jpg": bombs.exif_segments(),
        "scans.jpg": bombs.scans(5000),
        "chunks.png": bombs.empty_chunks(),
        "line.png": bombs.png(1, 49_000_000, rows=1000),
        "blocks.gif": bombs.gif_blocks(),
    }.items():
        (photos / name).write_bytes(data)
    started = time.monotonic()
    built = index_pictures(photos, tmp_path / "index", "toy")
    assert time.monotonic() - started < 30
    assert built.count == len(good)
    assert set(built.skipped) == {"segments.jpg", "scans.jpg", "chunks.png", "line.png", "blocks.gif"}
    assert all("\n" not in why and why for why in built.skipped.values())


def test_mistakes_leave_an_index_as_it_is(toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    photos, out, other = tmp_path / "photos", tmp_path / "index", tmp_path / "other"
    paint_many(photos, 3)
    paint_many(other, 3)
    (tmp_path / "empty").mkdir()
    index_pictures(photos, out, "toy")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    for words, call in {
        "an index is there": lambda: index_pictures(photos, out, "toy"),
        "not of": lambda: index_pictures(other, out, "toy", update=True),
        "no pictures in it": lambda: index_pictures(tmp_path / "empty", tmp_path / "x", "toy"),
        "other things in it": lambda: index_pictures(photos, other, "toy"),
        r'^--kind: no kind of search is called "fast" \(there is: auto, exact, hnsw, ivf\)$': lambda: index_pictures(
            photos, tmp_path / "x", "toy", kind="fast"
        ),
        "neither faiss nor faiss-disk nor milvus": lambda: index_pictures(
            photos, tmp_path / "x", "toy", store="lucene"
        ),
        "which model": lambda: index_pictures(photos, tmp_path / "x"),
        "which folder": lambda: index_pictures(None, tmp_path / "x", "toy"),
        "x: no index is there to bring up to date": lambda: index_pictures(None, tmp_path / "x", update=True),
        "an index of pictures, not of captions": lambda: index_captions([("a", "en")], out, "toy", update=True),
    }.items():
        with pytest.raises(UserError, match=words):
            call()
    with only_writer(out), pytest.raises(UserError, match="being written by another process"):
        index_pictures(photos, out, update=True)
    for side in ("fingerprint", "picture_fingerprint"):
        monkeypatch.setattr(toy, side, "trained anew")
    with pytest.raises(UserError, match="built with another model"):
        index_pictures(photos, out, update=True)
    with pytest.raises(UserError, match=r"not the model that .* was built with"):
        Index.open(out).search("red")
    for path in photos.rglob("*.png"):
        path.unlink()  # as when a disk is not there
    with pytest.raises(UserError, match="is its disk there"):
        index_pictures(photos, out, update=True)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_an_index_beside_its_pictures_can_be_moved_with_them(toy: Toy, tmp_path: Path) -> None:
    paint_many(tmp_path / "disk", 4)
    index_pictures(tmp_path / "disk", tmp_path / "disk" / ".index", "toy")
    (tmp_path / "disk").rename(tmp_path / "elsewhere")
    index = Index.open(tmp_path / "elsewhere" / ".index")
    assert index.root == tmp_path / "elsewhere"
    assert index_pictures(None, tmp_path / "elsewhere" / ".index", update=True).kept == 4
    for path in ("../index", "/etc/hostname", "gone.png"):
        with pytest.raises(UserError):
            index.read(path)


def test_dates_come_from_the_camera_or_else_from_the_file(toy: Toy, tmp_path: Path) -> None:
    from PIL import Image

    exif = Image.Exif()
    exif.get_ifd(0x8769)[0x9003] = "2011:03:04 05:06:07"
    paint(tmp_path / "photos" / "camera.jpg", (1, 2, 3), exif=exif)
    os.utime(paint(tmp_path / "photos" / "file.jpg", (1, 2, 3)), (1_500_000_000, 1_500_000_000))  # July 2017
    index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    index = Index.open(tmp_path / "index")
    assert index.entries.value("taken", 0) == "2011-03-04T05:06:07"
    assert index.entries.value("taken", 1).startswith("2017-07-14T")
    found = {
        (since, until): [one.path for one in index.search("red", since=since, until=until)]
        for since, until in [("2012", None), (None, "2011-03-04"), ("2011-03-05", "2017"), (None, "2011-03-03")]
    }
    assert list(found.values()) == [["file.jpg"], ["camera.jpg"], ["file.jpg"], []]


def test_captions_are_found_for_a_picture(toy: Toy, tmp_path: Path) -> None:
    captions = [("red", "en"), ("blue", "en"), ("rot", "de"), ("red", "en")]
    built = index_captions(captions, tmp_path / "index", "toy")
    assert (built.count, built.encoded) == (3, 3)
    picture = paint(tmp_path / "sky.png", (0, 0, 250))
    found = Index.open(tmp_path / "index").like(picture, k=1)[0]
    assert (found.text, found.language) == ("blue", "en")
    built = index_captions([*captions[:1], ("grün", "de")], tmp_path / "index", update=True)
    assert (built.count, built.added, built.removed, built.encoded) == (2, 1, 2, 1)


def test_an_export_of_the_old_model_is_not_taken_for_one_that_was_named(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paint_many(tmp_path / "photos", 2)
    index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    asked: list[str] = []
    monkeypatch.setattr("groundling.search.index.exported_beside", lambda *_: "toy.onnx")
    monkeypatch.setattr("groundling.search.index.load", lambda name, *_: asked.append(name) or toy)
    for model in (None, "toy+nl"):
        Index.open(tmp_path / "index", model).search("red")
    assert asked == ["toy.onnx", "toy+nl"]


@pytest.mark.parametrize(("share", "told", "threads"), [("300000 100000", 64, 3), ("max 100000", 2, 2)])
def test_a_container_is_not_given_more_threads_than_it_has_cores(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: str, told: int, threads: int
) -> None:
    """Nor more than torch was told to use, which counts the cores of the whole machine unless told otherwise."""
    (tmp_path / "cpu.max").write_text(share)
    monkeypatch.setattr(cores, "GROUPS", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(64)))
    monkeypatch.setattr(torch, "get_num_threads", lambda: told)
    restored: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", restored.append)
    started: list[int] = []
    pool = build.ThreadPoolExecutor
    monkeypatch.setattr(build, "ThreadPoolExecutor", lambda count, **more: started.append(count) or pool(count, **more))
    paint_many(tmp_path / "photos", 5)
    index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    assert started == [threads] and restored[-1] == told


def test_an_update_keeps_to_the_kind_of_search_that_was_asked_for(toy: Toy, tmp_path: Path) -> None:
    paint_many(tmp_path / "photos", 8)
    index_pictures(tmp_path / "photos", tmp_path / "index", "toy", kind="hnsw")
    paint(tmp_path / "photos" / "new.png", (3, 200, 3))
    assert index_pictures(None, tmp_path / "index", update=True).search.kind == "hnsw"
    assert index_pictures(None, tmp_path / "index", update=True, kind="exact").search.kind == "exact"
    paint(tmp_path / "photos" / "newer.png", (200, 3, 3))
    assert index_pictures(None, tmp_path / "index", update=True).search.kind == "exact"


def test_who_stops_a_build_is_told_that_it_goes_on(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paint_many(tmp_path / "photos", 6)
    with monkeypatch.context() as patch:
        patch.setattr(stores, "write", stopped)
        with pytest.raises(KeyboardInterrupt):
            index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    said = f"groundling: {tmp_path / 'index'}: 6 pictures are done and kept; the same command goes on from there\n"
    assert capsys.readouterr().err == said
    assert index_pictures(tmp_path / "photos", tmp_path / "index", "toy").count == toy.encoded == 6
    with monkeypatch.context() as patch:
        patch.setattr(indexing, "cut", stopped)  # before anything is encoded
        with pytest.raises(KeyboardInterrupt):
            index_pictures(tmp_path / "photos", tmp_path / "other", "toy")
    assert capsys.readouterr().err == ""


def stopped(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_what_may_not_be_read_is_said_to_be_there(toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paint_many(tmp_path / "photos", 3)
    paint(tmp_path / "photos" / "closed" / "x.png", (3, 200, 3))
    scandir = os.scandir

    def refusing(place: Path) -> object:
        if Path(place).name == "closed":
            raise PermissionError(13, "Permission denied", str(place))
        return scandir(place)

    monkeypatch.setattr(os, "scandir", refusing)
    built = index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    assert built.skipped == {"closed": "a folder that cannot be read (Permission denied)"}

    def closed(path: Path, digest: str) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(manifest, "is_unchanged", closed)
    with pytest.raises(UserError, match=r"(entries|vectors)-\w+\.\w+: cannot be read \(Permission denied\)$"):
        Index.open(tmp_path / "index").search("red")
