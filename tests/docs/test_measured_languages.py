"""What the benchmarks of added languages, translated words and latent tokens collect, and the pages they write."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from site_scripts import ROOT, script

from groundling.corpus.corpus import Corpus
from groundling.evaluation.latent_tokens import TokenQuality, token_quality
from groundling.experiments.table_entries import TableEntry
from groundling.files import write_json

sys.path.append(str(ROOT / "benchmarks"))
teaching = importlib.import_module("teaching_f8k7")
translation = importlib.import_module("word_translation")
latent = importlib.import_module("latent_tokens")
look_up = script("result_numbers").look_up


def taught(after: float, *, unchanged: bool = True) -> dict[str, object]:
    """What `groundling teach --json` prints, as far as it is read."""
    scores = {
        when: {"test": {"mR": score, "text_to_image": {"R@10": 2 * score}}}
        for when, score in (("before", 4.0), ("after", after))
    }
    return {"pairs": {"train": 400, "dev": 50, "test": 50}, **scores, "old_languages_unchanged": unchanged}


def test_rows_of_taught_languages_are_those_that_some_seed_has(tmp_path: Path) -> None:
    write_json(tmp_path / "five-0+fr-500.json", taught(20.0))
    write_json(tmp_path / "five-2+fr-500.json", taught(24.0))
    write_json(tmp_path / "five-0+cs-5527.json", taught(30.0, unchanged=False))
    french, czech = teaching.collect(tmp_path, [0, 1, 2])
    assert french["name"] == "French, 500 pairs"
    assert french["columns"]["mR after"]["values"] == [20.0, 24.0]
    assert french["columns"]["mR after"]["mean"] == 22.0
    assert french["columns"]["mR after"]["deviation"] == pytest.approx(8**0.5)  # (2² + 2²) / (2 − 1)
    assert french["columns"]["text → image R@10 before"]["values"] == [8.0, 8.0]
    assert french["old_languages_unchanged"]
    assert not czech["old_languages_unchanged"]
    assert czech["columns"]["mR after"]["values"] == [30.0]


def test_the_page_of_taught_languages_shows_a_spread_only_for_several_seeds(tmp_path: Path) -> None:
    write_json(tmp_path / "five-0+fr-500.json", taught(20.0))
    write_json(tmp_path / "five-1+fr-500.json", taught(24.0))
    write_json(tmp_path / "five-0+cs-5527.json", taught(30.0))
    text = teaching.page(teaching.collect(tmp_path, [0, 1]), {"commit": "abc1234"})
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if line.startswith("|")}
    assert "22.0 ± 2.8" in rows["French, 500 pairs"]
    assert " 400 " in rows["French, 500 pairs"]
    assert "30.0" in rows["Czech, 5,527 pairs"]
    assert "±" not in rows["Czech, 5,527 pairs"]
    assert "- commit: `abc1234`" in text


def test_smaller_sets_of_pairs_are_within_larger_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    captions = [(photo, language) for photo in range(8) for language in ("en", "fr")][:-3]  # one photo has no French
    corpus = Corpus(
        name="captions",
        pictures=np.array([f"{photo}.jpg" for photo in range(8)]),
        splits=np.array(["train", "test"] + ["train"] * 6),
        owners=np.array([photo for photo, _ in captions]),
        languages=np.array([language for _, language in captions]),
        texts=[f"{language} \n {photo}" for photo, language in captions],
        origins=np.array(["human"] * len(captions)),
    )
    monkeypatch.setattr(teaching, "load", lambda *_: corpus)
    monkeypatch.setattr(teaching, "SIZES", {"fr": (2, 500)})
    teaching.write_pairs(tmp_path, tmp_path)
    two, every = ((tmp_path / f"fr-{size}.tsv").read_text().splitlines() for size in (2, 500))
    assert two == every[:3]
    assert every[0] == "en\tfr"
    assert sorted(every[1:]) == [f"en {photo}\tfr {photo}" for photo in (0, 2, 3, 4, 5)]


ALIGNED = {
    "precision": {"nn": {"1": 0.125, "5": 0.25, "10": 0.5}, "csls": {"1": 0.25, "5": 0.5, "10": 0.75}},
    "coverage": {"train": {"pairs": 2843}, "tested": {"source_words": 466}},
    "words": {"source": 3000, "target": 5643},
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Every command that was called; each answers as `groundling align --json` does."""
    commands: list[list[str]] = []

    def answer(*words: object) -> str:
        commands.append([str(word) for word in words])
        return json.dumps(ALIGNED)

    monkeypatch.setattr(translation, "command", answer)
    return commands


def test_words_are_translated_into_each_language_in_four_ways(asked: list[list[str]], tmp_path: Path) -> None:
    rows = translation.measure(Path("data"), tmp_path)
    assert [row["name"] for row in rows[:4]] == [
        "German, procrustes",
        "German, rcsls",
        "German, procrustes, centred",
        "German, rcsls, centred",
    ]
    assert len(rows) == 24
    assert rows[0]["columns"]["cosine P@1"]["mean"] == 12.5  # percent
    assert rows[0]["columns"]["CSLS P@10"]["mean"] == 75.0
    trained = [words for words in asked if words[0] == "words"]
    assert [words[words.index("--language") + 1] for words in trained] == ["en", "de", "fr", "cs", "pt", "ar", "zh"]
    assert [("--segmentation" in words) for words in trained] == [False] * 6 + [True]
    centred = [words for words in asked if words[0] == "align" and "--centre" in words]
    assert len(centred) == 12


def test_the_page_of_translated_words_and_its_json_have_the_same_numbers(
    asked: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "docs" / "results" / "alignment" / "table"
    out.parent.mkdir(parents=True)
    monkeypatch.setattr(sys, "argv", ["word_translation.py", "--data", "data", "--out", str(out)])
    translation.main()
    page = out.with_suffix(".md").read_text()
    german = next(line for line in page.splitlines() if line.startswith("| German, rcsls, centred"))
    assert [cell.strip() for cell in german.split("|")[2:-1]] == [
        *("12.5", "25.0", "50.0", "25.0", "50.0", "75.0"),
        *("2,843", "466", "5,643"),
    ]
    monkeypatch.setitem(look_up.__globals__, "ROOT", tmp_path)
    assert look_up("alignment/table", "German, rcsls, centred", "CSLS P@1").mean == 25.0


def test_the_page_of_latent_tokens_has_means_over_languages_and_seeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With seed 0 all words are one token; with seed 1 dog and hund are another one. French has no listed pair."""
    pairs = {"de": [("dog", "hund"), ("cat", "katze")], "fr": [("tree", "arbre")]}

    def quality(entry: TableEntry, system: dict[str, object], *_: object) -> TokenQuality:
        own = entry.recipe.training.seed
        assert system["name"] == "la" or system["own_words"] == 100
        words = {"en": {"dog": own, "cat": 0}, "de": {"hund": own, "katze": 0}, "fr": {"chien": 0}}
        return token_quality(words, pairs, "en")

    monkeypatch.setattr(latent, "quality", quality)
    out = tmp_path / "docs" / "results" / "tokens"
    out.parent.mkdir(parents=True)
    options = ["--data", "data", "--out", str(out), "--seeds", "0", "1", "--rows", "250 tokens"]
    monkeypatch.setattr(sys, "argv", ["latent_tokens.py", *options])
    latent.main()
    monkeypatch.setitem(look_up.__globals__, "ROOT", tmp_path)
    assert look_up("tokens", "250 tokens", "words per token").mean == (5 + 2.5) / 2
    assert look_up("tokens", "250 tokens", "right").mean == (50 + 100) / 2
    assert look_up("tokens", "250 tokens", "rare together").mean == 100
    row = next(line for line in out.with_suffix(".md").read_text().splitlines() if line.startswith("| 250 tokens"))
    assert row.split("|")[2].strip() == "3.8 ± 1.8"
