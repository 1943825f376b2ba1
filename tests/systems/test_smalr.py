"""LA, HEM and SMALR: words assigned before training, the loss put together by hand, and what they learn."""

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from conftest import ENGLISH, GERMAN, make_recipe, make_world
from groundling.batches import Batch, DeviceBatch, TrainingData
from groundling.batches.stage import Stage
from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.encoders.text.latent import LatentVocabulary
from groundling.encoders.tokenisers.by_language import LanguageTokeniser
from groundling.encoders.tokenisers.hybrid_vocabulary import Assignment
from groundling.evaluation.parameters import count_model
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.files import cache_folder
from groundling.model.trained import TrainedModel
from groundling.objectives import latent_words
from groundling.objectives.latent_words import LatentSettings, Pretraining, caption_loss, learn_tokens
from groundling.objectives.masked import completion, masked_words
from groundling.objectives.neighbourhood import neighbourhood
from groundling.objectives.same_words import picture_texts
from groundling.objectives.triplets import distances, worst_triplets
from groundling.run import Run
from groundling.settings import TextSettings
from groundling.systems import Plan, embedding_network, smalr
from groundling.training import loop, train
from groundling.training.checkpoint import Due
from groundling.training.step import EagerStep
from plans import dataset_of, plan
from power_cut import assert_goes_on_exactly, power_cut, same_weights

QUICK: dict[str, Any] = {
    "dimensions": 24,
    "word_dimensions": 12,
    "universal_dimensions": 24,
    "state_dimensions": 24,
    "picture_dimensions": 64,
    "vectors": "random",
    "latent": {"tokens": 12, "epochs": 5, "batch_size": 25, "learning_rate": 1e-2},
}
OWN = {"own_words": 4, "own_dimensions": 6}
NAMES = ["la", "hem", "smalr"]
pytestmark = pytest.mark.usefixtures("own_cache")


def settings_of(name: str, **changes: Any) -> dict[str, Any]:
    return {"name": name, **QUICK, **({} if name == "la" else OWN), **changes}


def tokeniser_of(values: dict[str, Any], world: Dataset, seed: int = 0) -> LanguageTokeniser:
    made = plan(values, world.split("train"), {"seed": seed}).tokeniser
    assert isinstance(made, LanguageTokeniser)
    return made


def learn(stage: Stage) -> None:
    loop.fit(Run(Path()), stage, Path("no checkpoint"), Due(math.inf))


def test_frequent_words_keep_a_row_and_the_others_are_tokens(world: Dataset) -> None:
    hem = tokeniser_of(settings_of("hem"), world)
    texts = np.array(world.split("train").corpus.texts)
    for code, words in (("de", GERMAN), ("en", ENGLISH)):
        counts = {word: sum(f" {word} " in f" {text} " for text in texts) for word in words}
        frequent = sorted(words, key=lambda word: (-counts[word], word))
        assert list(hem.vocabularies[code]) == frequent[:4]
        assert list(hem.latent[code]) == frequent[4:]
    used = {number for numbers in hem.latent.values() for number in numbers.values()}
    assert used == set(range(hem.tokens))  # none is left that no word has
    assert hem.size == 1 + 2 * (1 + 4) + hem.tokens
    assert hem.latent_start is not None and hem.latent_start.shape == (hem.tokens, 24)
    again = LanguageTokeniser.from_json(hem.to_json())
    assert (again.rows, again.size) == (hem.rows, hem.size)

    la = tokeniser_of(settings_of("la"), world)
    assert not any(la.vocabularies.values())
    assert la.tokens <= 12
    for code in ("de", "en"):  # learned once for all words, so that a rare one has the same token with LA and with HEM
        for one in hem.latent[code]:
            for other in hem.latent[code]:
                together = hem.latent[code][one] == hem.latent[code][other]
                assert together == (la.latent[code][one] == la.latent[code][other])


def test_no_rare_words_need_no_pretraining(world: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_network, "assign", None)
    made = plan(settings_of("hem", own_words=10), world.split("train"))
    assert isinstance(made.tokeniser, LanguageTokeniser) and made.tokeniser.tokens == 0
    assert "text.words.latent" not in made.encoders.state_dict()


def pretraining_data(pictures: int = 300) -> tuple[TrainingData, LanguageTokeniser, Tensor]:
    corpus = make_world(pictures).split("train").corpus
    words = {"de": tuple(GERMAN), "en": tuple(ENGLISH)}
    tokeniser = LanguageTokeniser(words, TextSettings(minimum_count=1), 12)
    data = TrainingData.build(corpus, np.zeros((len(corpus.pictures), 1), np.float32), tokeniser, torch.device("cpu"))
    return data, tokeniser, torch.randn(tokeniser.size, 12, generator=torch.Generator().manual_seed(0))


def test_the_loss_of_pretraining_by_hand() -> None:
    data, tokeniser, vectors = pretraining_data()
    torch.manual_seed(0)
    latent = LatentVocabulary(vectors, tokeniser.bounds, 9, 5, exploration=0.0)
    how = Pretraining(LatentSettings(), 5, 2, 0.3, 4, 0)
    # Captions of pictures 0, 1 and 2: the world has two English ones, then two German ones of each.
    rows = torch.tensor([[0, 1, 2], [2, 6, 10], [3, -1, 11], [0, 4, 8], [1, 5, -1]])
    means, numbers = torch.zeros(2, 6, 5), latent.assignments()
    for language in range(2):
        for place in range(6):
            row = int(rows[1 + 2 * language + place // 3, place % 3])
            ids = data.ids[row, : data.lengths[row]].long()
            means[language, place] = latent.latent[numbers[ids]].mean(dim=0)
    real = torch.stack([rows[1:3].flatten(), rows[3:].flatten()]) >= 0
    expected = neighbourhood(means, real, 3, 0.3, 4)
    batch = DeviceBatch("every", rows, int(data.lengths.max()), torch.zeros(()))
    assert caption_loss(how, None, latent, data, batch).item() == pytest.approx(expected.item())
    # Caption 8, of picture 2, says what caption 0, of picture 0, says: pictures 0 and 2 are no strangers to either.
    texts = data.device_texts.clone()
    texts[8] = texts[0]
    alike = replace(data, device_texts=texts)
    lines = torch.stack([rows[1:3].flatten(), rows[3:].flatten()])
    shared = torch.tensor(
        [[[int(texts[row]) in texts[data.owners == of] for of in range(3)] for row in line] for line in lines.tolist()]
    )
    spared = neighbourhood(means, real, 3, 0.3, 4, shared=shared)
    assert abs(spared.item() - expected.item()) > 1e-2
    assert caption_loss(how, picture_texts(alike), latent, alike, batch).item() == pytest.approx(spared.item())


def test_trainings_side_by_side_take_the_first_assignment(world: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another training ends its own, from which this one's differs as on a GPU, while this one is still learning."""
    by_another = tokeniser_of(settings_of("hem"), world).latent
    learned = learn_tokens

    def slower(*given: Any) -> Assignment:
        found = learned(*given)
        for file, kept in files.items():
            file.write_bytes(kept)
        return Assignment(found.numbers[::-1].copy(), found.vectors)

    files = {file: file.read_bytes() for file in (cache_folder() / "words").glob("latent-*.safetensors")}
    for file in files:
        file.unlink()
    monkeypatch.setattr(latent_words, "learn_tokens", slower)
    assert tokeniser_of(settings_of("hem"), world).latent == by_another


@pytest.mark.parametrize("mask", [False, True])
def test_pretraining_masks_what_its_system_masks(mask: bool, world: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    told = []

    def caught(how: Pretraining, texts: Tensor | None, *rest: Any) -> Tensor:
        told.append((how.mask_false_negatives, texts is not None))
        return caption_loss(how, texts, *rest)

    monkeypatch.setattr(latent_words, "caption_loss", caught)
    tokeniser_of(settings_of("hem", mask_false_negatives=mask), world)
    assert set(told) == {(mask, mask)}


def test_pretraining_brings_translations_together() -> None:
    """From word vectors that know nothing of each other; the same whatever was drawn before."""
    data, tokeniser, vectors = pretraining_data()
    how = Pretraining(LatentSettings(tokens=30, epochs=20, batch_size=50, learning_rate=1e-2), 16, 2, 0.2, 10, 0)
    state = torch.get_rng_state()
    found = learn_tokens(data, vectors, tokeniser.bounds, how, learn)
    assert torch.equal(state, torch.get_rng_state())
    torch.rand(3)
    assert np.array_equal(found.numbers, learn_tokens(data, vectors, tokeniser.bounds, how, learn).numbers)
    assert set(found.numbers.tolist()) == set(range(len(found.vectors)))
    unit = found.vectors / np.linalg.norm(found.vectors, axis=1, keepdims=True)
    german, english = (
        unit[found.numbers[[tokeniser.rows[c][w] for w in ws]]] for c, ws in (("de", GERMAN), ("en", ENGLISH))
    )
    alike = german @ english.T
    assert (alike.argmax(axis=1) == np.arange(10)).sum() >= 8  # by chance one
    assert alike.diagonal().mean() > 0.5 > alike.mean() + 0.3


def test_pretraining_is_done_once(world: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    first = tokeniser_of(settings_of("hem"), world)
    with monkeypatch.context() as patch:
        patch.setattr(latent_words, "learn_tokens", None)
        again = tokeniser_of(settings_of("smalr", own_words=3), world)
    assert {word: first.latent["en"][word] for word in first.latent["en"]}.keys() < again.latent["en"].keys()
    with monkeypatch.context() as patch, pytest.raises(TypeError):
        patch.setattr(latent_words, "learn_tokens", None)
        tokeniser_of(settings_of("hem"), world, seed=1)


ROWS = torch.tensor([[0, 1, 2], [2, 6, -1], [3, -1, -1], [0, 4, 8], [-1, 5, 9]])


def small(name: str, world: Dataset, **changes: Any) -> Plan:
    torch.manual_seed(0)
    return plan(settings_of(name, **changes), world.split("train"))


@pytest.mark.parametrize("kind", ["align", "every"])
def test_the_loss_of_smalr_is_the_sum_of_its_parts(kind: str, world: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = {"margin": 0.3, "neighbourhood_weight": 0.7, "mask_weight": 0.6, "masked_matching": 0.9, "mask": 0.4}
    made = small("smalr", world, easy_epochs=0, **changes)
    encoders: Any = made.encoders.eval()
    data = made.data
    with torch.no_grad():
        encoders.mask.normal_()
    longest = int(data.lengths.max())
    noise = torch.rand(2, 6, longest)
    monkeypatch.setattr(
        smalr, "masked_words", lambda lengths, longest, share: masked_words(lengths, longest, share, noise)
    )
    found = made.stage.loss(encoders, data, DeviceBatch(kind, ROWS, longest, torch.tensor(0.0)))

    lines = torch.stack([ROWS[1:3].flatten(), ROWS[3:].flatten()])
    real = lines >= 0
    means, masked_means, vectors, masked = (torch.zeros(2, 6, 24) for _ in range(4))
    for language, place in real.nonzero().tolist():
        row = int(lines[language, place])
        length = data.device_lengths[[row]]
        hidden = masked_words(length, longest, 0.4, noise[language, place][None])[0, : int(length)]
        words = encoders.text.words(data.ids[[row], : int(length)])[0]
        means[language, place], masked_means[language, place] = words.mean(dim=0), words[~hidden].mean(dim=0)
        vectors[language, place] = encoders.text.sentences(words[None, None], length[None])[0, 0]
        replaced = torch.where(hidden[:, None], encoders.mask, words)
        masked[language, place] = encoders.text.sentences(replaced[None, None], length[None])[0, 0]

    def matching(captions: Tensor) -> Tensor:
        same = torch.arange(6)[:, None] % 3 == torch.arange(3)
        right, wrong = same & real[..., None], ~same & real[..., None]
        apart = distances(captions, encoders.picture(data.features[ROWS[0]]))
        by_caption = worst_triplets(apart, right, wrong, 0.3, 10, 1)
        return 1.5 * by_caption + worst_triplets(apart.mT, right.mT, wrong.mT, 0.3, 10, 2)

    def guess(view: Tensor, whole: Tensor, layer: torch.nn.Linear) -> Tensor:
        return 0.6 * completion(view, whole, real, layer.weight, layer.bias)

    expected = torch.nn.functional.cross_entropy(encoders.adversary(means[real]), real.nonzero()[:, 0])
    expected = expected + 0.7 * neighbourhood(means, real, 3, 0.3) + guess(masked_means, means, encoders.complete_means)
    if kind == "every":
        expected = expected + guess(masked, vectors, encoders.complete_sentences)
        expected = expected + matching(vectors) + 0.9 * matching(masked) + 0.7 * neighbourhood(vectors, real, 3, 0.3)
    assert found.item() == pytest.approx(expected.item(), abs=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_are_learned(name: str, world: Dataset, tmp_path: Path) -> None:
    recipe = make_recipe(system=settings_of(name), training={"maximum_steps": 100, "learning_rate": 1e-2})
    train(recipe, world, tmp_path / "run", device="cpu")
    model = TrainedModel.load(tmp_path / "run")
    found = evaluate_retrieval(model, world, "test").result.to_json()["languages"]
    assert all(found[code]["mR"] > 70 for code in ("de", "en")), found  # by chance 16


@pytest.mark.parametrize("name", ["la", "smalr"])
def test_a_stopped_training_goes_on_exactly(
    name: str, world: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the tokens it began with, though they could not be learned again; masks go on where they were."""
    system = settings_of(name, align_epochs=7)
    recipe = make_recipe(system=system, training={"maximum_steps": 45, "learning_rate": 1e-2})
    meanwhile = partial(monkeypatch.setattr, embedding_network, "assign", None)
    assert_goes_on_exactly(recipe, world, tmp_path, monkeypatch, meanwhile=meanwhile)


def test_a_training_that_was_stopped_while_words_were_assigned_goes_on_exactly(
    world: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after 15 of 20 steps of the stage that comes before the model, whose result is in no cache yet."""
    monkeypatch.setattr(loop, "LOG_EVERY", 15)
    recipe = make_recipe(system=settings_of("hem"), training={"maximum_steps": 20, "learning_rate": 1e-2})
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "one"))
    whole = train(recipe, world, tmp_path / "whole", device="cpu")
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "other"))
    with power_cut(monkeypatch):
        train(recipe, world, tmp_path / "cut", device="cpu", checkpoint_seconds=0)
    stopped = Run(tmp_path / "cut")
    assert stopped.stage_checkpoint("latent words").exists()
    assert not stopped.tokeniser_file.exists() and not list((tmp_path / "other").rglob("latent-*"))
    torch.manual_seed(999)
    steps: list[int] = []
    step = EagerStep.__call__

    def counted(self: EagerStep, batch: Batch, number: int) -> Tensor:
        steps.append(number)
        return step(self, batch, number)

    monkeypatch.setattr(EagerStep, "__call__", counted)
    resumed = train(recipe, world, tmp_path / "cut", resume=True, device="cpu")
    assert steps == [*range(15, 20), *range(20)]
    assert same_weights(whole, resumed)
    assert not list(resumed.folder.glob("checkpoint*"))


@pytest.mark.parametrize("name", NAMES)
def test_parameters_by_hand(name: str, world: Dataset) -> None:
    made = small(name, world)
    tokeniser: Any = made.tokeniser
    model = TrainedModel(make_recipe(), made.system, tokeniser, made.encoders, torch.device("cpu"))
    parts = {part.name: (part.trainable, part.test_time) for part in count_model(model)}
    expected = {
        "latent tokens": 24 * (tokeniser.tokens + (2 if name == "la" else 0)),
        "sentence GRU": 3 * 24 * (24 + 24 + 2),
        "sentence projection": 24 * 24 + 24,
        "picture projection": 12 * 64 + 64 + 2 * 64 + 64 * 24 + 24,
    }
    if name != "la":
        expected |= {"word table": 6 * (1 + 2 * 5), "maps to the universal embedding": 2 * (6 * 24 + 24)}
    training = {"language classifier": 24 * 2 + 2}
    if name == "smalr":
        training["masked language model"] = 24 + 2 * (48 * 48 + 48)
    both = {key: (value, value) for key, value in expected.items()}
    assert parts == both | {key: (value, 0) for key, value in training.items()}


def test_principal_components_of_frequent_words(tmp_path: Path, world: Dataset) -> None:
    """Taken over all words of a language, in files below the data folder."""
    from dataclasses import replace

    from groundling.words import WordVectors, storage
    from groundling.words.reduction import reduce

    tables = {}
    for code, words in (("de", GERMAN), ("en", ENGLISH)):
        matrix = np.random.default_rng(len(code)).standard_normal((10, 7)).astype(np.float32)
        tables[code] = WordVectors(tuple(words), matrix)
        storage.write(tmp_path / "vectors" / f"{code}.safetensors", tables[code])
    values = settings_of("hem", vectors="vectors/{language}.safetensors")
    made = tokeniser_of(values, replace(world, data=tmp_path))
    assert made.start is not None and made.start.shape == (11, 6)
    for code in ("de", "en"):
        small_vectors = reduce(tables[code], 6)[0]
        for word in made.vocabularies[code]:
            expected = small_vectors.vector(word)
            assert expected is not None
            assert np.allclose(np.abs(made.start[made.rows[code][word]]), np.abs(expected), atol=1e-4)


def test_one_language_with_one_caption_has_nothing_to_align(tmp_path: Path) -> None:
    corpus = Corpus(
        name="one",
        pictures=np.array(["p0", "p1"]),
        splits=np.array(["train", "train"]),
        owners=np.array([0, 1]),
        languages=np.array(["en", "en"]),
        texts=["a dog", "a cat"],
        origins=np.array(["human", "human"]),
    )
    made = plan(settings_of("la"), dataset_of(corpus)).tokeniser
    assert isinstance(made, LanguageTokeniser)
    assert len(made.latent["en"]) == 3
