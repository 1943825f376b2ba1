"""LIWE and CLMR: their loss written out slowly, what they learn, what they keep, and that they go on exactly."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from conftest import make_recipe
from groundling import systems
from groundling.batches import DeviceBatch, LanguageSampler, TrainingData
from groundling.batches.base_language import BaseLanguageSampler
from groundling.batches.stage import Loss
from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.encoders.tokenisers.characters import CharacterTokeniser
from groundling.errors import UserError
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.files import read_json
from groundling.model import Model
from groundling.objectives import HardeningHinges, MaxOfHinges, SumOfHinges
from groundling.systems import Encoders
from groundling.systems.liwe import LIWESettings
from groundling.training import train
from plans import dataset_of, plan
from power_cut import assert_goes_on_exactly

SMALL: dict[str, Any] = {"dimensions": 24, "word_dimensions": 12}
LIWE: dict[str, Any] = {"name": "liwe", "character_dimensions": 6, "layers": [32, 16], **SMALL}
VARIANTS: dict[str, dict[str, Any]] = {
    "clmr": {"name": "clmr", **SMALL},
    "liwe": LIWE,
    "charGRU": {**LIWE, "words": "charGRU"},
}


def corpus_of(rows: list[tuple[int, str, str]]) -> Corpus:
    owners, languages, texts = zip(*rows, strict=True)
    count = max(owners) + 1
    return Corpus(
        name="small",
        pictures=np.array([f"p{n}" for n in range(count)]),
        splits=np.array(["train"] * count),
        owners=np.array(owners),
        languages=np.array(languages),
        texts=list(texts),
        origins=np.array(["human"] * len(texts)),
    )


CORPUS = corpus_of(
    [
        (picture, code, text)
        for picture, texts in enumerate([("a dog", "ein hund"), ("old tree", "baum"), ("cat", "eine katze da")])
        for code, text in zip(("en", "de"), texts, strict=True)
    ]
)


def hinges(margin: float, rate: float, pair_rate: float) -> dict[str, Any]:
    return {"objective": {"margin": margin, "rate": rate}, "pair_objective": {"margin": margin, "rate": pair_rate}}


def assembled(values: dict[str, Any]) -> tuple[Loss, Encoders, TrainingData]:
    torch.manual_seed(0)
    made = plan(values, dataset_of(CORPUS))
    return made.stage.loss, made.encoders.eval(), made.data


def loss_of(loss: Loss, encoders: Encoders, data: TrainingData, kind: str, rows: Any, step: int) -> Tensor:
    captions = [line for place, line in enumerate(rows) if kind == "caption" or place != 1]
    longest = int(data.lengths[captions].max())
    return loss(encoders, data, DeviceBatch(kind, torch.tensor(rows), longest, torch.tensor(float(step))))


@pytest.mark.parametrize("step", [0, 30])
@pytest.mark.parametrize("name", VARIANTS)
def test_the_loss_is_that_of_sides_encoded_one_by_one(name: str, step: int) -> None:
    own = {**VARIANTS[name], **hinges(0.3, 0.98, 0.9)}
    loss, encoders, data = assembled(own)

    def caption(row: int) -> Tensor:
        rows = torch.tensor([row])
        return encoders.text(*data.captions(rows, int(data.lengths[row])))[0]

    def slow(left: Tensor, right: Tensor, rate: float) -> Tensor:
        k = 1 - rate ** (step + 1)
        scores = left @ right.T
        return (1 - k) * SumOfHinges(margin=0.3)(scores) + k * MaxOfHinges(margin=0.3)(scores)

    # English captions 0, 2, 4 with their pictures; the German ones are 1, 3, 5.
    english = torch.stack([caption(row) for row in (0, 2, 4)])
    german = torch.stack([caption(row) for row in (1, 3, 5)])
    against_pictures = slow(english, encoders.picture(data.features), 0.98)
    turned = [2, 0, 1]  # pairs in another order than the pictures
    between_captions = slow(english[turned], german[turned], 0.9)
    pictures, pairs = [[0, 2, 4], [0, 1, 2]], [[4, 0, 2], [5, 1, 3]]
    for kind, rows, expected in (
        ("picture", pictures, against_pictures),
        ("caption", pairs, between_captions),
        ("base", pictures + pairs, against_pictures + between_captions),
        ("base", pictures + pairs + pairs, against_pictures + 2 * between_captions),  # every_other
    ):
        assert torch.allclose(loss_of(loss, encoders, data, kind, rows, step), expected, atol=1e-5), kind


def test_pairs_that_match_in_truth_can_be_masked() -> None:
    own = {**LIWE, **hinges(3.0, 0.0, 0.0)}
    plain, encoders, data = assembled(own)
    masking = assembled({**own, "mask_false_negatives": True})[0]
    alone, twice = [[0], [0]], [[0, 0], [0, 0]]  # a caption with its picture; the same one once more
    assert loss_of(plain, encoders, data, "picture", twice, 0) > 1
    for rows in (twice, alone):
        assert loss_of(masking, encoders, data, "picture", rows, 0) == 0
    pairs, mixed = [[0, 0], [1, 1]], [[0, 2], [1, 3]]  # of one picture; of two
    assert loss_of(masking, encoders, data, "caption", pairs, 0) == 0
    expected = loss_of(plain, encoders, data, "caption", mixed, 0)
    assert loss_of(masking, encoders, data, "caption", mixed, 0) == expected > 0


def test_languages_that_take_turns_are_as_old_as_their_own_steps() -> None:
    own = {**LIWE, **hinges(0.3, 0.991, 0.91), "caption_pairs_after": 10}
    one_base, encoders, data = assembled(own)
    turns = assembled({**own, "sampling": "lessons"})[0]
    pictures, pairs = [[0, 2, 4], [0, 1, 2]], [[4, 0, 2], [5, 1, 3]]
    for kind, rows, start in (("picture", pictures, 0), ("caption", pairs, 10)):
        for age in (0, 3, 30):
            step = start + 2 * age  # of two languages
            assert loss_of(turns, encoders, data, kind, rows, step) == loss_of(
                one_base, encoders, data, kind, rows, age
            )
    assert loss_of(turns, encoders, data, "caption", pairs, 4) == loss_of(turns, encoders, data, "caption", pairs, 10)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_parameter_learns_from_a_step(name: str) -> None:
    loss, encoders, data = assembled(VARIANTS[name])
    encoders.train()
    loss_of(loss, encoders, data, "base", [[0, 2, 4], [0, 1, 2], [0, 2, 4], [1, 3, 5]], 0).backward()
    for label, parameter in encoders.named_parameters():
        assert parameter.grad is not None, label
        assert parameter.grad.any(), label


def test_evaluation_advances_nothing() -> None:
    """Neither the hardness of the loss nor the statistics of the words."""
    loss, encoders, data = assembled(LIWE)
    before = {name: value.clone() for name, value in encoders.state_dict().items()}
    rows = [[0, 2, 4], [0, 1, 2], [0, 2, 4], [1, 3, 5]]
    with torch.no_grad():
        losses = [loss_of(loss, encoders, data, "base", rows, 5).item() for _ in range(3)]
    assert len(set(losses)) == 1
    assert all(torch.equal(value, before[name]) for name, value in encoders.state_dict().items())


def test_the_scores_are_float32_under_autocast() -> None:
    loss, encoders, data = assembled(LIWE)
    rows = torch.tensor([[0, 2, 4], [0, 1, 2]])
    with torch.autocast("cpu", torch.bfloat16):
        found = loss_of(loss, encoders, data, "picture", rows.tolist(), 0)
        left = encoders.text(*data.captions(rows[0], int(data.lengths[[0, 2, 4]].max())))
        right = encoders.picture(data.features[rows[1]])
    assert left.dtype == right.dtype == torch.float32
    k = 1 - 0.991
    expected = (1 - k) * SumOfHinges()(left @ right.T) + k * MaxOfHinges()(left @ right.T)
    assert torch.allclose(found, expected, atol=1e-5)


def test_samplings(world: Dataset) -> None:
    part = world.split("train")
    for sampling, kind in (("base", BaseLanguageSampler), ("lessons", LanguageSampler)):
        values = {**LIWE, "sampling": sampling, "base": "de", "caption_pairs_after": 0}
        sampler = plan(values, part, {"batch_size": 16}).stage.sampler
        assert isinstance(sampler, kind)
        kinds = {sampler.batch(step).kind for step in range(30)}
        assert kinds == ({"base"} if sampling == "base" else {"picture", "caption"})
    with pytest.raises(UserError, match=r'system.base: no training captions in "fr"'):
        plan({**LIWE, "base": "fr"}, part)


def test_one_language_alone_trains_against_pictures(world: Dataset) -> None:
    german = world.only(["de"]).split("train")
    for sampling in ("base", "lessons"):  # base: en, which is not there
        sampler = plan({**LIWE, "sampling": sampling}, german, {"batch_size": 16}).stage.sampler
        assert {sampler.batch(step).kind for step in range(20)} == {"picture"}


@pytest.mark.parametrize("name", [*VARIANTS, "lessons", "ends"])
def test_they_learn_the_world_in_both_languages(name: str, world: Dataset, tmp_path: Path) -> None:
    changed = {"lessons": {"sampling": "lessons", "caption_pairs_after": 10}, "ends": {"pooling": "ends"}}
    system = {**LIWE, **changed[name]} if name in changed else VARIANTS[name]
    recipe = make_recipe(system=system, training={"maximum_steps": 200, "validate_every": 50})
    run = train(recipe, world, tmp_path / "run", device="cpu")
    result = evaluate_retrieval(Model.load(run.folder, "cpu"), world).result.to_json()
    for code in ("en", "de"):  # 25 pictures: chance R@10 is 40. German is learned from English alone, but for lessons
        assert result["languages"][code]["text_to_image"]["R@10"] > 80, name


@pytest.mark.parametrize("name", VARIANTS)
def test_a_stopped_training_goes_on_exactly(
    name: str, world: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hardness of the loss, the statistics of the words and the place in the data are all part of it."""
    recipe = make_recipe(system=VARIANTS[name], training={"maximum_steps": 60})
    assert_goes_on_exactly(recipe, world, tmp_path, monkeypatch, after=2)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_model_gives_a_caption_one_vector_whatever_else_is_asked(name: str, world: Dataset, tmp_path: Path) -> None:
    recipe = make_recipe(system=VARIANTS[name], training={"maximum_steps": 20})
    run = train(recipe, world, tmp_path / "run", device="cpu")
    model, fresh = Model.load(run.folder, "cpu"), Model.load(run.folder, "cpu")
    long = " ".join(["horse tree house"] * 15)
    texts = ["dog tree", "cat", "собака", "a" * 40 + " dog", "", long]
    together = model.encode_text(texts, "en")
    again = model.encode_text(texts[::-1], "en")[::-1]  # words remembered
    alone = np.concatenate([fresh.encode_text([text], "en") for text in texts])
    small = fresh.encode_text(texts, "en", batch_size=2)
    for other in (again, alone, small):
        assert np.abs(together - other).max() < 1e-6
    tokens = model.tokeniser.encode(texts, ["en"] * len(texts))  # the encoder of training, every word spelled anew
    ids = torch.from_numpy(tokens.ids)
    entries = ids if tokens.spellings is None else torch.from_numpy(tokens.spellings)[ids.long()]
    with torch.inference_mode():
        direct = model.encoders.text(entries, torch.from_numpy(tokens.lengths)).numpy()
    assert np.abs(together - direct).max() < 1e-6


def test_what_was_cut_is_kept_with_the_run(world: Dataset, tmp_path: Path) -> None:
    recipe = make_recipe(system={**LIWE, "longest_word": 4}, training={"maximum_steps": 5})
    run = train(recipe, world, tmp_path / "run", device="cpu")
    saved = read_json(run.tokeniser_file)
    # house, horse; katze, sonne, fisch, vogel, pferd: of 20 words these have more than four letters
    assert (saved["cut"]["words"], saved["cut"]["of_words"]) == (7, 20)
    tokeniser = Model.load(run.folder, "cpu").tokeniser
    assert isinstance(tokeniser, CharacterTokeniser)
    assert tokeniser.cut.words == 7
    assert tokeniser.encode(["horse"], ["en"]).spellings.shape == (2, 4)  # type: ignore[union-attr]


def test_settings_and_their_mistakes() -> None:
    own = systems.make({"name": "liwe"}).settings
    assert isinstance(own, LIWESettings)
    assert (own.character_dimensions, own.layers, own.longest_word) == (24, [384, 384], 26)
    assert own.objective == HardeningHinges(margin=0.2, rate=0.991)
    assert own.pair_objective == HardeningHinges(margin=0.2, rate=0.91)
    for values, sentence in (
        ({"name": "clmr", "layers": [9]}, 'system clmr: unknown setting "layers"'),
        ({"name": "liwe", "layers": [0]}, "system liwe: layers.0: input should be greater than 0"),
        ({"name": "liwe", "sampling": "even"}, "system liwe: sampling: input should be 'base' or 'lessons'"),
        ({"name": "liwe", "objective": {"rate": 2}}, "objective hardening_hinges: rate: input should be less than"),
        ({"name": "liwe", "words": "cnn"}, "system liwe: words: input should be 'layers' or 'chargru'"),
    ):
        with pytest.raises(UserError) as error:
            systems.make(values)
        assert str(error.value).startswith(sentence)


def test_pairs_of_a_language_that_is_drawn_can_turn_hard_by_its_own_steps() -> None:
    """Of two other languages each has half of the steps; with all of them in every step there is nothing to share."""
    own = {**LIWE, **hinges(0.3, 0.991, 0.91)}
    _, encoders, data = assembled(own)
    three = replace(data, codes=("de", "en", "fr"))
    made = {
        key: systems.make({**own, **changes}).loss(None, three, None)  # type: ignore[arg-type]
        for key, changes in {
            "all": {},
            "own": {"pairs_turn_hard_by": "own_steps"},
            "each": {"pairs_turn_hard_by": "own_steps", "every_other": True},
        }.items()
    }
    assert {key: loss.drawn_from for key, loss in made.items()} == {"all": 1, "own": 2, "each": 1}  # type: ignore[attr-defined]
    pictures, pairs = [[0, 2, 4], [0, 1, 2]], [[4, 0, 2], [5, 1, 3]]
    found = loss_of(made["own"], encoders, data, "base", pictures + pairs, 20)
    of_pictures = loss_of(made["all"], encoders, data, "picture", pictures, 20)
    of_pairs = loss_of(made["all"], encoders, data, "caption", pairs, 10)
    assert torch.allclose(found, of_pictures + of_pairs, atol=1e-5)


def test_every_batch_of_pairs_can_count_as_in_the_released_code() -> None:
    """Its one criterion for all other languages counts calls. Of two others, when 20 steps are over, the pairs of the
    first turn hard by 40 calls that are over and those of the second by 41; pictures by 20."""
    own = {**LIWE, **hinges(0.3, 0.991, 0.91)}
    plain, encoders, data = assembled(own)
    counting = assembled({**own, "every_other": True, "pairs_turn_hard_by": "batches"})[0]
    pictures, pairs, others = [[0, 2, 4], [0, 1, 2]], [[4, 0, 2], [5, 1, 3]], [[0, 2, 4], [3, 5, 1]]
    expected = loss_of(plain, encoders, data, "picture", pictures, 20)
    expected += loss_of(plain, encoders, data, "caption", pairs, 40)
    expected += loss_of(plain, encoders, data, "caption", others, 41)
    assert torch.allclose(loss_of(counting, encoders, data, "base", pictures + pairs + others, 20), expected, atol=1e-5)
    alone = loss_of(counting, encoders, data, "base", pictures + pairs, 20)  # one other language: steps are counted
    assert torch.allclose(alone, loss_of(plain, encoders, data, "base", pictures + pairs, 20), atol=1e-5)
