"""The names of emoji that we ship, and the script that takes them out of Unicode's CLDR."""

import importlib.util
import json
import sys
import time
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from emoji_concepts import CONCEPTS, KEYS, NAMES

from groundling.corpus.builtin.emoji_names import EXTRACT, LANGUAGES, key_of, read_concepts, without_repeats

ROOT = Path(__file__).parents[2]


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
