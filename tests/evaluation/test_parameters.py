"""Parameters by part, by hand; what does not run, what is frozen, and the published table."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from conftest import make_recipe
from groundling.dataset import Dataset
from groundling.evaluation.parameter_table import count_rows, idle_biases, published_parameters, word_parameters
from groundling.evaluation.parameters import Part, count, count_model, describe, totals
from groundling.files import read_json
from groundling.model.trained import TrainedModel
from groundling.systems import Encoders
from groundling.training import train
from plans import plan
from tiny_networks import save_bert

WORDS, LETTERS, FEATURES = 24, 25, 12  # of the world: 20 words and 21 letters, and four special symbols each
GRU = 3 * (6 * 8 + 8 * 8 + 8 + 8)  # from word vectors of 6 to a state of 8
PICTURE = 12 * 8 + 8
TABLE = published_parameters()


def parts_of(world: Dataset, settings: dict[str, Any]) -> dict[str, Part]:
    made = plan({"dimensions": 8, "word_dimensions": 6, **settings}, world.split("train"))
    model = TrainedModel(make_recipe(), made.system, made.tokeniser, made.encoders, torch.device("cpu"))
    model.encoders.train()
    parts = count_model(model)
    assert model.encoders.training  # left as it was
    return {part.name: part for part in parts}


ONE_STEP = 3 * 8 * 6 + 3 * 8 + 8  # a GRU's first step, from a state of zero
LAYERS = [(6 * 5, 7), (7, 6)]  # six letters of five numbers each


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"name": "vse"}, {"word table": WORDS * 6, "sentence GRU": GRU}),
        ({"name": "pivot"}, {"word table": WORDS * 6, "sentence GRU": GRU}),
        ({"name": "bag", "buckets": 10}, {"table of words and n-grams": (WORDS + 10) * 6, "sentence projection": 56}),
        ({"name": "clmr"}, {"word table": WORDS * 6, "sentence GRU": GRU + ONE_STEP}),
        ({"name": "clmr", "pooling": "ends"}, {"word table": WORDS * 6, "sentence GRU": 2 * GRU}),
        (
            {"name": "liwe", "layers": [7], "character_dimensions": 5, "longest_word": 6},
            {
                "character table": LETTERS * 5,
                # weights, gains, and scale and shift of the normalisation
                "layers from characters to words": sum(a * b + 3 * b for a, b in LAYERS),
                "sentence GRU": GRU + ONE_STEP,
            },
        ),
        (
            {"name": "liwe", "words": "charGRU", "character_dimensions": 5},
            {
                "character table": LETTERS * 5,
                "GRU over characters": 3 * (5 * 6 + 6 * 6 + 6 + 6),
                "sentence GRU": GRU + ONE_STEP,
            },
        ),
    ],
)
def test_parts_by_hand(world: Dataset, settings: dict[str, Any], expected: dict[str, int]) -> None:
    letters = {letter for text in world.corpus.texts for letter in text if letter != " "}
    assert len(letters) == LETTERS - 4
    found = parts_of(world, settings)
    assert {name: part.test_time for name, part in found.items()} == {**expected, "picture projection": PICTURE}
    assert all(part.trainable == part.test_time for part in found.values())
    assert next(name for name, part in found.items() if not part.for_words).startswith("sentence")
    assert totals(found.values()).for_words == sum(
        size for name, size in expected.items() if not name.startswith("sentence")
    )


class Wasteful(nn.Module):
    """Has a layer that is never called, one that is frozen, a part that shares its weights, and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(10, 3).requires_grad_(False)
        self.attention = nn.Linear(3, 100)
        self.late = nn.Linear(3, 4, bias=False)
        self.again = self.late
        self.register_buffer("mean", torch.zeros(50))

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        return self.again(self.words(ids).mean(1)) + 0 * self.mean.sum()


def test_only_what_runs_is_counted_once_and_only_what_learns_is_trained() -> None:
    encoders = Encoders(Wasteful(), nn.Linear(5, 4))
    encoders.critic = nn.Linear(4, 2)
    parts = count(encoders, torch.zeros(1, 2, dtype=torch.int64), torch.tensor([2]), torch.ones(1, 5))
    assert parts == [
        Part("word table", 0, 30, True),
        Part("text.late", 12, 12, False),
        Part("picture", 24, 24, False),
        Part("critic", 10, 0, False),  # needed to train, not to answer
    ]


def test_a_frozen_encoder_is_needed_but_not_trained(tmp_path: Path, world: Dataset) -> None:
    save_bert(tmp_path, ["dog"])
    for trainable in (False, True):
        values = {"name": "bert_gru", "encoder": str(tmp_path), "dimensions": 8, "trainable": trainable}
        made = plan(values, world.split("train"))
        model = TrainedModel(make_recipe(), made.system, made.tokeniser, made.encoders, torch.device("cpu"))
        part = next(part for part in count_model(model) if part.name == "pretrained encoder")
        assert part.for_words
        assert part.test_time > 0
        assert part.trainable == (part.test_time if trainable else 0)


def test_a_run_knows_its_parts_and_a_word_table_to_compare_with(world: Dataset, tmp_path: Path) -> None:
    small = {"maximum_steps": 2, "validate_every": 2}
    run = train(make_recipe(training=small), world, tmp_path / "words", device="cpu")
    model = TrainedModel.load(run.folder, "cpu")
    facts, described = read_json(run.facts_file), describe(model)
    assert facts["parameters_by_part"] == {part.name: part.test_time for part in count_model(model)}
    assert facts["parameters"] == sum(facts["parameters_by_part"].values()) == described.counts.test_time
    assert facts["trainable_parameters"] == sum(weights.numel() for weights in model.encoders.parameters())
    assert facts["word_parameters"] == WORDS * 12
    assert described.to_json()["word_table"] == {"words": WORDS, "dimensions": 12, "parameters": WORDS * 12}
    assert described.reduction == 1


def test_the_published_table() -> None:
    """Counted as the paper counts, every printed number of Table 1 comes out, all to the digit but BERT's."""
    rows = count_rows(TABLE)
    assert [row.name for row in rows] == [row.name for row in TABLE.rows]
    for row in rows[1:]:
        assert round(row.parameters_with_biases / 1e6, 1) == row.published_millions
        assert round(row.reduction_with_biases) == row.published_reduction
    assert [row.name for row in rows[1:] if round(row.reduction) != row.published_reduction] == ["LIWE-GRU (128, 512)"]
    bert = rows[0]
    if bert.parameters is not None:
        assert bert.parameters == 108_891_648
        assert round(bert.reduction, 2) == bert.published_reduction


def printed(left_out: int = 0, alphabet: int = 101) -> list[int]:
    """The factors of LIWE's layered rows if so many parameters were not counted in (128, 512)."""
    factors = []
    for row in TABLE.rows[3:]:
        settings = {**row.system, "dimensions": 8}
        sizes = TABLE.model_copy(update={"alphabet": alphabet})
        parameters = word_parameters(settings, sizes) + idle_biases(settings)
        factors.append(round(9e6 / (parameters - (left_out if settings["layers"] == [128, 512] else 0))))
    return factors


def test_what_the_published_numbers_tell() -> None:
    """The notes of the table: which alphabets fit, and that nothing may be left out of a layer."""
    published = [row.reduction for row in TABLE.rows[3:]]
    assert printed() == printed(alphabet=97) == printed(alphabet=234) == published
    assert published not in (printed(alphabet=96), printed(alphabet=235))
    for left_out in (128 + 512 + 300, 2 * 128, 2 * 512, 2 * 300):  # biases or gains; normalisation of one layer
        assert printed(left_out)[3] == 30
