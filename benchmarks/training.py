"""Training steps per second of our loop against a plain one with equal settings, in the same run.

Plain: captions in random order, packed sequences, float32, default Adam. Ours: rows resident on the
device, batches of similar length, bf16 where the device has it, fused Adam, and on a GPU recorded steps. Both train the
`lessons` model (300-d words, GRU 1024, max of hinges, batch 128) on captions whose lengths are drawn like F8K-7's.

    python benchmarks/training.py [--steps 60] [--device cpu] [--json] [--data DIR]

With --data (the folder that holds f8k7/) the captions are real, in seven languages (or those of --languages), and the
recalls after the same number of steps of each loop are printed too: the faster loop must not learn less per step.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import normalize
from torch.nn.utils.rnn import pack_padded_sequence

from groundling import systems
from groundling.batches import TrainingData
from groundling.devices import pick_device, pick_precision
from groundling.settings import TextSettings, TrainingSettings
from groundling.systems import Towers
from groundling.text import Vocabulary, WordTokeniser
from groundling.text.tokens import Tokeniser
from groundling.training.step import EagerStep, fastest, make_optimiser
from groundling.training.validation import Validation

TRAINING = TrainingSettings(seed=0)


def random_data(device: torch.device, captions: int = 30_000, words: int = 12_000) -> tuple[TrainingData, Tokeniser]:
    """Captions of random words with the spread of lengths of F8K-7 (mean 13 with start and end, up to 40)."""
    draw = np.random.default_rng(0)
    lengths = np.clip(draw.gamma(6.0, 2.2, captions).round(), 4, 40).astype(np.int64)
    ids = draw.integers(4, words, (captions, 40)) * (np.arange(40) < lengths[:, None])
    tokeniser = WordTokeniser(Vocabulary(tuple(str(n) for n in range(words - 4))), TextSettings())
    owners = np.arange(captions) // 5
    features = torch.from_numpy(draw.standard_normal((captions // 5, 1280)).astype(np.float32)).to(device)
    return TrainingData(
        ids=torch.from_numpy(ids.astype(np.int32)).to(device),
        device_lengths=torch.from_numpy(lengths).to(device),
        device_owners=torch.from_numpy(owners).to(device),
        device_texts=torch.arange(captions, device=device),
        features=features,
        lengths=lengths,
        owners=owners,
        languages=np.zeros(captions, dtype=np.int64),
        codes=["en"],
    ), tokeniser


def plain_steps(towers: Towers, data: TrainingData, system: systems.System, device: torch.device, steps: int) -> float:
    """Seconds per step of the loop everybody writes first, on batches of one language in random order.

    Putting a batch together on the host, which a DataLoader's workers would do meanwhile, is not counted.
    """
    lists = [row[:length] for row, length in zip(data.ids.cpu().long(), data.lengths.tolist(), strict=True)]
    features = data.features.cpu()
    sampler = system.sampler(data, TRAINING.model_copy(update={"length_pool": 1}))
    optimiser = torch.optim.Adam(towers.parameters(), lr=TRAINING.learning_rate)
    times: list[float] = []
    for number in range(steps):
        batch = sampler.batch(number)
        lengths = torch.from_numpy(data.lengths[batch.captions])
        ids = torch.nn.utils.rnn.pad_sequence([lists[row] for row in batch.captions], batch_first=True)
        pictures = features[torch.from_numpy(batch.partners)]
        started = time.perf_counter()
        packed = pack_padded_sequence(
            towers.text.words(ids.to(device)), lengths, batch_first=True, enforce_sorted=False
        )
        _, last = towers.text.recurrent(packed)
        scores = normalize(last[0], dim=-1) @ towers.picture(pictures.to(device)).T
        matching = scores.diagonal()
        wrong = 1 - torch.eye(len(scores), device=device)
        by_row = ((0.2 + scores - matching[:, None]).clamp(min=0) * wrong).amax(dim=1)
        by_column = ((0.2 + scores - matching[None, :]).clamp(min=0) * wrong).amax(dim=0)
        loss = by_row.sum() + by_column.sum()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(towers.parameters(), TRAINING.clip)
        optimiser.step()
        loss.item()
        times.append(time.perf_counter() - started)
    return sum(times[WARM_UP:]) / (steps - WARM_UP)


def our_steps(
    towers: Towers, data: TrainingData, system: systems.System, device: torch.device, steps: int, pool: int
) -> float:
    precision = pick_precision("auto", device)
    optimiser = make_optimiser(towers, TRAINING.learning_rate, 0.0, device)
    step = fastest(EagerStep(system, towers, data, optimiser, TRAINING.clip, precision))
    sampler = system.sampler(data, TRAINING.model_copy(update={"length_pool": pool}))
    warm = WARM_UP if device.type == "cpu" else steps // 2  # on a GPU, until every length is recorded
    for number in range(steps):
        if number == warm:
            _wait(device)
            started = time.perf_counter()
        step(sampler.batch(number), number)
    _wait(device)
    return (time.perf_counter() - started) / (steps - warm)


WARM_UP = 5


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=None, help="of each loop (60 on a CPU, 2000 on a GPU)")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--data", type=Path, default=None, help="folder that holds f8k7/: real captions, and recalls")
    parser.add_argument(
        "--length-pool", type=int, default=TRAINING.length_pool, help="batches sorted by length together"
    )
    parser.add_argument("--languages", nargs="+", default=None, help="with --data: of these; all seven when left out")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    device = pick_device(arguments.device)
    steps = arguments.steps or (60 if device.type == "cpu" else 2000)
    system = systems.make({"name": "lessons", "caption_pairs": 0.0})
    validation = None
    if arguments.data:
        from groundling.dataset import Dataset
        from groundling.settings import CorpusSettings, FeatureSettings

        corpus = CorpusSettings(name="f8k7", languages=arguments.languages)
        dataset = Dataset.load(corpus, FeatureSettings(), arguments.data)
        train, dev = dataset.split("train"), dataset.split("dev")
        tokeniser = system.tokeniser(train.corpus, TextSettings())
        data = TrainingData.build(train.corpus, train.features, tokeniser, device)
        dev_data = TrainingData.build(dev.corpus, dev.features, tokeniser, device)
        validation = Validation(dev_data, "float32", "all")
    else:
        data, tokeniser = random_data(device)
    result: dict[str, object] = {"device": str(device), "precision": pick_precision("auto", device), "steps": steps}
    for name in ("plain", "ours"):
        torch.manual_seed(0)
        towers = system.towers(tokeniser, data.features.shape[1]).to(device)
        towers.train()
        seconds = (
            plain_steps(towers, data, system, device, steps)
            if name == "plain"
            else our_steps(towers, data, system, device, steps, arguments.length_pool)
        )
        result[f"{name}_steps_per_second"] = round(1 / seconds, 2)
        if validation:
            by_language = validation(towers)[1]
            result[f"{name}_mR"] = round(sum(by_language.values()) / len(by_language) / 6, 2)
    result["ratio"] = round(result["ours_steps_per_second"] / result["plain_steps_per_second"], 2)  # type: ignore[operator]
    print(json.dumps(result) if arguments.json else "\n".join(f"{key}: {value}" for key, value in result.items()))


if __name__ == "__main__":
    main()
