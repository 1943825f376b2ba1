"""A text encoder and a picture encoder from outside the package train, teach, are taught, exported and asked."""

import json
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import own_encoders  # one file; each encoder is registered there by one line
import pytest
from torch import nn

from conftest import make_recipe, make_world
from groundling import registry
from groundling.cli import main
from groundling.encoders.picture import PICTURE_ENCODERS, PictureEncoder
from groundling.encoders.text import TEXT_ENCODERS, TextEncoder
from groundling.errors import UserError
from groundling.evaluation.unseen import knowledge
from groundling.export import OnnxModel
from groundling.export.write import export_run
from groundling.model.trained import TrainedModel
from groundling.registry import Registry
from groundling.settings import Recipe
from groundling.systems import make
from groundling.training import train
from judged_world import judging_recipe, make_judged

WORLD = make_world()
OWN: dict[str, Any] = {"text": {"name": "own_mean", "layers": 2}, "picture": {"name": "own_deep"}}
FEW = {"maximum_steps": 4, "validate_every": 4}


def recipe_of(system: dict[str, Any], **more: Any) -> Recipe:
    recipe = make_recipe(features={"array": "features.npy", "names": "names.txt"}, **more)
    return recipe.model_copy(update={"system": system})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that learned English."""
    folder = tmp_path_factory.mktemp("own") / "run"
    recipe = recipe_of({"name": "vse", "dimensions": 16, "word_dimensions": 12, **OWN}, corpus={"languages": ["en"]})
    train(recipe, WORLD.under(recipe.corpus), folder, device="cpu")
    return folder


@pytest.fixture(scope="module")
def taught(run: Path) -> Path:
    """The same after it was taught German by itself: teacher and student are encoders from outside."""
    student = {"name": "clseave", "student": {"name": "own_mean", "word_dimensions": 12}}
    recipe = recipe_of(student, training={"maximum_steps": 200, "validate_every": 50, "learning_rate": 1e-2})
    recipe = recipe.model_copy(update={"start": str(run)})
    train(recipe, WORLD, run.parent / "taught", device="cpu", start=run)
    return run.parent / "taught"


def found(model: TrainedModel, language: str) -> float:
    """How often, of 100, a test picture is the first of all for its captions."""
    test = WORLD.split("test")
    corpus = test.corpus.keep_captions(test.corpus.languages == language)
    scores = model.encode_text(corpus.texts, language) @ model.encode_features(test.features).T
    return 100 * float((scores.argmax(axis=1) == corpus.owners).mean())


def test_they_train_and_are_loaded_again(run: Path) -> None:
    model = TrainedModel.load(run, "cpu")
    text, picture = model.encoders.text, model.encoders.picture
    assert isinstance(text, own_encoders.MeanEncoder)
    assert isinstance(picture, own_encoders.DeepPictureEncoder)
    assert len(text.layers) == 5  # two hidden layers, as its own setting says
    assert text.pairs.embedding_dim == 12  # the system's setting, which the encoder has, too
    assert model.features == 12
    assert found(model, "en") > 40  # chance is 4


@pytest.mark.parametrize("system", ["lessons", "bag", "pivot", "polyglot"])
def test_every_general_system_takes_them(system: str, tmp_path: Path) -> None:
    own = {key: value for key, value in OWN.items() if system != "polyglot" or key == "text"}
    train(recipe_of({"name": system, "dimensions": 8, **own}, training=FEW), WORLD, tmp_path / "run", device="cpu")
    assert isinstance(TrainedModel.load(tmp_path / "run", "cpu").encoders.text, own_encoders.MeanEncoder)


def test_statements_are_judged_with_them_and_a_run_goes_on_from_another(tmp_path: Path) -> None:
    world = make_judged()
    first = judging_recipe({"maximum_steps": 120, "validate_every": 40}, **OWN)
    train(first, world, tmp_path / "first", device="cpu")
    model = TrainedModel.load(tmp_path / "first", "cpu")
    assert model.judges
    fewer = world.under(first.corpus.model_copy(update={"languages": ["en"]}))  # other words: rows go by their names
    second = judging_recipe(FEW, **OWN).model_copy(update={"start": str(tmp_path / "first")})
    train(second, fewer, tmp_path / "second", device="cpu", start=tmp_path / "first")
    old, new = model.encoders.text, TrainedModel.load(tmp_path / "second", "cpu").encoders.text
    rows = new.tokeniser.row_names()
    assert 0 < len(rows) < len(old.tokeniser.row_names())
    known = [old.tokeniser.row_names()[name] for name in rows]
    table, before = (part.state_dict()["pairs.weight"] for part in (new, old))
    assert (table[list(rows.values())] - before[known]).abs().max() < 0.2  # four steps of 0.01 from the first run's end


def test_a_teacher_and_a_student_from_outside(run: Path, taught: Path) -> None:
    before, after = TrainedModel.load(run, "cpu"), TrainedModel.load(taught, "cpu")
    assert [type(part).__name__ for part in after.encoders.text.readers()] == ["MeanEncoder", "MeanEncoder"]
    assert found(after, "de") > 0.7 * found(before, "en")
    english = WORLD.corpus.only(["en"]).texts[:50]
    assert np.array_equal(before.encode_text(english, "en"), after.encode_text(english, "en"))


@pytest.mark.parametrize("student", ["encoder", "characters"])
def test_students_of_ours_learn_from_it(student: str, run: Path, tmp_path: Path) -> None:
    recipe = recipe_of({"name": "clseave", "student": student, "layers": [12]}, training=FEW)
    train(recipe.model_copy(update={"start": str(run)}), WORLD, tmp_path / "run", device="cpu", start=run)
    assert TrainedModel.load(tmp_path / "run", "cpu").encode_text(["hund"], "de").shape == (1, 16)


def test_they_are_exported_and_read_again(taught: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    manifest = export_run(taught, tmp_path / "exported")
    assert [reader.languages for reader in manifest.readers] == [[], ["de"]]
    ours, theirs = TrainedModel.load(taught, "cpu"), OnnxModel.load(tmp_path / "exported")
    for texts, code in ((["dog cat", "", "tree"], "en"), (["hund", "katze baum haus"], "de")):
        assert np.abs(ours.encode_text(texts, code) - theirs.encode_text(texts, code)).max() < 1e-5
    features = WORLD.features[:7]
    assert np.abs(ours.encode_features(features) - theirs.encode_features(features)).max() < 1e-5


def test_it_says_what_it_knows_of_an_unseen_language(run: Path) -> None:
    tokeniser = TrainedModel.load(run, "cpu").tokeniser
    known = knowledge(tokeniser, WORLD.corpus, "de")
    letters = {letter for pair in tokeniser.listed_words()[""] for letter in pair}  # type: ignore[index]
    german = "".join(WORLD.corpus.only(["de"]).texts).replace(" ", "")
    assert known.letters_known == pytest.approx(100 * sum(letter in letters for letter in german) / len(german))


def test_word_by_word_needs_vectors_of_words(run: Path, tmp_path: Path) -> None:
    recipe = recipe_of({"name": "clteave"}, training=FEW).model_copy(update={"start": str(run)})
    with pytest.raises(UserError, match=r"needs a teacher that has a vector for each word.*MeanEncoder is not"):
        train(recipe, WORLD, tmp_path / "run", device="cpu", start=run)


def test_wrong_names_and_settings_are_told() -> None:
    with pytest.raises(UserError, match=r'no text encoder is called "own_maen" \(did you mean "own_mean"\?\)'):
        _ = make({"name": "vse", "text": "own_maen"}).text_encoder
    with pytest.raises(UserError, match=r'system\.text: unknown setting "layer" \(did you mean "layers"\?\)'):
        _ = make({"name": "vse", "text": {"name": "own_mean", "layer": 2}}).text_encoder
    with pytest.raises(UserError, match=r'system\.picture: unknown setting "depth"'):
        _ = make({"name": "clip_ve", "picture": {"name": "own_deep", "depth": 2}}).picture_encoder


def test_they_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    def said(*arguments: str) -> Any:
        with pytest.raises(SystemExit) as stop:
            main([*arguments, "--json"])
        assert not stop.value.code
        return json.loads(capsys.readouterr().out)

    listed = {entry["name"]: entry for entry in said("recipes")}
    assert listed["text:own_mean"]["kind"] == "text encoder"
    assert listed["text:own_mean"]["about"] == "The mean of the vectors of pairs of letters, through some layers."
    assert listed["picture:own_deep"]["kind"] == "picture encoder"
    assert set(said("recipes", "text:own_mean")["properties"]) == {"word_dimensions", "layers"}


def test_another_package_declares_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody imports its module: an entry point names it, and its tokeniser is found through its encoder."""
    points = {
        "groundling.text_encoders": EntryPoint("their_mean", "own_encoders:MeanEncoder", "groundling.text_encoders"),
        "groundling.picture_encoders": EntryPoint(
            "their_deep", "own_encoders:DeepPictureEncoder", "groundling.picture_encoders"
        ),
    }
    monkeypatch.setattr(registry, "entry_points", lambda group: [points[group]] if group in points else [])
    for ours, name in ((TEXT_ENCODERS, "their_mean"), (PICTURE_ENCODERS, "their_deep")):
        fresh: Registry[Any] = Registry(ours.kind, ours.group)
        expected: type[TextEncoder | PictureEncoder | nn.Module] = fresh[name]
        assert expected in (own_encoders.MeanEncoder, own_encoders.DeepPictureEncoder)
        assert name in list(fresh)
