"""Pivot and parallel (Gella et al. 2017): their losses worked by hand and written out slowly, and what they learn."""

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from conftest import make_recipe, make_world
from groundling import systems
from groundling.batches import DeviceBatch, TrainingData
from groundling.batches.stage import Loss
from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.examples import examples
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.model import Model
from groundling.objectives import SumOfHinges
from groundling.systems import Encoders, System
from groundling.training import train
from groundling.training.metrics import read_metrics
from plans import dataset_of
from plans import plan as planned
from power_cut import assert_goes_on_exactly

CAPTIONS = [
    (0, "en", "dog"),
    (0, "de", "hund"),
    (0, "fr", "un chien"),
    (1, "en", "an old tree in the sun"),
    (1, "de", "baum"),
    (1, "fr", "arbre"),
    (2, "en", "cat"),
    (2, "de", "die katze schläft"),
    (2, "fr", "chat"),
    (2, "fr", "dog"),
]


def small_data(system: System, dtype: torch.dtype = torch.float32) -> tuple[Encoders, TrainingData]:
    """Fresh encoders and three pictures, described in three languages."""
    torch.manual_seed(0)
    owners, languages, texts = zip(*CAPTIONS, strict=True)
    corpus = Corpus(
        name="small",
        pictures=np.array(["p0", "p1", "p2"]),
        splits=np.array(["train"] * 3),
        owners=np.array(owners),
        languages=np.array(languages),
        texts=list(texts),
        origins=np.array(["human"] * len(texts)),
    )
    made = planned(values_of(system), dataset_of(corpus))
    return made.encoders.to(dtype), made.data


ROWS = torch.tensor([[0, 1, 2], [1, 4, 7], [0, 3, 6], [2, 5, 9]])  # pictures, German, English, French


def loss(system: System, encoders: Encoders, data: TrainingData, rows: Tensor, longest: int | None = None) -> Tensor:
    longest = longest or int(data.lengths[rows[1:].numpy()].max())
    return loss_of(system)(encoders, data, DeviceBatch("pivot", rows, longest, torch.zeros(())))


def values_of(system: System) -> dict[str, Any]:
    return {"name": system.name, **system.settings.model_dump()}


def loss_of(system: System) -> Loss:
    """It is that of the settings alone, whatever corpus it was set up with."""
    return planned(values_of(system), make_world().split("train")).stage.loss


def made(name: str, **settings: Any) -> System:
    return systems.make({"name": name, "dimensions": 16, "word_dimensions": 8, **settings})


class Given(nn.Module):
    """An encoder that answers with given vectors: the row of the first word, or of the first feature."""

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self.vectors = nn.Parameter(vectors)

    def forward(self, entries: Tensor, lengths: Tensor | None = None) -> Tensor:
        return self.vectors[entries[:, 0].long()]


def given_data() -> tuple[Encoders, TrainingData]:
    """Two pictures, two languages; captions 0 and 1 are of the first language, 2 and 3 of the second."""
    captions = torch.tensor([[0.8, 0.6], [1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    encoders = Encoders(Given(captions), Given(torch.tensor([[1.0, 0.0], [0.0, 1.0]])))
    owners = np.array([0, 1, 0, 1])
    data = TrainingData(
        ids=torch.arange(4)[:, None],
        device_lengths=torch.ones(4, dtype=torch.int64),
        device_owners=torch.from_numpy(owners),
        device_texts=torch.arange(4),
        features=torch.arange(2.0)[:, None],
        lengths=np.ones(4, dtype=np.int64),
        owners=owners,
        languages=np.array([0, 0, 1, 1]),
        codes=["de", "en"],
    )
    return encoders, data


@pytest.mark.parametrize(
    ("similarity", "pivot", "parallel"),
    [
        # German with pictures: cosines [[.8 .6] [1 0]], matching .8 and 0. By caption: [.3 + .6 − .8]₊ = .1 and
        # [.3 + 1 − 0]₊ = 1.3; by picture: [.3 + 1 − .8]₊ = .5 and [.3 + .6 − 0]₊ = .9. Sum 2.8.
        # English: [[.6 .8] [0 1]], matching .6 and 1: by caption .5 and 0; by picture 0 and .1. Sum .6.
        # German with English: [[.96 .6] [.6 0]], matching .96 and 0: by row 0 and .9; by column 0 and .9. Sum 1.8.
        ("cosine", 3.4, 5.2),
        # −‖max(0, caption − picture)‖²: German [[−.36 −.64] [0 −1]], matching −.36 and −1. By caption:
        # [.3 − .64 + .36]₊ = .02 and [.3 + 0 + 1]₊ = 1.3; by picture: [.3 + 0 + .36]₊ = .66 and [.3 − .64 + 1]₊ = .66.
        # Sum 2.64. English [[−.64 −.36] [−1 0]], matching −.64 and 0: by caption [.3 − .36 + .64]₊ = .58 and 0; by
        # picture [.3 − 1 + .64]₊ = 0 and [.3 − .36 − 0]₊ = 0. Sum .58. Between captions cosines less 1, whose
        # differences are those of cosines: 1.8.
        ("order", 3.22, 5.02),
    ],
)
def test_two_pictures_in_two_languages_worked_by_hand(similarity: str, pivot: float, parallel: float) -> None:
    encoders, data = given_data()
    rows = torch.tensor([[0, 1], [0, 1], [2, 3]])
    for name, expected in (("pivot", pivot), ("parallel", parallel)):
        system = made(name, similarity=similarity, objective={"margin": 0.3})
        assert loss(system, encoders, data, rows).item() == pytest.approx(expected, abs=1e-6)


def slow_loss(
    name: str,
    similarity: str,
    margin: float,
    encoders: Encoders,
    data: TrainingData,
    rows: Tensor,
    hardest: bool = False,
) -> float:
    """Straight from the formula: every caption and picture encoded by itself, every pair scored by itself."""

    def caption(row: int) -> list[float]:
        length = int(data.lengths[row])
        return encoders.text(data.ids[[row], :length], data.device_lengths[[row]])[0].tolist()

    def picture(row: int) -> list[float]:
        return encoders.picture(data.features[[row]].to(next(encoders.parameters()).dtype))[0].tolist()

    def order(specific: list[float], general: list[float]) -> float:
        return -sum(max(0.0, abs(b) - abs(a)) ** 2 for a, b in zip(specific, general, strict=True))

    def alike(one: list[float], other: list[float], other_is_picture: bool) -> float:
        if similarity == "cosine":
            return sum(a * b for a, b in zip(one, other, strict=True))
        if other_is_picture:
            return order(other, one)
        return (order(one, other) + order(other, one)) / 2

    def ranking(left: list[list[float]], right: list[list[float]], pictures: bool) -> float:
        total, places = 0.0, range(len(left))
        for true in places:
            matching = alike(left[true], right[true], pictures)
            for costs in (
                [
                    max(0.0, margin + alike(left[true], right[wrong], pictures) - matching)
                    for wrong in places
                    if wrong != true
                ],
                [
                    max(0.0, margin + alike(left[wrong], right[true], pictures) - matching)
                    for wrong in places
                    if wrong != true
                ],
            ):
                total += max(costs) if hardest else sum(costs)
        return total

    pictures = [picture(int(row)) for row in rows[0]]
    languages = [[caption(int(row)) for row in line] for line in rows[1:]]
    total = sum(ranking(captions, pictures, True) for captions in languages)
    if name == "parallel":
        total += sum(ranking(one, other, False) for one, other in combinations(languages, 2))
    return total


@pytest.mark.parametrize("objective", ["sum_of_hinges", "max_of_hinges"])
@pytest.mark.parametrize("similarity", ["cosine", "order"])
@pytest.mark.parametrize("name", ["pivot", "parallel"])
@pytest.mark.parametrize("lines", [[0, 1], [0, 1, 2], [0, 1, 2, 3]])
def test_the_loss_is_that_of_the_slow_twin(name: str, similarity: str, objective: str, lines: list[int]) -> None:
    system = made(name, similarity=similarity, objective={"name": objective, "margin": 0.3})
    encoders, data = small_data(system)
    rows = ROWS[lines]
    expected = slow_loss(name, similarity, 0.3, encoders, data, rows, hardest=objective == "max_of_hinges")
    assert loss(system, encoders, data, rows).item() == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("similarity", ["cosine", "order"])
@pytest.mark.parametrize("kind", ["picture", "caption"])
def test_vse_takes_the_similarity_too(kind: str, similarity: str) -> None:
    """As pivot with one language, and as what parallel adds to it."""
    system = made("vse", similarity=similarity, objective={"name": "sum_of_hinges", "margin": 0.3})
    encoders, data = small_data(system)
    if kind == "picture":
        rows, expected = ROWS[[1, 0]], slow_loss("pivot", similarity, 0.3, encoders, data, ROWS[[0, 1]])
    else:
        rows = ROWS[[1, 2]]
        expected = slow_loss("parallel", similarity, 0.3, encoders, data, ROWS[:3])
        expected -= slow_loss("pivot", similarity, 0.3, encoders, data, ROWS[:3])
    found = loss_of(system)(encoders, data, DeviceBatch(kind, rows, data.ids.shape[1], torch.zeros(())))
    assert found.item() == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("similarity", ["cosine", "order"])
@pytest.mark.parametrize("name", ["pivot", "parallel"])
def test_gradients(name: str, similarity: str) -> None:
    system = made(name, similarity=similarity, objective={"margin": 0.3})
    encoders, data = given_data()
    draw = torch.Generator().manual_seed(3)
    vectors = [torch.randn(rows, 6, generator=draw, dtype=torch.float64).requires_grad_() for rows in (4, 2)]

    def of_vectors(captions: Tensor, pictures: Tensor) -> Tensor:
        said = nn.functional.normalize(captions, dim=1).split(2)
        seen = nn.functional.normalize(pictures, dim=1)
        rows = torch.tensor([[0, 1], [2, 3]])
        losses = loss_of(system).losses(data, torch.tensor([0, 1]), rows, seen, said, torch.zeros(()))  # type: ignore[attr-defined]
        return torch.stack(losses).sum()

    assert of_vectors(*vectors) > 0  # or there would be no gradient to check
    assert torch.autograd.gradcheck(of_vectors, vectors)
    encoders, data = small_data(system)
    loss(system, encoders, data, ROWS).backward()
    assert all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in encoders.parameters())


@pytest.mark.parametrize("similarity", ["cosine", "order"])
@pytest.mark.parametrize("name", ["pivot", "parallel"])
def test_neither_the_order_of_a_batch_nor_of_its_languages_nor_padding_matters(name: str, similarity: str) -> None:
    system = made(name, similarity=similarity, objective={"margin": 0.3})
    encoders, data = small_data(system)
    expected = loss(system, encoders, data, ROWS).item()
    assert loss(system, encoders, data, ROWS[:, [2, 0, 1]]).item() == pytest.approx(expected, abs=1e-5)
    assert loss(system, encoders, data, ROWS[[0, 3, 1, 2]]).item() == pytest.approx(expected, abs=1e-5)
    data = TrainingData(**{**data.__dict__, "ids": nn.functional.pad(data.ids, (0, 20))})
    assert loss(system, encoders, data, ROWS, longest=data.ids.shape[1]).item() == pytest.approx(expected, abs=1e-5)


def test_a_text_that_is_true_of_two_pictures_can_be_masked() -> None:
    """English "dog" of picture 0 and French "dog" of picture 2: one text, no wrong pair."""
    rows = ROWS[[0, 2, 3]][:, [0, 2]]
    plain, masking = (made("parallel", objective={"margin": 0.5}, mask_false_negatives=mask) for mask in (False, True))
    encoders, data = small_data(plain)
    en, fr = (encoders.text(*data.captions(line, data.ids.shape[1])) for line in rows[1:])
    scores = (en @ fr.T).tolist()
    # The pair (row 0: "dog", column 1: "dog") would have cost once in its row and once in its column.
    costs = [max(0.0, 0.5 + scores[0][1] - scores[0][0]), max(0.0, 0.5 + scores[0][1] - scores[1][1])]
    assert min(costs) > 0
    saved = loss(plain, encoders, data, rows).item() - loss(masking, encoders, data, rows).item()
    assert saved == pytest.approx(sum(costs), abs=1e-5)


def test_bf16_does_not_reach_the_scores() -> None:
    system = made("parallel", similarity="order")
    encoders, data = small_data(system)
    with torch.autocast("cpu", torch.bfloat16):
        found = loss(system, encoders, data, ROWS)
        said = encoders.text(*data.captions(ROWS[1:].flatten(), int(data.lengths[ROWS[1:]].max()))).chunk(3)
        seen = encoders.picture(data.features[ROWS[0]])
    expected = torch.stack(loss_of(system).losses(data, ROWS[0], ROWS[1:], seen, said, torch.zeros(()))).sum()  # type: ignore[attr-defined]
    assert torch.allclose(found, expected, atol=1e-6)


def test_margins_and_objectives_unless_told() -> None:
    for name in ("pivot", "parallel"):
        assert made(name).settings.objective == SumOfHinges()  # type: ignore[attr-defined]
    for name, similarity, margin in (("vse", "cosine", 0.2), ("vse", "order", 0.05), ("parallel", "order", 0.05)):
        assert made(name, similarity=similarity).settings.objective.margin == margin  # type: ignore[attr-defined]
    assert made("pivot", similarity="order", objective={"margin": 0.3}).settings.objective.margin == 0.3  # type: ignore[attr-defined]
    with pytest.raises(UserError, match="system pivot: similarity: input should be 'cosine' or 'order'"):
        made("pivot", similarity="asymmetric")


def test_languages_that_share_no_picture_and_one_language_alone(world: Dataset) -> None:
    corpus = world.split("train").corpus
    english = (corpus.languages == "en") == (corpus.owners % 2 == 0)  # English of even pictures, German of odd ones
    apart = Corpus(
        **{
            **corpus.__dict__,
            "owners": corpus.owners[english],
            "languages": corpus.languages[english],
            "texts": [text for text, kept in zip(corpus.texts, english, strict=True) if kept],
            "origins": corpus.origins[english],
        }
    )
    one = corpus.only(["en"])
    for name, part, words in (
        ("pivot", apart, "no training picture has captions in all of de, en"),
        ("parallel", apart, "no training picture has captions in all of de, en"),
        ("parallel", one, "system parallel needs two languages, and there is only en: use system pivot"),
    ):
        with pytest.raises(UserError, match=words):
            planned(values_of(made(name)), dataset_of(part))
    alone = planned(values_of(made("pivot")), dataset_of(one))
    assert alone.stage.sampler.batch(0).rows.shape == (2, 100)


TRAINED = {
    "pivot": {"name": "pivot"},
    "parallel": {"name": "parallel"},
    "order": {"name": "vse", "similarity": "order", "objective": "sum_of_hinges"},
    "parallel by order": {"name": "parallel", "similarity": "order"},
}


@pytest.mark.parametrize("system", TRAINED)
def test_it_learns_the_world_in_both_languages(system: str, world: Dataset, tmp_path: Path) -> None:
    changes = {**TRAINED[system], "dimensions": 24, "word_dimensions": 12}
    recipe = make_recipe(system=changes, training={"maximum_steps": 300, "validate_every": 50})
    run = train(recipe, world, tmp_path / "run", device="cpu")
    model = Model.load(run.folder, "cpu")
    evaluated = evaluate_retrieval(model, world)
    for code in ("en", "de"):  # 25 pictures: chance R@10 is 40
        assert evaluated.result.to_json()["languages"][code]["text_to_image"]["R@10"] > 80, system
    # Validation ranks by the score that evaluation ranks by.
    best = max(row["validation"] for row in read_metrics(run.metrics_file) if "validation" in row)
    found = evaluate_retrieval(model, world, split="dev").result.to_json()
    assert sum(part["rsum"] for part in found["languages"].values()) == pytest.approx(best)


@pytest.mark.parametrize("similarity", ["cosine", "order"])
def test_a_stopped_training_goes_on_exactly(
    similarity: str, world: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = {"name": "parallel", "similarity": similarity, "dimensions": 24, "word_dimensions": 12}
    recipe = make_recipe(system=system, training={"maximum_steps": 60})
    assert_goes_on_exactly(recipe, world, tmp_path, monkeypatch)


def test_a_model_of_the_order_scores_and_shows_examples_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = make_world()
    system = {"name": "pivot", "similarity": "order", "dimensions": 24, "word_dimensions": 12}
    run = train(make_recipe(system=system, training={"maximum_steps": 20}), world, tmp_path / "run", device="cpu")
    model = Model.load(run.folder, "cpu")
    monkeypatch.setattr(model, "encode_pictures", lambda rows: model.encode_features(world.features[rows]))

    def slow(text: Any, picture: Any) -> float:
        return -math.fsum(max(0.0, abs(float(b)) - abs(float(a))) ** 2 for a, b in zip(picture, text, strict=True))

    texts, pictures = model.encode_text(["dog tree", "cat"], "en"), model.encode_features(world.features)
    scores = model.score(["dog tree", "cat"], [3, 1, 4], "en")  # type: ignore[list-item]
    assert scores.shape == (2, 3)
    for row, text in enumerate(texts):
        for column, picture in enumerate([3, 1, 4]):
            assert scores[row, column] == pytest.approx(slow(text, pictures[picture]), abs=1e-6)
    assert scores.min() >= -1
    assert scores.max() <= 0

    shown = Dataset(Corpus(**{**world.corpus.__dict__, "root": tmp_path}), world.features)
    evaluated = evaluate_retrieval(model, shown)
    sheet = examples(evaluated, queries=8, annotated=4)
    corpus = evaluated.corpus
    for query in sheet[:8]:
        best = [hit.score for hit in query.hits]
        rows = [row for row, text in enumerate(corpus.texts) if text == query.text]
        every = sorted((slow(evaluated.captions[rows[0]], picture) for picture in evaluated.pictures), reverse=True)
        assert best == pytest.approx(every[:5], abs=1e-6)
        if query.rank <= 5:
            assert query.hits[query.rank - 1].correct
    for annotated in sheet[8:]:
        picture = [corpus.path(row) for row in range(len(corpus.pictures))].index(annotated.picture)
        every = sorted((slow(text, evaluated.pictures[picture]) for text in evaluated.captions), reverse=True)
        assert [caption.score for caption in annotated.captions] == pytest.approx(every[:5], abs=1e-6)
