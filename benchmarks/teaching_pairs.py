"""Teaching pairs per second: our `teach` against the distillation trainer of sentence-transformers, in one run.

Both have the same teacher (a sentence encoder of sentence-transformers), the same student (a BERT with random weights,
all of it trained), the same pairs, batch size and number of steps, and both are timed from reading texts to the last
step, the teacher's vectors included. Theirs: `SentenceTransformerTrainer` with `MSELoss`, bf16 on a GPU, the teacher's
vectors computed before as their documentation does. Ours: vectors computed once, batches of similar length, bf16 on a
GPU. Needs sentence-transformers, datasets and accelerate.

    python benchmarks/teaching_pairs.py [--device cuda] [--pairs 4000] [--epochs 2] [--size tiny|base] [--json]
"""

import argparse
import json
import os
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

WORDS = 5000
SIZES = {
    "tiny": {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 256},
    "base": {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072},
}
DIMENSIONS = 64


def sentences(pairs: int) -> list[tuple[str, str]]:
    """Of 3 to 40 words, spread as captions and subtitles are."""
    draw = np.random.default_rng(0)
    lengths = np.clip(np.round(draw.lognormal(np.log(11), 0.5, pairs)), 3, 40).astype(int)
    chosen = [draw.integers(0, WORDS, length) for length in lengths]
    return [(" ".join(f"k{n}" for n in row), " ".join(f"n{n}" for n in row)) for row in chosen]


def save_bert(folder: Path, size: dict[str, int], seed: int) -> Path:
    import transformers

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"{a}{n}" for a in "kn" for n in range(WORDS))]
    tokeniser = transformers.BertTokenizerFast(vocab={word: n for n, word in enumerate(words)}, model_max_length=64)
    tokeniser.save_pretrained(folder)
    torch.manual_seed(seed)
    config = transformers.BertConfig(vocab_size=len(words), max_position_embeddings=64, **size)
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def save_teacher(folder: Path, size: dict[str, int]) -> Path:
    """A sentence encoder, and a CLIP whose pictures nobody looks at, in one space."""
    from sentence_transformers import SentenceTransformer, models

    save_bert(folder / "bert", size, 1)
    reader = models.Transformer(str(folder / "bert"), max_seq_length=64)
    dense = models.Dense(reader.get_word_embedding_dimension(), DIMENSIONS, activation_function=torch.nn.Tanh())
    pooling = models.Pooling(reader.get_word_embedding_dimension())
    SentenceTransformer(modules=[reader, pooling, dense], device="cpu").save(str(folder / "teacher"))
    import transformers

    small = {**SIZES["tiny"], "hidden_size": 32, "intermediate_size": 32}
    config = transformers.CLIPConfig(
        text_config=small, vision_config={**small, "image_size": 32, "patch_size": 16}, projection_dim=DIMENSIONS
    )
    transformers.CLIPModel(config).save_pretrained(folder / "clip")
    return folder / "teacher"


def theirs(folder: Path, pairs: list[tuple[str, str]], batch: int, steps: int, device: str) -> float:
    """Seconds."""
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
        losses,
        models,
    )

    teacher = SentenceTransformer(str(folder / "teacher"), device=device)
    reader = models.Transformer(str(folder / "student"), max_seq_length=64)
    wide = reader.get_word_embedding_dimension()
    dense = models.Dense(wide, DIMENSIONS, activation_function=torch.nn.Identity())
    student = SentenceTransformer(modules=[reader, models.Pooling(wide), dense], device=device)
    started = time.perf_counter()
    labels = teacher.encode([known for known, _ in pairs], batch_size=batch, show_progress_bar=False)
    data = Dataset.from_dict({"new": [new for _, new in pairs], "label": labels.tolist()})
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(folder / "theirs"),
        per_device_train_batch_size=batch,
        max_steps=steps,
        learning_rate=4e-5,
        bf16=device != "cpu",
        use_cpu=device == "cpu",
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
    )
    trainer = SentenceTransformerTrainer(student, arguments, train_dataset=data, loss=losses.MSELoss(student))
    trainer.train()
    return time.perf_counter() - started


def ours(folder: Path, pairs: list[tuple[str, str]], batch: int, steps: int, device: str) -> float:
    """Seconds."""
    from groundling import systems
    from groundling.corpus import sentence_pairs
    from groundling.dataset import Dataset
    from groundling.model import load
    from groundling.training.loop import train
    from groundling.training.teaching import Lesson, lesson_recipe, with_steps

    start = load(str(folder / "clip"), str(folder / "teacher"), device).as_start()
    lesson = Lesson(
        str(folder / "clip"), ("de",), str(folder / "pairs.tsv"), "en", f"hub:{folder / 'student'}", steps=steps,
        batch_size=batch, text=str(folder / "teacher"),
    )  # fmt: skip
    nothing = Dataset(sentence_pairs.as_corpus("pairs", []), np.zeros((0, 0), dtype=np.float32))
    started = time.perf_counter()
    (folder / "pairs.tsv").write_text("".join(f"{known}\t{new}\n" for known, new in pairs))
    recipe = lesson_recipe(lesson, start, in_corpus=False)
    source = systems.of(recipe).taught_by(start.system).material(nothing, start).pairs
    assert source is not None
    recipe = with_steps(recipe, lesson, source)
    training = recipe.training.model_copy(update={"validate_every": steps})
    train(recipe.model_copy(update={"training": training}), nothing, folder / "ours", device=device, begin=start)
    return time.perf_counter() - started


def measure(pairs: int, epochs: int, batch: int, size: str, device: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["GROUNDLING_CACHE"] = str(folder / "cache")
        save_teacher(folder, SIZES[size])
        save_bert(folder / "student", SIZES[size], 2)
        said, steps = sentences(pairs), pairs * epochs // batch
        warm = said[: 2 * batch] if device != "cpu" else []
        if warm:  # libraries of a GPU are loaded once for both
            theirs(folder, warm, batch, 2, device)
        taken = {"theirs": theirs(folder, said, batch, steps, device), "ours": ours(folder, said, batch, steps, device)}
    speed = {name: steps * batch / seconds for name, seconds in taken.items()}
    return {
        "device": device, "size": size, "pairs": pairs, "steps": steps, "batch": batch,
        **{f"{name}_pairs_per_second": value for name, value in speed.items()},
        "ratio": speed["ours"] / speed["theirs"],
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--pairs", type=int, default=4000)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--size", choices=list(SIZES), default="tiny")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of names that sentence-transformers has moved
    result = measure(options.pairs, options.epochs, options.batch, options.size, options.device)
    if options.json:
        print(json.dumps(result))
    else:
        print(f"sentence-transformers {result['theirs_pairs_per_second']:10.0f} pairs/s")
        print(f"groundling            {result['ours_pairs_per_second']:10.0f} pairs/s")
        print(f"ratio                 {result['ratio']:10.2f}  ({result['steps']} steps of {result['batch']})")
