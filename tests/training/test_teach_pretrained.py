"""A pretrained pair is taught a language: the run holds all that it needs, and reads the old ones as the pair did."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file

import groundling
from conftest import ENGLISH, GERMAN
from groundling.errors import UserError
from groundling.evaluation.unseen import evaluate_unseen
from groundling.files import read_json
from groundling.model import Model
from groundling.search import Index, index_pictures
from pretrained_folders import save_pair, save_photos, save_tokeniser, text_settings

transformers = pytest.importorskip("transformers")


def write_pairs(path: Path, words: list[str] = GERMAN, number: int = 400) -> Path:
    draw = np.random.default_rng(1)
    lines = ["en\tde"]
    for _ in range(number):
        chosen = draw.choice(len(ENGLISH), 3, replace=False)
        lines.append(" ".join(ENGLISH[at] for at in chosen) + "\t" + " ".join(words[at] for at in chosen))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return save_photos(tmp_path / "photos")


def taught(model: Path, tmp_path: Path, **options: Any) -> Any:
    pairs = write_pairs(tmp_path / "pairs.tsv")
    options = {"steps": 150, "device": "cpu", "show_progress": False, **options}
    return groundling.teach(model, "de", pairs, tmp_path / "run", **options)


@pytest.mark.parametrize("kind", ["CLIP", "Siglip"])
def test_a_taught_pair_agrees_more_and_needs_the_pair_no_more(kind: str, tmp_path: Path, photos: Path) -> None:
    pair = save_pair(tmp_path / "pair", kind, ENGLISH)
    before = Model.load(pair, "cpu")
    old, seen = (
        before.encode_text([" ".join(ENGLISH[:3]), "dog"], "en"),
        before.encode_pictures(sorted(photos.iterdir())),
    )
    run = taught(pair, tmp_path, learning_rate=5e-3)
    shutil.rmtree(pair)
    told = read_json(run.folder / "taught.json")
    assert told["old_languages_unchanged"] is True
    assert told["after"]["matching"]["to_known"] > told["before"]["matching"]["to_known"] + 15
    low, high = told["after"]["matching"]["to_known_interval"]
    assert low < told["after"]["matching"]["to_known"] <= high
    model = Model.load(run, "cpu")
    assert model.languages == ["en", "de"]
    assert np.array_equal(model.encode_text([" ".join(ENGLISH[:3]), "dog"], "en"), old)
    np.testing.assert_allclose(model.encode_pictures(sorted(photos.iterdir())), seen, atol=1e-6)
    assert not [name for name in load_file(run.weights_file) if name.startswith("text.teacher.")]


def test_an_index_of_the_pair_serves_the_taught_run(tmp_path: Path, photos: Path) -> None:
    pair = save_pair(tmp_path / "pair", "CLIP", ENGLISH)
    before = Model.load(pair, "cpu")
    model = Model.load(taught(pair, tmp_path, steps=5), "cpu")
    assert model.picture_fingerprint == before.picture_fingerprint
    index_pictures(photos, tmp_path / "index", str(tmp_path / "run"))
    found = Index.open(tmp_path / "index").search("hund katze", k=4)
    scores = model.encode_text(["hund katze"], "de") @ before.encode_pictures(sorted(photos.iterdir())).T
    assert [one.path for one in found] == [f"{row}.png" for row in np.argsort(-scores[0])]


def test_a_taught_pair_is_taught_again_and_by_a_transformer(tmp_path: Path) -> None:
    pair, bert = save_pair(tmp_path / "pair", "CLIP", ENGLISH), tmp_path / "bert"
    save_tokeniser(bert, [*ENGLISH, *GERMAN])
    config = {**text_settings([*ENGLISH, *GERMAN]), "type_vocab_size": 1}
    transformers.BertModel(transformers.BertConfig(**config)).save_pretrained(bert)
    run = taught(pair, tmp_path, student=f"hub:{bert}", learning_rate=1e-3, steps=60)
    shutil.rmtree(pair)
    shutil.rmtree(bert)
    once = Model.load(run, "cpu")
    pairs = write_pairs(tmp_path / "turned.tsv", [word[::-1] for word in GERMAN])
    pairs.write_text(pairs.read_text().replace("en\tde", "en\tnl"))
    twice = groundling.teach(run, "nl", pairs, tmp_path / "twice", steps=5, device="cpu", show_progress=False)
    shutil.rmtree(run.folder)
    model = Model.load(twice, "cpu")
    assert model.languages == ["en", "de", "nl"]
    assert np.array_equal(model.encode_text(GERMAN, "de"), once.encode_text(GERMAN, "de"))
    assert model.encode_text(["tac"], "nl").shape == (1, 8)


@pytest.mark.parametrize("student", ["own", "own:full"])
def test_a_text_side_learns_a_language_itself_and_the_old_one_is_held(student: str, tmp_path: Path) -> None:
    if student == "own":
        pytest.importorskip("peft")
    pair = save_pair(tmp_path / "pair", "CLIP", [*ENGLISH, *GERMAN])
    texts = [" ".join(ENGLISH[at : at + 3]) for at in range(6)]
    old = Model.load(pair, "cpu").encode_text(texts, "en")
    run = taught(pair, tmp_path, student=student, learning_rate=5e-3, steps=200)
    shutil.rmtree(pair)
    told = read_json(run.folder / "taught.json")
    assert told["after"]["matching"]["to_known"] > told["before"]["matching"]["to_known"] + 15
    assert told["old_languages_unchanged"] is False
    assert told["old_languages_cosine"] > 0.9
    model = Model.load(run, "cpu")
    assert model.languages == ["en", "de"]
    assert not [name for name in load_file(run.weights_file) if "lora" in name or "vision" in name]
    new = model.encode_text(texts, "en")
    assert (old * new).sum(axis=1).mean() > 0.9
    assert not np.array_equal(old, new)


def test_own_is_for_pretrained_models(tmp_path: Path) -> None:
    run = taught(save_pair(tmp_path / "pair", "CLIP", ENGLISH), tmp_path, steps=5)
    pairs = tmp_path / "more.tsv"
    pairs.write_text((tmp_path / "pairs.tsv").read_text().replace("en\tde", "en\tnl"))
    with pytest.raises(UserError, match="student own tunes the text side of a pretrained model"):
        groundling.teach(run, "nl", pairs, tmp_path / "twice", student="own", steps=5, show_progress=False)
    assert not (tmp_path / "twice").exists()
    with pytest.raises(UserError, match="name the corpus to ask it about with --corpus"):
        evaluate_unseen(run.folder, ["nl"], device="cpu")


def test_a_way_of_tuning_that_there_is_not_is_one_sentence(tmp_path: Path) -> None:
    pair = save_pair(tmp_path / "pair", "CLIP", ENGLISH)
    with pytest.raises(
        UserError, match=r'--student "own:half": .* by low-rank changes \(own\) or all of it \(own:full\)'
    ):
        taught(pair, tmp_path, student="own:half", steps=5)
    assert not (tmp_path / "run").exists()


def test_two_languages_at_once_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from groundling.cli import main

    monkeypatch.chdir(tmp_path)
    save_pair(tmp_path / "pair", "CLIP", ENGLISH)
    write_pairs(tmp_path / "de.tsv")
    said = [line.split("\t") for line in (tmp_path / "de.tsv").read_text().splitlines()[1:]]
    for code, texts in (("en", [known for known, _ in said]), ("de", [new for _, new in said])):
        Path(f"moses.{code}").write_text("".join(f"{text}\n" for text in texts))
    Path("moses.nl").write_text("".join(f"{new[::-1]}\n" for _, new in said))
    with pytest.raises(SystemExit) as ended:
        options = [
            "--language",
            "de,nl",
            "--from",
            "en",
            "--steps",
            "60",
            "--learning-rate",
            "0.005",
            "--device",
            "cpu",
        ]
        main(["teach", "pair", "--pairs", "moses", *options])
    told = capsys.readouterr()
    assert not ended.value.code, told.err
    assert "pair+de+nl: reads en, de, nl" in told.out
    assert "German (de), taught by pair (encoder)" in told.out
    assert "Dutch (nl), taught by pair (encoder)" in told.out
    assert "held-out pairs: with 95% confidence" in " ".join(told.out.split())
    assert "steps, which take" in told.err
    assert "Next: groundling index PHOTOS --model pair+de+nl" in told.out
    model = Model.load("pair+de+nl", "cpu")
    assert not np.array_equal(model.encode_text(["hund"], "de"), model.encode_text(["dnuh"], "nl"))
