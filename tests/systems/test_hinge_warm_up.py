"""A warm-up with the sum of hinges is a setting of every system that ranks by the hardest wrong pair."""

from pathlib import Path
from typing import Any

import pytest
import torch

from conftest import ENGLISH, GERMAN
from groundling import systems
from groundling.batches import DeviceBatch
from groundling.dataset import Dataset
from groundling.objectives.objective import Objective
from groundling.systems import Plan
from groundling.training.contexts import load_start
from plans import plan
from pretrained_folders import DIMENSIONS, save_pair
from tiny_networks import save_bert

WARMED = {"name": "max_of_hinges", "warm_up_steps": 3}
TINY = {"dimensions": 12, "word_dimensions": 8}
LEARNS_ALONE: list[dict[str, Any]] = [
    {"name": "vse", **TINY},
    {"name": "lessons", **TINY},
    {"name": "pivot", **TINY},
    {"name": "parallel", **TINY},
    {"name": "liwe", "dimensions": 12, "pair_objective": WARMED},
    {"name": "clmr", **TINY, "pair_objective": WARMED},
    {"name": "bag", **TINY},
    {"name": "polyglot", **TINY, "hidden": 8, "noise": 0.0},
]
NEEDS_MORE = {"translator", "bert_gru", "tuned"}  # word vectors of one language, or a pretrained network


def warmed(system: dict[str, Any], part: Dataset, **options: Any) -> Plan:
    torch.manual_seed(0)
    return plan({**system, "objective": WARMED}, part.split("train"), {"batch_size": 16}, **options)


def all_wrong_pairs_count_until_the_warm_up_ends(made: Plan) -> bool:
    batch = made.stage.sampler.batch(0)
    encoders = made.encoders.eval()

    def loss(step: int) -> float:
        rows = torch.from_numpy(batch.rows)
        asked = DeviceBatch(batch.kind, rows, batch.longest, torch.tensor(float(step)))
        return float(made.stage.loss(encoders, made.data, asked))

    with torch.no_grad():
        return loss(0) == loss(2) > loss(3) == loss(9)


@pytest.mark.parametrize("system", LEARNS_ALONE, ids=lambda system: str(system["name"]))
def test_a_system_that_learns_from_captions_alone(world: Dataset, system: dict[str, Any]) -> None:
    assert all_wrong_pairs_count_until_the_warm_up_ends(warmed(system, world))


def test_a_translator(world: Dataset, own_cache: Path) -> None:
    pytest.importorskip("gensim")
    system = {"name": "translator", **TINY, "words": {"epochs": 1, "buckets": 100}}
    assert all_wrong_pairs_count_until_the_warm_up_ends(warmed(system, world.only(["de"])))


def test_a_pretrained_encoder_below_a_gru(world: Dataset, tmp_path: Path) -> None:
    folder = save_bert(tmp_path / "encoder", [*ENGLISH, *GERMAN], initializer_range=0.5)
    system = {"name": "bert_gru", "encoder": str(folder), "dimensions": 12, "pair_objective": WARMED}
    assert all_wrong_pairs_count_until_the_warm_up_ends(warmed(system, world))


def test_a_pretrained_pair(world: Dataset, tmp_path: Path) -> None:
    pair = save_pair(tmp_path / "pair", "CLIP", [*ENGLISH, *GERMAN])
    seen = Dataset(world.corpus, world.features[:, :DIMENSIONS])
    made = warmed({"name": "tuned", "start": str(pair)}, seen, start=load_start(pair, "cpu"))
    assert all_wrong_pairs_count_until_the_warm_up_ends(made)


def test_every_system_with_such_a_setting_is_here() -> None:
    ours = {name: kind for name, kind in systems.SYSTEMS.items() if kind.__module__.startswith("groundling.")}
    fields = {name: kind.Settings.model_fields.get("objective") for name, kind in ours.items()}
    having = {name for name, field in fields.items() if field is not None and isinstance(field.default, Objective)}
    assert having == {system["name"] for system in LEARNS_ALONE} | NEEDS_MORE
