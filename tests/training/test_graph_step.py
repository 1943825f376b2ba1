"""A recorded step on a GPU is the plain step: the same losses, and encoders that say the same."""

from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from conftest import make_world
from groundling.batches.sampler import DeviceBatch
from groundling.encoders.text.hybrid import HybridWords
from groundling.systems import Plan
from groundling.training.step import EagerStep, GraphStep, Step, make_optimiser
from plans import CPU, plan

SMALL = {"dimensions": 32, "word_dimensions": 16}
# Two stages: three batches of 32 pictures, or six of 16, align languages; the others are of all losses.
TWO_STAGES: dict[str, Any] = {"align_epochs": 1}
NETWORK: dict[str, Any] = {
    **SMALL,
    "universal_dimensions": 24,
    "state_dimensions": 32,
    "picture_dimensions": 32,
    "vectors": "random",
}
LATENT: dict[str, Any] = {**NETWORK, **TWO_STAGES, "latent": {"tokens": 12, "epochs": 1, "batch_size": 25}}
HYBRID: dict[str, Any] = {**LATENT, "own_words": 4, "own_dimensions": 6}
# Sums of hinges: which negative is the hardest can turn on a rounding, and from there trainings go their own ways.
SYSTEMS: dict[str, dict[str, Any]] = {
    "lessons": {"name": "lessons", "objective": "sum_of_hinges", "caption_pairs_after": 0, **SMALL},
    "clmr": {"name": "clmr", **SMALL},
    "clmr-ends": {"name": "clmr", "pooling": "ends", **SMALL},
    "clmr-lessons": {
        "name": "clmr",
        "sampling": "lessons",
        "objective": {"rate": 1.0},
        "pair_objective": {"rate": 1.0},
        "caption_pairs_after": 0,
        **SMALL,
    },
    "liwe": {"name": "liwe", "layers": [32, 32], **SMALL},
    "liwe-charGRU": {"name": "liwe", "words": "charGRU", **SMALL},
    "liwe-every": {"name": "liwe", "layers": [32], "every_other": True, "pooling": "ends", **SMALL},
    # What these draw, of dropout and masks, a recorded step must draw anew each time, and as a plain one would.
    "embn": {"name": "embn", **NETWORK},
    "par_embn": {"name": "par_embn", **NETWORK},
    "mule": {"name": "mule", **NETWORK, **TWO_STAGES},
    "la": {"name": "la", **LATENT},
    "hem": {"name": "hem", **HYBRID},
    "smalr": {"name": "smalr", **HYBRID},
}

pytestmark = pytest.mark.usefixtures("own_cache")


def prepared(name: str, device: torch.device = CPU, **training: Any) -> Plan:
    world = make_world().only(["en"]) if name == "embn" else make_world()  # which learns one language
    torch.manual_seed(0)
    made = plan(SYSTEMS[name], world.split("train"), {"batch_size": 16, **training}, device)
    made.encoders.train()
    return made


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_step_looks_at_no_number_on_its_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a GPU can record: shapes and branches that depend on no value. Fake tensors have none to look at."""
    monkeypatch.setattr(HybridWords, "on_gpu", staticmethod(lambda ids: True))
    made = prepared(name)
    sampler = made.stage.sampler
    one_of_each_kind = {batch.kind: batch for batch in map(sampler.batch, range(8))}
    with FakeTensorMode(allow_non_fake_inputs=True) as fake:
        for batch in one_of_each_kind.values():
            rows = fake.from_tensor(torch.from_numpy(batch.rows))
            step = fake.from_tensor(torch.zeros(()))
            made.stage.loss(made.encoders, made.data, DeviceBatch(batch.kind, rows, batch.longest, step)).backward()


@pytest.mark.parametrize("name", ["clmr", "liwe", "liwe-charGRU"])
def test_plain_steps_are_the_loop_everybody_writes_first(name: str) -> None:
    ends = []
    for plain in (True, False):
        made = prepared(name)
        encoders, data, sampler = made.encoders, made.data, made.stage.sampler
        optimiser = torch.optim.Adam(encoders.parameters(), lr=1e-3)
        step = EagerStep(made.stage, optimiser, "float32")
        losses = []
        for number in range(6):
            batch = sampler.batch(number)
            if plain:
                optimiser.zero_grad()
                placed = DeviceBatch(
                    batch.kind, torch.from_numpy(batch.rows), batch.longest, torch.tensor(float(number))
                )
                loss = made.stage.loss(encoders, data, placed)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(encoders.parameters(), 2.0)
                optimiser.step()
            else:
                loss = step(batch, number)
            losses.append(float(loss.detach()))
        ends.append((losses, encoders.state_dict()))
    (losses, weights), (other_losses, other_weights) = ends
    assert losses == other_losses
    assert all(torch.equal(value, other_weights[key]) for key, value in weights.items())


@pytest.mark.parametrize("name", ["clmr", "clmr-ends", "liwe", "liwe-charGRU"])
def test_bf16_steps_stay_near_float32_ones(name: str) -> None:
    ends = []
    for precision in ("float32", "bf16"):
        made = prepared(name)
        sampler = made.stage.sampler
        step = EagerStep(made.stage, torch.optim.Adam(made.encoders.parameters(), lr=1e-3), precision)
        ends.append([float(step(sampler.batch(number), number)) for number in range(6)])
    assert ends[1] == pytest.approx(ends[0], rel=0.05)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("name", SYSTEMS)
def test_twenty_recorded_steps_equal_plain_ones(name: str) -> None:
    device = torch.device("cuda")
    ends = []
    for recorded in (False, True):
        made = prepared(name, device, batch_size=32, learning_rate=1e-3)
        encoders, data, sampler = made.encoders, made.data, made.stage.sampler
        eager = EagerStep(made.stage, make_optimiser(encoders, made.stage.settings, device), "float32")
        step: Step = GraphStep(eager) if recorded else eager
        losses = [float(step(sampler.batch(number), number)) for number in range(20)]
        with torch.inference_mode():  # in evaluation mode, so that running statistics are compared too
            rows = torch.arange(len(data.lengths), device=device)
            texts = encoders.eval().text(*data.captions(rows, int(data.lengths.max())))
            ends.append((losses, texts, encoders.picture(data.features)))
        if isinstance(step, GraphStep):
            assert step.graphs  # something was recorded and replayed
    (plain, texts, pictures), (replayed, other_texts, other_pictures) = ends
    assert plain == pytest.approx(replayed, rel=1e-3)
    assert (texts * other_texts).sum(dim=1).min() > 0.9999  # cosines
    assert (pictures * other_pictures).sum(dim=1).min() > 0.9999
