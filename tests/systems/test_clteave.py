"""A student learns German word by word from an English teacher; the sentence is made as the teacher makes it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from conftest import ENGLISH, GERMAN, make_recipe
from groundling import systems
from groundling.batches import DeviceBatch, TrainingData
from groundling.corpus import Corpus
from groundling.corpus.entailment import LABELS, Entailments
from groundling.dataset import Dataset
from groundling.encoders.text.autoencoded import AutoencodedPooling
from groundling.encoders.text.taught import TaughtEncoder
from groundling.encoders.tokenisers.hub import HubTokeniser
from groundling.encoders.tokenisers.taught import TaughtTokeniser
from groundling.errors import UserError
from groundling.evaluation.entailment import evaluate_entailment
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.files import read_json
from groundling.model import Model
from groundling.objectives.contextual_word_pairs import ContextualPairs
from groundling.settings import Recipe
from groundling.systems import Plan
from groundling.systems.clteave import WordLoss
from groundling.training import train
from groundling.training.contexts import load_start
from judged_world import judging_recipe
from plans import plan
from tiny_networks import save_bert

CPU = torch.device("cpu")
THINGS = 5


def make_judged(pictures: int = 150, seed: int = 0) -> Dataset:
    """Statements name a thing and say that it is here or not; German says it the other way round: "da hund ist"."""
    draw = np.random.default_rng(seed)
    shown = draw.integers(0, 3, (pictures, THINGS))  # not there, hidden, there
    features = (shown - 1) @ draw.standard_normal((THINGS, 12)) + 0.05 * draw.standard_normal((pictures, 12))
    owners, languages, texts, labels, ids = [], [], [], [], []
    for picture in range(pictures):
        for thing in range(THINGS):
            denied = bool(draw.integers(2))
            label = 2 - shown[picture, thing] if denied else shown[picture, thing]
            english = f"{ENGLISH[thing]} {'missing' if denied else 'present'} indeed"
            german = f"wahrlich {'fehlt' if denied else 'da'} {GERMAN[thing]}"
            for code, text in (("en", english), ("de", german)):
                owners.append(picture)
                languages.append(code)
                texts.append(text)
                labels.append(LABELS[label])
                ids.append(f"{picture}-{thing}")
    statements = Entailments(np.array(owners), np.array(languages), texts, np.array(labels), np.array(ids))
    corpus = Corpus(
        name="judged",
        pictures=np.array([f"picture-{number}" for number in range(pictures)]),
        splits=np.array(["train"] * (pictures - 50) + ["dev"] * 25 + ["test"] * 25),
        owners=np.repeat(np.arange(pictures), 2),
        languages=np.array(["en", "de"] * pictures),
        texts=["x"] * (2 * pictures),
        origins=np.array(["human"] * (2 * pictures)),
        statements=statements,
    )
    return Dataset(corpus, features.astype(np.float32))


@pytest.fixture(scope="module")
def judged() -> Dataset:
    return make_judged()


@pytest.fixture(scope="module")
def teachers(judged: Dataset, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """English judges that read a sentence at its end, as CLIP does, and at all of its words."""
    folder = tmp_path_factory.mktemp("teachers")
    for pooling in ("last", "max"):
        recipe = judging_recipe({"maximum_steps": 300, "validate_every": 50}, pooling=pooling)
        english = recipe.model_copy(update={"corpus": recipe.corpus.model_copy(update={"languages": ["en"]})})
        train(english, judged.under(english.corpus), folder / pooling, device="cpu")
    return {pooling: folder / pooling for pooling in ("last", "max")}


def student_recipe(teacher: Path, student: str = "encoder", steps: int = 200, **system: Any) -> Recipe:
    own = {"name": "clteave", "student": student, "layers": [32], "dropout": 0.0, **system}
    training = {"maximum_steps": steps, "validate_every": min(50, steps), "optimiser": "adamw", "learning_rate": 1e-2}
    recipe = make_recipe(training=training)
    return recipe.model_copy(update={"system": own, "start": str(teacher)})


def learned(teacher: Path, world: Dataset, into: Path, student: str = "encoder", **options: Any) -> Model:
    train(student_recipe(teacher, student, **options), world, into, device="cpu", start=teacher)
    return Model.load(into, "cpu")


def material(teacher: Path, world: Dataset) -> Dataset:
    """The sentence pairs that a student learns from."""
    start = load_start(teacher, "cpu")
    return systems.of(student_recipe(teacher)).taught_by(start.system).material(world, start).split("train")


def prepared(teacher: Path, world: Dataset, **system: Any) -> tuple[Plan, TaughtEncoder, Any, TrainingData]:
    """A plan, the text side of its encoders, the encoders, and data."""
    torch.manual_seed(0)
    recipe, start = student_recipe(teacher, **system), load_start(teacher, "cpu")
    made = plan(recipe.system, material(teacher, world), {"batch_size": 32}, start=start)
    text = made.encoders.text
    assert isinstance(text, TaughtEncoder)
    return made, text, made.encoders, made.data


def first_batch(made: Plan, data: TrainingData, step: int = 0) -> DeviceBatch:
    made.stage.sampler.state = [0]
    batch = made.stage.sampler.batch(0)
    return DeviceBatch(batch.kind, torch.from_numpy(batch.rows), batch.longest, torch.tensor(float(step)))


@pytest.mark.parametrize("pooling", ["last", "max"])
def test_with_the_state_of_the_sentence_a_judge_judges_in_german(
    pooling: str, teachers: dict[str, Path], judged: Dataset, tmp_path: Path
) -> None:
    before = Model.load(teachers[pooling], "cpu")
    model = learned(teachers[pooling], judged, tmp_path / "run")
    old, new = (evaluate_entailment(part, judged).result.to_json()["languages"] for part in (before, model))
    assert old["en"]["accuracy"] > 80
    assert new["en"] == old["en"]
    assert new["de"]["accuracy"] > old["en"]["accuracy"] - 10
    english = judged.judged().corpus.only(["en"]).texts[:40]
    assert np.array_equal(model.encode_text(english, "en"), before.encode_text(english, "en"))


def test_words_alone_do_not_reach_a_sentence_that_is_read_at_its_end(
    teachers: dict[str, Path], judged: Dataset, tmp_path: Path
) -> None:
    """What the paper found, and why: no gradient reaches the state that is no word, beyond what GRUs share."""
    alone = learned(teachers["last"], judged, tmp_path / "words", sentence=0.0)
    both = learned(teachers["last"], judged, tmp_path / "both")
    found = [evaluate_entailment(part, judged).result.value("de", "accuracy") for part in (alone, both)]
    assert found[1] > found[0] + 10


def test_pairs_are_words_that_translate_each_other(teachers: dict[str, Path], judged: Dataset) -> None:
    made, _, _, data = prepared(teachers["max"], judged)
    batch = first_batch(made, data)
    assert isinstance(made.stage.loss, WordLoss)
    pairs = made.stage.loss.links.matrix(batch.rows[0], batch.rows[1], batch.longest)
    english = dict(zip(GERMAN, ENGLISH, strict=True)) | {"fehlt": "missing", "da": "present", "wahrlich": "indeed"}
    corpus = material(teachers["max"], judged).corpus
    for row, (caption, partner) in enumerate(batch.rows.T.tolist()):
        new, known = corpus.texts[caption].split(), corpus.texts[partner].split()
        expected = {(1 + place, 1 + known.index(english[word])) for place, word in enumerate(new)}
        sure = {(one, two) for one, two in expected if new[one - 1] != "wahrlich"}  # always there: counts tell nothing
        assert sure <= {tuple(pair) for pair in pairs[row].nonzero().tolist()} <= expected


def test_the_loss_is_that_of_pairs_one_by_one_and_only_the_student_learns(
    teachers: dict[str, Path], judged: Dataset
) -> None:
    made, text, encoders, data = prepared(teachers["max"], judged, sentence=0.5)
    batch = first_batch(made, data)
    encoders.train()
    loss = made.stage.loss(encoders, data, batch)
    loss.backward()
    moved = {name for name, part in encoders.named_parameters() if part.grad is not None and part.grad.any()}
    assert moved == {name for name, part in encoders.named_parameters() if part.requires_grad}
    assert all(name.startswith("text.student.") for name in moved)
    assert isinstance(made.stage.loss, WordLoss)
    captions, partners = batch.rows
    with torch.no_grad():
        one = text.taught_states(*data.captions(captions, batch.longest))
        two = text.known_states(*data.captions(partners, batch.longest))
    linked = made.stage.loss.links.matrix(captions, partners, batch.longest).nonzero().tolist()
    targets = torch.stack([two[0][n, j] for n, _, j in linked])
    distance = torch.stack([(one[0][n, i] - two[0][n, j]).square().sum() for n, i, j in linked]).mean()
    spread = (targets - targets.mean(dim=0)).square().sum(dim=-1).mean()
    sentences = (one[1] - two[1]).square().sum(dim=-1).mean()
    apart = (two[1] - two[1].mean(dim=0)).square().sum(dim=-1).mean()
    assert loss.item() == pytest.approx((distance / spread + 0.5 * sentences / apart).item(), rel=1e-4)


def test_padding_changes_no_loss(teachers: dict[str, Path], judged: Dataset) -> None:
    made, _, encoders, data = prepared(teachers["max"], judged)
    batch = first_batch(made, data)
    wide = TrainingData(**{**data.__dict__, "ids": torch.nn.functional.pad(data.ids, (0, 4))})
    expected = made.stage.loss(encoders, data, batch)
    longer = DeviceBatch(batch.kind, batch.rows, batch.longest + 4, batch.step)
    assert made.stage.loss(encoders, wide, longer).item() == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize(("pooling", "student"), [("last", "words"), ("max", "characters"), ("max", "words")])
def test_evaluation_pools_what_training_pools(
    pooling: str, student: str, teachers: dict[str, Path], judged: Dataset, tmp_path: Path
) -> None:
    model = learned(teachers[pooling], judged, tmp_path / "run", student, steps=5)
    dev = judged.judged().split("dev").corpus.only(["de"])
    data = TrainingData.build(dev, np.zeros((len(dev.pictures), 0), np.float32), model.tokeniser, CPU)
    text = model.encoders.text
    assert isinstance(text, TaughtEncoder)
    with torch.inference_mode():
        _, pooled = text.taught_states(*data.captions(torch.arange(len(dev)), int(data.lengths.max())))
    expected = torch.nn.functional.normalize(pooled, dim=-1).numpy()
    assert np.allclose(model.encode_text(dev.texts, "de"), expected, atol=1e-5)
    assert np.allclose(model.encode_text(dev.texts[:1], "de"), expected[:1], atol=1e-5)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny encoder at random that knows all words of both languages."""
    pieces = ["missing", "present", "indeed", "wahrlich", "feh", "##lt", "da"]
    return save_bert(tmp_path_factory.mktemp("encoder"), [*ENGLISH, *GERMAN, *pieces], size=24)


def test_a_pretrained_student_of_other_dimensions_goes_through_the_autoencoder(
    encoder: Path, teachers: dict[str, Path], judged: Dataset, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"student": f"hub:{encoder}", "autoencoder_steps": 50}
    made, text, encoders, data = prepared(teachers["last"], judged, **options)
    student = text.student
    assert isinstance(student, AutoencodedPooling)
    assert (student.autoencoder.down.in_features, student.autoencoder.down.out_features) == (24, 16)
    encoders.train()
    made.stage.loss(encoders, data, first_batch(made, data, step=0)).backward()
    moved = {name for name, part in encoders.named_parameters() if part.grad is not None and part.grad.any()}
    parts = [f"text.student.autoencoder.{name}" for name in ("down.weight", "down.bias", "up.weight", "up.bias")]
    assert moved == set(parts)  # first of all, it learns to give back what it gets
    encoders.zero_grad()
    made.stage.loss(encoders, data, first_batch(made, data, step=50)).backward()
    moved = {name for name, part in encoders.named_parameters() if part.grad is not None and part.grad.any()}
    assert set(parts[:2]) < moved
    assert not moved & set(parts[2:])
    assert any(name.startswith("text.student.inner.encoder.") for name in moved)
    model = learned(teachers["last"], judged, tmp_path / "run", steps=300, **options)
    result = evaluate_entailment(model, judged).result.to_json()["languages"]
    assert result["de"]["accuracy"] > 60
    parts = read_json(tmp_path / "run/run.json")["parameters_by_part"]
    assert parts["autoencoder of a student"] == 24 * 16 + 16  # the way back is for training only
    assert "pretrained encoder of a student" in parts
    pieces = HubTokeniser.build(str(encoder), make_recipe().text).encode(["wahrlich da hund"], ["de"])
    with torch.inference_mode():
        trained = model.encoders.text.student  # the state of the final [SEP], reduced
        states = trained.states(torch.from_numpy(pieces.ids), torch.from_numpy(pieces.lengths))
    expected = torch.nn.functional.normalize(states[0, -1], dim=-1).numpy()
    assert np.allclose(model.encode_text(["wahrlich da hund"], "de")[0], expected, atol=1e-5)


def test_an_encoder_aligns_words_by_their_states(encoder: Path, teachers: dict[str, Path], judged: Dataset) -> None:
    """With the states of both languages made alike, awesome-align finds the translations."""
    made, _, _, _ = prepared(teachers["max"], judged)
    corpus, tokeniser = material(teachers["max"], judged).corpus, made.tokeniser
    found = ContextualPairs(str(encoder), corpus.texts, corpus.languages.tolist(), tokeniser, 1e-3, CPU)
    vocabulary, table = found.pieces.get_vocab(), torch.zeros(len(found.pieces), 24)
    same = [*zip(ENGLISH[:THINGS], GERMAN[:THINGS], strict=True), ("missing", "##lt"), ("present", "da")]
    for place, (one, two) in enumerate([*same, ("indeed", "wahrlich")]):
        table[vocabulary[one], place] = table[vocabulary[two], place] = 4.0
    table[vocabulary["feh"], 20] = 4.0

    class Table(torch.nn.Module):
        def forward(self, input_ids: torch.Tensor, **others: Any) -> Any:
            return type("Read", (), {"hidden_states": [table[input_ids]]})

    found.encoder = Table()
    rows = np.flatnonzero(corpus.languages == "de")[:12]
    partners = np.array(
        [np.flatnonzero((corpus.owners == corpus.owners[row]) & (corpus.languages == "en"))[0] for row in rows]
    )
    english = dict(zip(GERMAN, ENGLISH, strict=True)) | {"fehlt": "missing", "da": "present", "wahrlich": "indeed"}
    for pairs, row, partner in zip(found(rows, partners), rows, partners, strict=True):
        new, known = corpus.texts[row].split(), corpus.texts[partner].split()
        expected = {(1 + place, 1 + known.index(english[word])) for place, word in enumerate(new)}
        assert set(zip(*(part.tolist() for part in pairs.nonzero()), strict=True)) == expected
    # Of word pieces, the first stands for the word.
    pieces = HubTokeniser.build(str(encoder), make_recipe().text)
    assert pieces.spans("Wahrlich fehlt hund", "de") == (["Wahrlich", "fehlt", "hund"], [1, 2, 4])


def test_an_encoder_can_be_aligner_student_and_both(
    encoder: Path, teachers: dict[str, Path], judged: Dataset, tmp_path: Path
) -> None:
    name = f"hub:{encoder}"
    model = learned(teachers["max"], judged, tmp_path / "run", name, steps=5, aligner=name)
    assert model.judges
    assert isinstance(model.tokeniser, TaughtTokeniser)


def test_retrieval_models_are_taught_word_by_word_too(world: Dataset, tmp_path: Path) -> None:
    recipe = make_recipe(training={"maximum_steps": 150, "validate_every": 50}, corpus={"languages": ["en"]})
    recipe = recipe.model_copy(update={"system": {"name": "vse", "dimensions": 24, "word_dimensions": 12}})
    train(recipe, world.under(recipe.corpus), tmp_path / "teacher", device="cpu")
    model = learned(tmp_path / "teacher", world, tmp_path / "run")
    result = evaluate_retrieval(model, world).result.to_json()["languages"]
    assert result["de"]["mR"] > 0.8 * result["en"]["mR"]


def test_wrong_settings_are_named() -> None:
    with pytest.raises(UserError, match="student use has sentences and no words"):
        systems.make({"name": "clteave", "student": "use"})
    with pytest.raises(UserError, match="an aligner is counts, or hub: and"):
        systems.make({"name": "clteave", "aligner": "mbert"})
