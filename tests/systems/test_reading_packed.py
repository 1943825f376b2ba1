"""Systems whose GRU reads a batch packed learn as those that read everything."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from conftest import make_world
from groundling.batches import DeviceBatch
from groundling.encoders.text.hybrid import HybridWords
from groundling.systems import Plan
from groundling.training.step import EagerStep
from plans import plan

SIZES: dict[str, Any] = {
    "dimensions": 16,
    "word_dimensions": 6,
    "universal_dimensions": 10,
    "state_dimensions": 12,
    "picture_dimensions": 14,
    "vectors": "random",
    "align_epochs": 1,
}
LATENT = {**SIZES, "latent": {"tokens": 12, "epochs": 1, "batch_size": 25}}
SYSTEMS: dict[str, dict[str, Any]] = {
    "mule": SIZES,
    "la": LATENT,
    "hem": {**LATENT, "own_words": 4, "own_dimensions": 6},
    "smalr": {**LATENT, "own_words": 4, "own_dimensions": 6, "mask_weight": 0.5},
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))


def prepared(name: str, batch_size: int) -> Plan:
    """Captions of one to fifteen words, most of them short; every tenth is not there."""
    torch.manual_seed(0)
    part, draw = make_world().split("train"), np.random.default_rng(0)
    kept = draw.random(len(part.corpus)) < 0.9
    rows = np.flatnonzero(kept).tolist()
    lengths = draw.geometric(0.25, len(part.corpus)).clip(max=15)
    corpus = replace(
        part.corpus,
        owners=part.corpus.owners[rows],
        languages=part.corpus.languages[rows],
        origins=part.corpus.origins[rows],
        texts=[" ".join((part.corpus.texts[row].split() * 5)[: lengths[row]]) for row in rows],
    )
    made = plan({"name": name, **SYSTEMS[name]}, replace(part, corpus=corpus), {"batch_size": batch_size})
    made.encoders.train()
    return made


@pytest.mark.parametrize("name", SYSTEMS)
def test_losses_are_those_of_reading_everything(name: str) -> None:
    ends = []
    for packed in (True, False):
        made = prepared(name, 20)
        sampler = made.stage.sampler
        step = EagerStep(made.stage, torch.optim.Adam(made.encoders.parameters(), lr=1e-3), "float32")
        losses, most = [], 0
        for number in range(12):
            batch = sampler.batch(number)
            assert bool(batch.packing) == (batch.kind == "every")
            most = max(most, len(batch.packing))
            torch.manual_seed(number)  # for dropout and masks
            losses.append(float(step(batch if packed else replace(batch, packing=()), number)))
        ends.append(losses)
        assert most > 2
    assert ends[0] == pytest.approx(ends[1], rel=1e-4)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_step_looks_at_no_number_on_its_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a GPU can record: shapes and branches that depend on no value. Fake tensors have none to look at."""
    monkeypatch.setattr(HybridWords, "on_gpu", staticmethod(lambda ids: True))
    made = prepared(name, 50)
    sampler = made.stage.sampler
    with FakeTensorMode(allow_non_fake_inputs=True) as fake:
        for batch in [sampler.batch(step) for step in range(4)]:
            rows = fake.from_tensor(torch.from_numpy(batch.rows))
            step = fake.from_tensor(torch.zeros(()))
            placed = DeviceBatch(batch.kind, rows, batch.longest, step, batch.packing)
            made.stage.loss(made.encoders, made.data, placed).backward()
