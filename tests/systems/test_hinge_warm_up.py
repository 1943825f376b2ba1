"""A warm-up with the sum of hinges is a setting of every system that ranks by the hardest wrong pair."""

from typing import Any

import pytest
import torch

from groundling.batches import DeviceBatch
from groundling.dataset import Dataset
from plans import plan

WARMED = {"name": "max_of_hinges", "warm_up_steps": 3}
TINY = {"dimensions": 12, "word_dimensions": 8}


@pytest.mark.parametrize(
    "system",
    [
        {"name": "vse", **TINY},
        {"name": "lessons", **TINY},
        {"name": "pivot", **TINY},
        {"name": "parallel", **TINY},
        {"name": "liwe", "dimensions": 12, "pair_objective": WARMED},
        {"name": "clmr", **TINY, "pair_objective": WARMED},
        {"name": "bag", **TINY},
        {"name": "polyglot", **TINY, "hidden": 8, "noise": 0.0},
    ],
    ids=lambda system: str(system["name"]),
)
def test_all_wrong_pairs_count_until_the_warm_up_ends(world: Dataset, system: dict[str, Any]) -> None:
    torch.manual_seed(0)
    made = plan({**system, "objective": WARMED}, world.split("train"), {"batch_size": 16})
    batch = made.stage.sampler.batch(0)
    encoders = made.encoders.eval()

    def loss(step: int) -> float:
        rows = torch.from_numpy(batch.rows)
        asked = DeviceBatch(batch.kind, rows, batch.longest, torch.tensor(float(step)))
        return float(made.stage.loss(encoders, made.data, asked))

    with torch.no_grad():
        assert loss(0) == loss(2) > loss(3) == loss(9)
