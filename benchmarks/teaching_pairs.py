"""Teaching pairs per second: our `teach` against the distillation trainer of sentence-transformers, in one run.

Both have the same teacher (a sentence encoder of sentence-transformers), the same student (a BERT with random weights,
all of it trained), the same pairs, batch size and number of steps. What is counted is, for both, all from the texts in
memory to the saved student: loading the student, the teacher's vectors, cutting into word pieces, every step, saving.
Ours also writes the pairs to a file and reads them from there, validates once, and takes checksums of what it saves.
Loading the teacher is not counted.
Theirs: `SentenceTransformerTrainer` with `MSELoss`, bf16 on a GPU, the teacher's vectors computed before as their
documentation does. Ours: vectors computed once, batches of similar length, bf16 and recorded steps on a GPU. The mean
cosine of what each student says of 500 further pairs with the teacher's vectors is told beside. Needs
sentence-transformers, datasets and accelerate.

    python benchmarks/teaching_pairs.py [--device cuda] [--pairs 4000] [--epochs 2] [--size tiny|minilm|base] [--json]

Sizes (of the student; of the teacher): tiny; minilm: 12 layers of 384 as multilingual MiniLM; base: 12 layers of 768 as
XLM-R base; both with its 250,002 word pieces, of which 10,000 occur, and a teacher of the size of CLIP's text side, 12
layers of 512.
"""

import argparse
import json
import os
import sys
import tempfile
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

WORDS = 5000
HELD_OUT = 500


def shape(hidden: int, layers: int, heads: int, pieces: int = 0) -> dict[str, int]:
    return {
        "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
        "intermediate_size": 4 * hidden, "vocab_size": pieces,
    }  # fmt: skip


TINY, CLIP_TEXT = shape(64, 2, 2), shape(512, 12, 8, 49_408)
#: Student, teacher, and the dimensions of their vectors.
SIZES = {
    "tiny": (TINY, TINY, 64),
    "minilm": (shape(384, 12, 12, 250_002), CLIP_TEXT, 512),
    "base": (shape(768, 12, 12, 250_002), CLIP_TEXT, 512),
}


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
    size = {**size, "vocab_size": max(size["vocab_size"], len(words))}
    config = transformers.BertConfig(max_position_embeddings=64, **size)
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def save_teacher(folder: Path, size: dict[str, int], dimensions: int) -> Path:
    """A sentence encoder, and a CLIP whose pictures nobody looks at, in one space."""
    from sentence_transformers import SentenceTransformer, models

    save_bert(folder / "bert", size, 1)
    reader = models.Transformer(str(folder / "bert"), max_seq_length=64)
    dense = models.Dense(reader.get_word_embedding_dimension(), dimensions, activation_function=torch.nn.Tanh())
    pooling = models.Pooling(reader.get_word_embedding_dimension())
    SentenceTransformer(modules=[reader, pooling, dense], device="cpu").save(str(folder / "teacher"))
    import transformers

    small = {**TINY, "hidden_size": 32, "intermediate_size": 32, "vocab_size": 1000}
    config = transformers.CLIPConfig(
        text_config=small, vision_config={**small, "image_size": 32, "patch_size": 16}, projection_dim=dimensions
    )
    transformers.CLIPModel(config).save_pretrained(folder / "clip")
    return folder / "teacher"


@dataclass(frozen=True)
class Taken:
    """Attributes:
    seconds: in all.
    steps_seconds: of that, in the loop of steps.
    cosine: the mean one with the teacher's vectors of held-out pairs.
    """

    seconds: float
    steps_seconds: float
    cosine: float


def theirs(folder: Path, pairs: list[tuple[str, str]], batch: int, steps: int, device: str, wide: int) -> Taken:
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
        losses,
        models,
    )

    teacher = SentenceTransformer(str(folder / "teacher"), device=device)
    pairs, held_out = pairs[:-HELD_OUT], pairs[-HELD_OUT:]
    started = time.perf_counter()
    reader = models.Transformer(str(folder / "student"), max_seq_length=64)
    hidden = reader.get_word_embedding_dimension()
    dense = models.Dense(hidden, wide, activation_function=torch.nn.Identity())
    student = SentenceTransformer(modules=[reader, models.Pooling(hidden), dense], device=device)
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
    before = time.perf_counter()
    trainer.train()
    wait(device)
    trained = time.perf_counter()
    student.save(str(folder / "theirs-saved"))
    ended = time.perf_counter()
    known, new = zip(*held_out, strict=True)
    said = [who.encode(list(texts), show_progress_bar=False) for who, texts in ((teacher, known), (student, new))]
    return Taken(ended - started, trained - before, cosine(*said))


def ours(folder: Path, pairs: list[tuple[str, str]], batch: int, steps: int, device: str) -> Taken:
    from groundling import systems
    from groundling.corpus import sentence_pairs
    from groundling.dataset import Dataset
    from groundling.model import load
    from groundling.training.loop import train
    from groundling.training.teaching import Lesson, lesson_recipe, with_steps

    teacher = load(str(folder / "clip"), str(folder / "teacher"), device)
    start = teacher.as_start()
    pairs, held_out = pairs[:-HELD_OUT], pairs[-HELD_OUT:]
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
    run = train(recipe.model_copy(update={"training": training}), nothing, folder / "ours", device=device, begin=start)
    wait(device)
    ended = time.perf_counter()
    known, new = zip(*held_out, strict=True)
    student = load(str(run.folder), None, device)
    said = teacher.encode_text(list(known), ["en"] * len(known)), student.encode_text(list(new), ["de"] * len(new))
    return Taken(ended - started, run.facts().seconds, cosine(*said))


def wait(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()


def cosine(one: Any, two: Any) -> float:
    one, two = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (one, two))
    return float((one * two).sum(axis=1).mean())


def measure(pairs: int, epochs: int, batch: int, size: str, device: str, eager: bool) -> dict[str, Any]:
    if eager:
        from groundling.training import loop

        loop.fastest = lambda step: step
    student, teacher, wide = SIZES[size]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["GROUNDLING_CACHE"] = str(folder / "cache")
        save_teacher(folder, teacher, wide)
        save_bert(folder / "student", student, 2)
        said, steps = sentences(pairs + HELD_OUT), pairs * epochs // batch
        if device != "cpu":  # libraries of a GPU are loaded once for both
            theirs(folder, said[: 2 * batch + HELD_OUT], batch, 2, device, wide)
        ways = {
            "ours": lambda: ours(folder, said, batch, steps, device),
            "theirs": lambda: theirs(folder, said, batch, steps, device, wide),
        }
        taken = {}
        for name, run in ways.items():  # told at once: a machine that is lent may be taken back before the end
            taken[name] = run()
            print(
                f"{name}: {steps * batch / taken[name].seconds:.0f} pairs/s, {taken[name]}", file=sys.stderr, flush=True
            )
    speed = {name: steps * batch / one.seconds for name, one in taken.items()}
    return {
        "device": device if device == "cpu" else torch.cuda.get_device_name(), "size": size, "pairs": pairs,
        "steps": steps, "batch": batch, "recorded": device != "cpu" and not eager,
        **{f"{name}_pairs_per_second": value for name, value in speed.items()},
        "ratio": speed["ours"] / speed["theirs"],
        **{f"{name}_{key}": value for name, one in taken.items() for key, value in asdict(one).items()},
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--pairs", type=int, default=4000)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--size", choices=list(SIZES), default="tiny")
    parser.add_argument("--eager", action="store_true", help="our steps on a GPU are not recorded")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of names that sentence-transformers has moved
    result = measure(options.pairs, options.epochs, options.batch, options.size, options.device, options.eager)
    if options.json:
        print(json.dumps(result))
    else:
        print(f"sentence-transformers {result['theirs_pairs_per_second']:10.0f} pairs/s")
        print(f"groundling            {result['ours_pairs_per_second']:10.0f} pairs/s")
        print(f"cosine with teacher   {result['theirs_cosine']:.3f} and {result['ours_cosine']:.3f}")
        print(f"ratio                 {result['ratio']:10.2f}  ({result['steps']} steps of {result['batch']})")
