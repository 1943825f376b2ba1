"""EmbN, PAR. EmbN and MULE: their loss put together by hand, its two stages, and what they learn."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn.functional import cross_entropy

from conftest import ENGLISH, GERMAN, make_recipe, make_world
from groundling import systems
from groundling.batches import DeviceBatch, TrainingData
from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.parameters import count_model
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.model.trained import TrainedModel
from groundling.objectives.neighbourhood import neighbourhood
from groundling.objectives.same_words import picture_texts
from groundling.objectives.triplets import distances, worst_triplets
from groundling.objectives.two_branch import TwoBranchLoss, TwoBranchSettings, text_of
from groundling.systems import Encoders, System
from groundling.training import train
from groundling.words import WordVectors, storage
from plans import context, dataset_of
from plans import plan as planned
from power_cut import assert_goes_on_exactly

SIZES = {
    "dimensions": 16,
    "word_dimensions": 6,
    "universal_dimensions": 10,
    "state_dimensions": 12,
    "picture_dimensions": 14,
    "vectors": "random",
}
NAMES = ["par_embn", "mule"]
CAPTIONS = [
    (3, "en", "a very long caption of a picture that no batch here has"),
    (0, "de", "hund"),
    (0, "de", "ein alter hund"),
    (0, "en", "dog"),
    (1, "de", "baum"),
    (1, "en", "an old tree"),
    (1, "en", "tree"),
    (2, "en", "cat"),
    (2, "en", "a cat sleeps"),
]
# Pictures; German, twice; English, twice. Picture 2 has no German caption, others lack a second one.
ROWS = torch.tensor([[0, 1, 2], [1, 4, -1], [2, -1, -1], [3, 5, 7], [-1, 6, 8]])


def made(name: str, **settings: Any) -> System:
    return systems.make({"name": name, **SIZES, **settings})


def small_dataset() -> Dataset:
    owners, languages, texts = zip(*CAPTIONS, strict=True)
    corpus = Corpus(
        name="small",
        pictures=np.array(["p0", "p1", "p2", "p3"]),
        splits=np.array(["train"] * 4),
        owners=np.array(owners),
        languages=np.array(languages),
        texts=list(texts),
        origins=np.array(["human"] * len(texts)),
    )
    return dataset_of(corpus)


def small_data(system: System) -> tuple[Encoders, TrainingData]:
    torch.manual_seed(0)
    plan = planned(values_of(system), small_dataset())
    return plan.encoders, plan.data


def values_of(system: System) -> dict[str, Any]:
    return {"name": system.name, **system.settings.model_dump()}


def loss(
    system: System,
    encoders: Encoders,
    data: TrainingData,
    rows: Tensor,
    kind: str = "every",
    step: int = 0,
    **training: Any,
) -> Tensor:
    """As if triplets were hard from the first step on, unless the training is told."""
    longest = int(data.lengths[rows[1:][rows[1:] >= 0].numpy()].max())
    with torch.random.fork_rng():
        found = planned({**values_of(system), **({} if training else {"easy_epochs": 0})}, small_dataset(), training)
    return found.stage.loss(encoders, data, DeviceBatch(kind, rows, longest, torch.tensor(float(step))))


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
@pytest.mark.parametrize("name", NAMES)
def test_the_loss_is_the_sum_of_its_parts(name: str, distance: Any) -> None:
    """Each caption and picture encoded by itself, language by language; the parts have slow twins of their own."""
    system = made(name, distance=distance, margin=0.3, most_violated=3, picture_weight=2.0, neighbourhood_weight=0.7)
    encoders, data = small_data(system)
    encoders.eval()
    words: Any = encoders.text.words
    seen = torch.cat([encoders.picture(data.features[[picture]]) for picture in ROWS[0].tolist()])
    lines = torch.stack([torch.cat([ROWS[1], ROWS[2]]), torch.cat([ROWS[3], ROWS[4]])])
    real = lines >= 0
    vectors, averages = torch.zeros(2, 6, 16), torch.zeros(2, 6, 10)
    for language, place in real.nonzero().tolist():
        row = int(lines[language, place])
        ids = data.ids[[row], : data.lengths[row]]
        vectors[language, place] = encoders.text(ids, data.device_lengths[[row]])[0]
        averages[language, place] = words(ids)[0].mean(dim=0)

    # A mean over the anchors of both languages that kept three triplets each, or what they have.
    same = torch.arange(6)[:, None] % 3 == torch.arange(3)
    right, wrong = same & real[..., None], ~same & real[..., None]
    apart = distances(vectors, seen, distance)
    expected = 1.5 * worst_triplets(apart, right, wrong, 0.3, 3, 6)
    expected = expected + 2.0 * worst_triplets(apart.mT, right.mT, wrong.mT, 0.3, 3, 6)
    expected = expected + 0.7 * neighbourhood(vectors, real, 3, 0.3, 3, distance)
    if name == "mule":
        adversary: Any = encoders.adversary
        expected = expected + 0.7 * neighbourhood(averages, real, 3, 0.3, 3, distance)
        expected = expected + cross_entropy(adversary(averages[real]), real.nonzero()[:, 0])
    assert loss(system, encoders, data, ROWS).item() == pytest.approx(expected.item(), abs=1e-5)


def test_a_picture_with_a_caption_of_the_same_words_is_no_wrong_one() -> None:
    """Pictures 0 and 2 of the batch are both called "dog": its caption and the other picture are no triplet's ends."""
    system = made("mule", margin=0.3, most_violated=3, easy_epochs=0, mask_false_negatives=True)
    encoders, data = small_data(system)
    texts = data.device_texts.clone()
    texts[7] = texts[3]  # caption 7, of picture 2, says what caption 3, of picture 0, says
    alike = replace(data, device_texts=texts)
    own = cast(TwoBranchSettings, system.settings)
    masking, plain = TwoBranchLoss(own, texts=picture_texts(alike)), TwoBranchLoss(own)
    batch = DeviceBatch("every", ROWS, int(data.lengths.max()), torch.tensor(0.0))
    shared = masking.shared(alike, batch)
    assert shared is not None and plain.shared(alike, batch) is None
    lines = torch.stack([torch.cat([ROWS[1], ROWS[2]]), torch.cat([ROWS[3], ROWS[4]])])
    expected = torch.tensor(
        [[[int(texts[row]) in texts[data.owners == of] for of in (0, 1, 2)] for row in line] for line in lines.tolist()]
    )
    assert torch.equal(shared[lines >= 0], expected[lines >= 0])
    assert shared[1, 0].tolist() == [True, False, True] == shared[1, 2].tolist()
    encoders.eval()
    assert masking(encoders, alike, batch).item() != plain(encoders, alike, batch).item()
    ids, lengths, real = masking.captions(alike, batch)
    seen, vectors = encoders.picture(alike.features[ROWS[0]]), text_of(encoders).read(ids, lengths)[1]
    right = (torch.arange(6)[:, None] % 3 == torch.arange(3)) & real[..., None]
    wrong, apart = ~(torch.arange(6)[:, None] % 3 == torch.arange(3)) & ~shared & real[..., None], 1 - vectors @ seen.T
    by_caption = 1.5 * worst_triplets(apart, right, wrong, 0.3, 3, 6)
    by_hand = by_caption + worst_triplets(apart.mT, right.mT, wrong.mT, 0.3, 3, 6)
    found = masking.matching(seen, vectors, real, batch.step, shared)
    assert found.item() == pytest.approx(by_hand.item(), abs=1e-6)


@pytest.mark.parametrize("name", ["embn", "mule", "smalr"])
def test_false_negatives_are_masked_in_trainings(name: str, world: Dataset, tmp_path: Path) -> None:
    languages = ["en"] if name == "embn" else ["en", "de"]
    values = {"name": name, **SIZES, "mask_false_negatives": True, "align_epochs": 1}
    values.pop("align_epochs") if name == "embn" else None
    if name == "smalr":
        values |= {"own_words": 2, "own_dimensions": 4, "latent": {"tokens": 4, "epochs": 1}}
    training = {"maximum_steps": 8, "validate_every": 8, "batch_size": 16}
    run = train(make_recipe(system=values, training=training), world.only(languages), tmp_path / "run", device="cpu")
    assert run.finished


@pytest.mark.parametrize("name", NAMES)
def test_triplets_turn_from_all_to_the_most_violated_after_alignment(name: str) -> None:
    """Of all captions and pictures of the batch at first, in a straight line over the passes after alignment."""
    changes: dict[str, Any] = {"margin": 0.3, "easy_epochs": 4}
    aligned = {"align_epochs": 3} if name == "mule" else {}
    systems_ = [made(name, most_violated=most, **aligned, **changes) for most in (1, 100)]
    begin = 2 * 3 if aligned else 0  # two batches of two pictures are a pass
    losses = {}
    for system in systems_:
        torch.manual_seed(3)
        encoders, data = small_data(system)
        encoders.eval()
        for step in (0, begin, begin + 2, begin + 8, begin + 100):
            found = loss(system, encoders, data, ROWS, step=step, batch_size=2)
            losses[system.settings.most_violated, step] = found.item()
    one, every = ({step - begin: x for (kept, step), x in losses.items() if kept == most} for most in (1, 100))
    between = {step: every[step] - one[step] for step in (0, 2, 8, 100)}
    # Neighbourhoods keep `most_violated` throughout; what differs in the end is they and the triplets with pictures.
    assert between[100] == pytest.approx(between[8])
    change = between[8] - between[0]
    assert abs(change) > 1e-3
    assert between[2] - between[0] == pytest.approx(change / 4, abs=1e-6)
    if begin:
        assert losses[1, 0] == pytest.approx(losses[1, begin])


@pytest.mark.parametrize("kind", ["align", "every"])
@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_pictures_and_what_stands_in_empty_places_do_not_matter(name: str, kind: str) -> None:
    system = made(name)
    encoders, data = small_data(system)
    encoders.eval()
    expected = loss(system, encoders, data, ROWS, kind).item()
    for order in ([2, 0, 1], [1, 0, 2]):
        assert loss(system, encoders, data, ROWS[:, order], kind).item() == pytest.approx(expected, abs=1e-6)
    data.ids[0] = 1  # what an empty place happens to read
    assert loss(system, encoders, data, ROWS, kind).item() == pytest.approx(expected, abs=1e-6)


def test_alignment_alone_moves_the_maps_and_the_classifier_only() -> None:
    system = made("mule", adversary=1.0)
    encoders, data = small_data(system)
    loss(system, encoders, data, ROWS, "align", step=5, maximum_steps=10).backward()
    moved = {name for name, weight in encoders.named_parameters() if weight.grad is not None and weight.grad.any()}
    maps = {f"text.words.universal.{number}.{part}" for number in (0, 1) for part in ("weight", "bias")}
    assert moved == maps | {"adversary.weight", "adversary.bias"}
    loss(system, encoders, data, ROWS, "every", step=5, maximum_steps=10).backward()
    assert all(weight.grad is not None and weight.grad.any() for weight in encoders.parameters())


def test_the_adversary_grows_with_the_steps_of_the_training() -> None:
    """The maps' gradient from the classifier alone: none at first, turned round, and strongest at the last step."""
    system = made("mule", adversary=1.0, neighbourhood_weight=0.0)
    encoders, data = small_data(system)
    maps: Any = encoders.text.words.universal

    def gradient(step: int) -> Tensor:
        found = loss(system, encoders, data, ROWS, "align", step, maximum_steps=100)
        return torch.autograd.grad(found, maps[0].weight)[0]

    assert not gradient(0).any()
    assert torch.allclose(gradient(10), 0.462117 / 0.999909 * gradient(100), atol=1e-6)
    downhill = gradient(100)
    with torch.no_grad():
        before = loss(system, encoders, data, ROWS, "align")
        maps[0].weight -= 0.01 * downhill
        assert loss(system, encoders, data, ROWS, "align") > before  # harder to guess


def test_word_vectors_are_pulled_to_where_they_began(own_cache: Path) -> None:
    pytest.importorskip("gensim")
    system = made("mule", vectors="captions", pull_weight=0.5)
    encoders, data = small_data(system)
    encoders.eval()
    words: Any = encoders.text.words
    before = loss(system, encoders, data, ROWS).item()
    free = systems.make({**system.settings.model_dump(), "pull_weight": 0.0})
    assert loss(free, encoders, data, ROWS).item() == pytest.approx(before, abs=1e-6)
    with torch.no_grad():
        words.table += 0.1
    far = 0.5 * 0.5 * 0.01 * words.table.numel()
    assert (loss(system, encoders, data, ROWS) - loss(free, encoders, data, ROWS)).item() == pytest.approx(
        far, rel=1e-3
    )
    assert loss(free, encoders, data, ROWS, "align").item() == loss(system, encoders, data, ROWS, "align").item()


QUICK = {
    "dimensions": 24,
    "word_dimensions": 12,
    "universal_dimensions": 24,
    "state_dimensions": 24,
    "picture_dimensions": 64,
    "vectors": "random",
}
FAST = {"maximum_steps": 100, "learning_rate": 1e-2}


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_are_learned(name: str, world: Dataset, tmp_path: Path) -> None:
    system = {"name": name, **QUICK, **({"align_epochs": 3} if name == "mule" else {})}
    train(make_recipe(system=system, training=FAST), world, tmp_path / "run", device="cpu")
    model = TrainedModel.load(tmp_path / "run")
    found = evaluate_retrieval(model, world, "test").result.to_json()["languages"]
    assert all(found[code]["mR"] > 80 for code in ("de", "en")), found  # by chance 16
    mixed = model.encode_text([ENGLISH[0], GERMAN[0], ENGLISH[1]], ["en", "de", "en"])
    assert np.allclose(mixed[1], model.encode_text([GERMAN[0]], "de")[0], atol=1e-6)
    assert mixed[0] @ mixed[1] > mixed[2] @ mixed[1]  # a dog is a Hund rather than a cat
    with pytest.raises(UserError, match=r'this model reads de, en, not "fr"'):
        model.encode_text(["chien"], "fr")


def test_one_language(world: Dataset, tmp_path: Path) -> None:
    recipe = make_recipe(system={"name": "embn", **QUICK}, training=FAST)
    with pytest.raises(UserError, match="embn learns one language, and there are de, en"):
        train(recipe, world, tmp_path / "both", device="cpu")
    german = world.only(["de"])
    train(recipe, german, tmp_path / "run", device="cpu")
    model = TrainedModel.load(tmp_path / "run")
    assert evaluate_retrieval(model, german, "test").result.to_json()["languages"]["de"]["mR"] > 80
    names = {part.name for part in count_model(model)}  # a model that reads no English can be counted, too
    assert "language classifier" not in names


@pytest.mark.parametrize("name", NAMES)
def test_a_stopped_training_goes_on_exactly(
    name: str, world: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after 15 steps, before alignment ends at step 21; dropout goes on where it was, and words are pulled to
    where they began."""
    for code, words in (("de", GERMAN), ("en", ENGLISH)):
        matrix = np.random.default_rng(0).standard_normal((10, 7)).astype(np.float32)
        storage.write(tmp_path / f"{code}.safetensors", WordVectors(tuple(words), matrix))
    system = {"name": name, **QUICK, "vectors": str(tmp_path / "{language}.safetensors"), "pull_weight": 0.01}
    if name == "mule":
        system["align_epochs"] = 7
    recipe = make_recipe(system=system, training={**FAST, "maximum_steps": 45})
    resumed = assert_goes_on_exactly(recipe, world, tmp_path, monkeypatch)
    assert load_file(resumed.weights_file)["text.words.table"].shape == (23, 7)  # a file's vectors have their own size
    assert TrainedModel.load(resumed.folder).encode_text(["hund"], "de").shape == (1, 24)


def model_of(world: Dataset, name: str, **settings: Any) -> TrainedModel:
    plan = planned(values_of(made(name, **settings)), world.split("train"))
    return TrainedModel(make_recipe(), plan.system, plan.tokeniser, plan.encoders, torch.device("cpu"))


@pytest.mark.parametrize(("name", "branches"), [("mule", 1), ("par_embn", 2)])
def test_parameters_by_hand(name: str, branches: int, world: Dataset) -> None:
    """20 words, nothing twice, and padding; every language's map counts, whatever caption is shown."""
    parts = {part.name: (part.trainable, part.test_time) for part in count_model(model_of(world, name))}
    expected = {
        "word table": 23 * 6,
        "maps to the universal embedding": 2 * (6 * 10 + 10),
        "sentence GRU": branches * 3 * 12 * (10 + 12 + 2),
        "sentence projection": branches * (12 * 16 + 16),
        "picture projection": 12 * 14 + 14 + 2 * 14 + 14 * 16 + 16,
    }
    classifier = {"language classifier": (10 * 2 + 2, 0)} if name == "mule" else {}
    assert parts == {key: (value, value) for key, value in expected.items()} | classifier


def test_a_smaller_vocabulary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROUNDLING_DATA", raising=False)
    world = make_world(60)
    assert model_of(world, "mule", pca=4).encoders.state_dict()["text.words.table"].shape == (23, 4)
    (tmp_path / "en-de.txt").write_text("\n".join(f"{a} {b}" for a, b in zip(ENGLISH, GERMAN, strict=True)))
    mapped = model_of(world, "mule", dictionary=10_000, dictionaries=str(tmp_path / "{base}-{language}.txt"))
    assert mapped.tokeniser.size == 1 + 1 + (1 + 10)  # German has no rows left but the one for nothing
    german, english = mapped.encode_text(["hund katze"], "de"), mapped.encode_text(["dog cat"], "en")
    assert np.array_equal(german, english)
    with pytest.raises(UserError, match=r"en-de\.dict\.gz: no such file"):
        model_of(world, "mule", dictionary=2)
    with pytest.raises(UserError, match='no training captions in "fr"'):
        model_of(world, "mule", dictionary=2, base="fr")


def test_sizes_and_a_base_that_cannot_be_are_named_before_anything_is_read(tmp_path: Path) -> None:
    part = make_world().split("train")
    with pytest.raises(UserError, match=r"system\.pca: word vectors of 6 dimensions cannot be reduced to 7"):
        made("mule", vectors="captions", pca=7).check(context({}, part))
    with pytest.raises(UserError, match=r'system\.base: no training captions in "ja"'):
        made("mule", dictionary=3, base="ja").check(context({}, part))


def test_a_vocabulary_of_no_words_is_refused() -> None:
    with pytest.raises(UserError, match=r"text\.minimum_count: no word of the training captions occurs 100000 times"):
        planned(values_of(made("mule")), make_world().split("train"), text={"minimum_count": 100_000})
