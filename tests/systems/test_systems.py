"""Systems: their loss written out slowly, the pairs they mask, the batches they ask for, and what they save."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from conftest import make_recipe
from groundling import systems
from groundling.batches import DeviceBatch, TrainingData
from groundling.batches.stage import Loss
from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.model import Model
from groundling.model.encoding import encode_captions, encode_pictures
from groundling.objectives import Contrastive, HardeningHinges, MaxOfHinges, Objective, SumOfHinges
from groundling.objectives.ranking import RankingLoss
from groundling.systems import Encoders, System
from groundling.training import checkpoint, train
from plans import dataset_of, plan

TINY: dict[str, dict[str, Any]] = {
    "vse": {"name": "vse", "dimensions": 16, "word_dimensions": 8},
    "lessons": {"name": "lessons", "dimensions": 16, "word_dimensions": 8},
    "bag": {"name": "bag", "dimensions": 16, "word_dimensions": 8, "buckets": 64},
}

# Picture 0 and picture 1 are both described by "dog"; picture 2 stands alone; picture 3 repeats its own text.
CAPTIONS = [
    (0, "en", "dog"),
    (0, "de", "hund"),
    (1, "en", "dog"),
    (1, "de", "ein grosser hund"),
    (2, "en", "an old tree"),
    (2, "de", "baum"),
    (3, "en", "cat"),
    (3, "de", "cat"),
]


def small_corpus() -> Corpus:
    owners, languages, texts = zip(*CAPTIONS, strict=True)
    return Corpus(
        name="small",
        pictures=np.array(["p0", "p1", "p2", "p3"]),
        splits=np.array(["train"] * 4),
        owners=np.array(owners),
        languages=np.array(languages),
        texts=list(texts),
        origins=np.array(["human"] * len(texts)),
    )


def assembled(values: dict[str, Any]) -> tuple[RankingLoss, Encoders, TrainingData]:
    """The loss of a system, fresh encoders (without dropout) and the small corpus as their data."""
    torch.manual_seed(0)
    made = plan(values, dataset_of(small_corpus()))
    assert isinstance(made.stage.loss, RankingLoss)
    return made.stage.loss, made.encoders.eval(), made.data


def batch_loss(loss: Loss, encoders: Encoders, data: TrainingData, kind: str, rows: Any, partners: Any) -> Tensor:
    both = rows if kind == "picture" else [*rows, *partners]
    longest = int(data.lengths[list(both)].max())
    placed = torch.stack([torch.tensor(rows), torch.tensor(partners)])
    return loss(encoders, data, DeviceBatch(kind, placed, longest, torch.zeros(())))


def yes(*cells: tuple[int, int], size: int) -> Tensor:
    """A matrix that is true at these cells and on the diagonal."""
    matrix = torch.eye(size, dtype=torch.bool)
    for row, column in cells:
        matrix[row, column] = True
    return matrix


# The batch holds both captions of picture 0, "dog" of picture 1, and "an old tree".
PICTURE_BATCH = [0, 1, 2, 4]
PICTURE_POSITIVES = yes((0, 1), (1, 0), (0, 2), (2, 0), size=4)  # one picture; one text. "hund" and picture 1: neither

# Pairs hund–dog (picture 0), dog–ein grosser hund (picture 1), cat–cat (picture 3), dog–hund (picture 0 again).
PAIR_BATCH = [1, 2, 6, 0], [0, 3, 7, 1]
PAIR_POSITIVES = yes(
    (0, 3), (3, 0), (1, 0), size=4
)  # pairs 0 and 3: one picture; "dog" of picture 1 and "dog": one text


@pytest.mark.parametrize("name", TINY)
def test_pairs_that_are_right_in_truth_are_told(name: str) -> None:
    loss, _, data = assembled({**TINY[name], "mask_false_negatives": True})
    rows = torch.tensor(PICTURE_BATCH)
    positives = loss.positives(data, "picture", rows, data.device_owners[rows])
    assert torch.equal(positives, PICTURE_POSITIVES)
    left, right = (torch.tensor(side) for side in PAIR_BATCH)
    assert torch.equal(loss.positives(data, "caption", left, right), PAIR_POSITIVES)


def test_nothing_is_masked_unless_asked_for_except_by_the_bag() -> None:
    rows = torch.tensor(PICTURE_BATCH)
    for name, expected in (("vse", True), ("lessons", True), ("bag", False)):
        loss, _, data = assembled(TINY[name])
        assert (loss.positives(data, "picture", rows, rows) is None) == expected


@pytest.mark.parametrize("mask", [True, False])
@pytest.mark.parametrize(
    "objective", [MaxOfHinges(margin=0.3), SumOfHinges(margin=0.3), Contrastive(temperature=0.07), HardeningHinges()]
)
@pytest.mark.parametrize("name", TINY)
def test_the_loss_is_the_objective_on_sides_that_were_encoded_one_by_one(
    name: str, objective: Objective, mask: bool
) -> None:
    settings = {"objective": objective.model_dump(), "mask_false_negatives": mask}
    loss, encoders, data = assembled({**TINY[name], **settings})

    def caption(row: int) -> Tensor:
        length = int(data.lengths[row])
        return encoders.text(data.ids[[row], :length], data.device_lengths[[row]])[0]

    def picture(row: int) -> Tensor:
        return encoders.picture(data.features[[row]])[0]

    owners = [CAPTIONS[row][0] for row in PICTURE_BATCH]
    scores = torch.stack([caption(row) for row in PICTURE_BATCH]) @ torch.stack([picture(row) for row in owners]).T
    slow = objective(scores, PICTURE_POSITIVES if mask else None)
    assert torch.allclose(batch_loss(loss, encoders, data, "picture", PICTURE_BATCH, owners), slow, atol=1e-5)

    left, right = PAIR_BATCH
    scores = torch.stack([caption(row) for row in left]) @ torch.stack([caption(row) for row in right]).T
    slow = objective(scores, PAIR_POSITIVES if mask else None)
    assert torch.allclose(batch_loss(loss, encoders, data, "caption", left, right), slow, atol=1e-5)


@pytest.mark.parametrize("name", TINY)
def test_a_picture_batch_teaches_both_encoders_and_a_caption_batch_the_text_encoder(name: str) -> None:
    loss, encoders, data = assembled({**TINY[name], "objective": "sum_of_hinges"})
    batch_loss(loss, encoders, data, "caption", *PAIR_BATCH).backward()
    assert all(parameter.grad is None for parameter in encoders.picture.parameters())
    assert all(parameter.grad.abs().sum() > 0 for parameter in encoders.text.parameters())
    encoders.zero_grad(set_to_none=True)
    batch_loss(loss, encoders, data, "picture", PICTURE_BATCH, [0, 0, 1, 2]).backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in encoders.parameters())


def test_bf16_does_not_reach_the_scores() -> None:
    """Under autocast the encoders may round; the products of their vectors may not."""
    loss, encoders, data = assembled(TINY["lessons"])
    rows, owners = torch.tensor(PICTURE_BATCH), torch.tensor([0, 0, 1, 2])
    with torch.autocast("cpu", torch.bfloat16):
        found = batch_loss(loss, encoders, data, "picture", PICTURE_BATCH, owners.tolist())
        left = encoders.text(data.ids[rows, : int(data.lengths[rows].max())], data.device_lengths[rows])
        right = encoders.picture(data.features[owners])
    assert left.dtype == right.dtype == torch.float32
    assert torch.allclose(found, MaxOfHinges()(left @ right.T), atol=1e-6)


def languages_of(data: TrainingData, rows: Any) -> set[str]:
    return {data.codes[number] for number in data.languages[rows]}


def batches(name: str, world: Dataset, steps: int = 60, **settings: Any) -> tuple[TrainingData, list[Any]]:
    # One batch to a pool: sorted by length, the short batches might well be of one language.
    made = plan({**TINY[name], **settings}, world.split("train"), {"batch_size": 32, "length_pool": 1})
    data, sampler = made.data, made.stage.sampler
    return data, [sampler.batch(step) for step in range(steps)]


def test_vse_and_the_bag_mix_languages_and_lessons_takes_them_in_turn(world: Dataset) -> None:
    for name in ("vse", "bag"):
        data, drawn = batches(name, world)
        assert all(batch.kind == "picture" for batch in drawn)
        assert all(languages_of(data, batch.captions) == {"en", "de"} for batch in drawn)
    data, drawn = batches("lessons", world, caption_pairs_after=0)
    pictures = [batch for batch in drawn if batch.kind == "picture"]
    assert {len(languages_of(data, batch.captions)) for batch in pictures} == {1}
    assert set.union(*(languages_of(data, batch.captions) for batch in pictures)) == {"en", "de"}
    pairs = [batch for batch in drawn if batch.kind == "caption"]
    assert 15 < len(pairs) < 45  # half of 60, give or take four deviations
    for batch in pairs:
        assert (data.owners[batch.captions] == data.owners[batch.partners]).all()
        assert (data.languages[batch.captions] != data.languages[batch.partners]).all()


def test_lessons_waits_with_caption_pairs_and_the_bag_can_have_them(world: Dataset) -> None:
    _, drawn = batches("lessons", world, caption_pairs=0.9, caption_pairs_after=30)
    assert {batch.kind for batch in drawn[:30]} == {"picture"}
    assert "caption" in {batch.kind for batch in drawn[30:]}
    _, drawn = batches("bag", world, caption_pairs=0.5)
    assert {batch.kind for batch in drawn} == {"picture", "caption"}


def test_systems_are_found_by_their_names() -> None:
    for name in TINY:
        assert systems.SYSTEMS[name].name == name
        assert type(systems.make({"name": name})) is systems.SYSTEMS[name]
        assert systems.make({"name": name}).settings.name == name  # type: ignore[attr-defined]
    assert systems.make({}).name == "lessons"
    with pytest.raises(UserError, match=r'no system is called "bagg" \(did you mean "bag"\?\)'):
        systems.make({"name": "bagg"})


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"name": "vse", "caption_pairs": 0.5}, 'system vse: unknown setting "caption_pairs"'),
        ({"name": "lessons", "buckets": 9}, 'system lessons: unknown setting "buckets"'),
        ({"name": "lessons", "caption_pairs": 1}, "system lessons: caption_pairs: input should be less than 1"),
        ({"name": "bag", "dropout": -0.1}, "system bag: dropout: input should be greater than or equal to 0"),
        (
            {"name": "bag", "objective": {"temperature": 0}},
            "objective contrastive: temperature: input should",
        ),
        (
            {"name": "vse", "objective": "max_of_hinge"},
            'no objective is called "max_of_hinge" (did you mean',
        ),
        ({"name": "vse", "dimensions": "many"}, "system vse: dimensions: input should be a valid integer"),
    ],
)
def test_a_wrong_setting_of_a_system_is_one_sentence(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError) as error:
        systems.make(values)
    assert str(error.value).startswith(sentence)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", TINY)
def test_a_loaded_model_gives_the_vectors_of_the_encoders_that_were_trained(
    name: str, world: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["dog tree", "cat", "a dog that was never seen", ""]
    seen: dict[str, Any] = {}
    save = checkpoint.save_weights

    def encode_then_save(path: Path, encoders: Encoders, *rest: Any) -> None:
        """What the encoders say at the moment they are saved; the file in the run folder says which words they know."""
        tokens = seen["tokeniser"].encode(texts, ["en"] * len(texts))
        ids, lengths, cpu = torch.from_numpy(tokens.ids), torch.from_numpy(tokens.lengths), torch.device("cpu")
        seen["text"] = encode_captions(encoders.text, ids, lengths, cpu).numpy()
        seen["picture"] = encode_pictures(encoders.picture, torch.from_numpy(world.features), cpu).numpy()
        encoders.train()
        save(path, encoders, *rest)

    kind = systems.SYSTEMS[name]
    build = kind.tokeniser

    def remember(self: System, *arguments: Any) -> Any:
        seen["tokeniser"] = build(self, *arguments)
        return seen["tokeniser"]

    monkeypatch.setattr(kind, "tokeniser", remember)
    monkeypatch.setattr(checkpoint, "save_weights", encode_then_save)
    recipe = make_recipe(system=TINY[name], training={"maximum_steps": 15, "validate_every": 5})
    run = train(recipe, world, tmp_path / "run", device="cpu")
    model = Model.load(run.folder, "cpu")
    assert np.array_equal(model.encode_text(texts, "en"), seen["text"])
    assert np.array_equal(model.encode_features(world.features), seen["picture"])
    assert model.recipe == recipe
