"""Every command with every type of pretrained model: what works, found by running all of it.

Models have random weights, in folders as their makers publish them: a tiny one of each type, and one of the size of
CLIP ViT-B/32 (151 million parameters). A cell is the seconds of computing that the command took, or, where it ended
with exit code 2 and one sentence, that sentence; anything else is a failure, and the exit code is 1.

    python benchmarks/model_matrix.py [--types clip siglip …] [--json FILE] [--page FILE]
    python benchmarks/model_matrix.py --render FILE … [--json FILE] [--page FILE]       # of what was found before
"""

import argparse
import csv
import io
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))  # where tiny checkpoints are made as they are published

LARGE = "clip, size of ViT-B/32"
PICTURES, EACH = 24, 12  # of the corpus; in its test split


@dataclass(frozen=True)
class Cell:
    """What became of one command: seconds, or a sentence that refuses, or a failure."""

    command: str
    seconds: float = 0.0
    refused: str = ""
    failed: str = ""


@dataclass
class Column:
    """A type of model, its parameters, and its cells."""

    name: str
    parameters: int = 0
    cells: list[Cell] = field(default_factory=list)


# Models: each maker gives the folder, and that of a separate text encoder


def makers() -> dict[str, Callable[[Path], tuple[Path, Path | None]]]:
    import tiny_pairs
    from pretrained_folders import save_m_clip, save_pair, save_sentence_encoder

    def pair(kind: str) -> Callable[[Path], tuple[Path, Path | None]]:
        def make(folder: Path) -> tuple[Path, Path | None]:
            tiny_pairs.PAIRS[kind](folder / "model")
            return folder / "model", None

        return make

    def with_text(save: Callable[..., Path]) -> Callable[[Path], tuple[Path, Path | None]]:
        def make(folder: Path) -> tuple[Path, Path | None]:
            return save_pair(folder / "model", "CLIP", tiny_pairs.WORDS), save(folder / "text", tiny_pairs.WORDS)

        return make

    def open_clip(folder: Path) -> tuple[Path, Path | None]:
        from open_clip_folders import save_open_clip

        return save_open_clip(folder / "model"), None

    kinds = ("clip", "siglip", "siglip2", "siglip2_naflex", "chinese_clip", "altclip", "metaclip_2")
    found = {kind: pair(kind) for kind in kinds}
    found |= {"sentence-transformers": with_text(save_sentence_encoder), "M-CLIP": with_text(save_m_clip)}
    if find_spec("open_clip") is not None:
        found["open_clip"] = open_clip
    return {**found, LARGE: large_clip}


def large_clip(folder: Path) -> tuple[Path, Path | None]:
    """The sizes of openai/clip-vit-base-patch32 with random weights."""
    import transformers

    import tiny_pairs

    place = folder / "model"
    tiny_pairs.clip_tokeniser(place)
    config = transformers.CLIPConfig()
    config.text_config.eos_token_id = 2  # as published: the end of a text is its highest number
    transformers.CLIPModel(config).save_pretrained(place)
    cut = {**tiny_pairs.shortest_edge("CLIPImageProcessor"), "size": {"shortest_edge": 224}}
    (place / "preprocessor_config.json").write_text(json.dumps({**cut, "crop_size": {"height": 224, "width": 224}}))
    return place, None


# What they are asked about


def write_corpus(folder: Path) -> None:
    """Noise of several colours, captions of words that the models know, and sentence pairs."""
    import tiny_pairs

    draw = np.random.default_rng(0)
    (folder / "photos").mkdir(parents=True)
    said = [" ".join(words) for words in itertools.permutations(tiny_pairs.WORDS[:5], 3)]
    rows = [["picture", "language", "text", "split"]]
    for number in range(PICTURES):
        colour = draw.integers(0, 256, 3)
        noisy = np.clip(colour + draw.normal(0, 40, (48, 64, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(noisy).save(folder / "photos" / f"{number}.png")
        rows.append([f"photos/{number}.png", "en", said[number], "test" if number < EACH else "train"])
    with (folder / "captions.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    pairs = [f"{text}\t{text[::-1]}" for text in said]
    (folder / "pairs.tsv").write_text("en\tnl\n" + "\n".join(pairs), encoding="utf-8")


def commands(folder: Path, corpus: Path, model: Path, text: Path | None) -> dict[str, list[str]]:
    beside = [] if text is None else ["--text-model", str(text)]
    named, index = [str(model), *beside], str(folder / "index")
    row = {"name": "pretrained", "model": str(model), **({} if text is None else {"text_model": str(text)})}
    table = {
        "title": "One row", "metrics": ["text_to_image.R@1"], "languages": ["en"], "seeds": [0],
        "base": {"corpus": {"name": str(corpus)}}, "rows": [{"name": "it", "set": {"system": row}}],
    }  # fmt: skip
    (folder / "table.yaml").write_text(yaml.safe_dump(table))
    lesson = ["--language", "nl", "--pairs", str(corpus / "pairs.tsv"), "--steps", "2", "--device", "cpu"]
    answers = [str(folder / name) for name in ("answers", "asked")]
    asked = ["--corpus", str(corpus)]
    return {
        "evaluate": ["evaluate", *named, *asked, "--out", answers[0]],
        "evaluate --prompt": ["evaluate", *named, *asked, "--prompt", "a picture of {}", "--out", answers[1]],
        "compare": ["compare", *answers, "--samples", "100"],
        "show": ["show", *named, *asked, "--queries", "2", "--pictures", "2", "--out", str(folder / "show.html")],
        "parameters": ["parameters", *named],
        "reproduce": ["reproduce", str(folder / "table.yaml"), "--out", str(folder / "table")],
        "index": ["index", str(corpus / "photos"), "--model", *named, "--out", index],
        "search": ["search", index, "a red dog", "--files"],
        "serve": ["serve", index, "--port", "0"],
        "check --table": ["check", "--table", str(corpus / "captions.csv"), "--model", *named],
        "teach": ["teach", *named, *lesson, "--out", str(folder / "taught")],
        "export --onnx": ["export", *named, "--onnx", str(folder / "onnx")],
        "export --sentence-transformers": ["export", *named, "--sentence-transformers", str(folder / "st")],
        "export --immich": ["export", *named, "--immich", str(folder / "immich")],
    }


# Running them


def run(name: str, arguments: list[str]) -> Cell:
    """In this process; `serve` in a child of it that is asked once."""
    started = computed()
    code, said = asked_server(arguments) if name == "serve" else called(arguments)
    taken = round(computed() - started, 2)
    lines = [line for line in said.splitlines() if line.strip()]
    if code == 0:
        return Cell(name, taken)
    last = lines[-1] if lines else ""
    if code == 2 and last.startswith("groundling: ") and "Traceback" not in said:
        return Cell(name, refused=last.removeprefix("groundling: "))
    return Cell(name, failed=f"exit code {code}: {last}")


def computed() -> float:
    """Seconds, by this process and by children that have ended."""
    return sum(os.times()[:4])


def called(arguments: list[str]) -> tuple[int, str]:
    from groundling.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main(["-q", *arguments])
    except SystemExit as ended:
        code = int(ended.code or 0)
    except Exception as error:  # what should have been a sentence
        return 1, f"{type(error).__name__}: {error}"
    return code, err.getvalue()


def asked_server(arguments: list[str]) -> tuple[int, str]:
    command = [sys.executable, "-m", "groundling", *arguments]
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, text=True)
        try:
            for _ in range(1200):
                time.sleep(0.1)
                said.seek(0)
                text = said.read()
                address = next((word.rstrip("/.,;") for word in text.split() if word.startswith("http://")), None)
                if address is not None:
                    with suppress(OSError):
                        url = f"{address}/search?q=a+red+dog"
                        with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310 (this machine)
                            found = json.load(answer)
                        return (0, "") if found["results"] else (1, "no results")
                if child.poll() is not None:
                    break
        finally:
            child.send_signal(signal.SIGTERM)
            child.wait(30)
        return child.returncode or 1, text


def measure(names: list[str], folder: Path, keep: Callable[[list[Column]], None]) -> list[Column]:
    os.environ["GROUNDLING_CACHE"] = str(folder / "cache")
    os.environ["HF_HUB_OFFLINE"] = "1"
    write_corpus(folder / "corpus")
    columns = []
    for name in names:
        place = folder / name.replace("/", "-").replace(" ", "-")
        place.mkdir()
        model, text = makers()[name](place)
        column = Column(name, parameters_of(model, text))
        for command, arguments in commands(place, folder / "corpus", model, text).items():
            column.cells.append(run(command, arguments))
            print(name, asdict(column.cells[-1]), file=sys.stderr, flush=True)
        columns.append(column)
        keep(columns)
    return columns


def parameters_of(model: Path, text: Path | None) -> int:
    from groundling.model import load

    return sum(load(str(model), None if text is None else str(text), "cpu").parameter_sizes.values())


# The page


def made_with() -> dict[str, str]:
    import torch
    import transformers

    import groundling

    day = time.strftime("%Y-%m-%d", time.gmtime())
    return {"day": day, "groundling": groundling.__version__, "torch": torch.__version__,
            "transformers": transformers.__version__}  # fmt: skip


def page(found: dict[str, Any]) -> str:
    columns = found["models"]
    names = [cell["command"] for cell in columns[0]["cells"]]
    sizes = [f"{column['parameters'] / 1000:,.0f}" for column in columns]
    sentences: list[str] = []
    lines = [
        "# Every command, every type of pretrained model",
        "",
        "Models with random weights in folders as their makers publish them, each through every command that takes a",
        "model (`python benchmarks/model_matrix.py --json docs/model-matrix.json --page docs/model-matrix.md`). A cell",
        "is the seconds of computing that it took, or the number of the sentence below that refuses it. What the types",
        "are is told in [pretrained models](guides/pretrained.md).",
        "",
        f"| command | {' | '.join(column['name'] for column in columns)} |",
        f"|---|{'---:|' * len(columns)}",
        f"| parameters, thousands | {' | '.join(sizes)} |",
    ]
    for place, name in enumerate(names):
        cells = []
        for column in columns:
            cell = column["cells"][place]
            if cell["failed"]:
                cells.append("**fails**")
            elif cell["refused"]:
                told = cell["refused"]
                if told not in sentences:
                    sentences.append(told)
                cells.append(f"({sentences.index(told) + 1})")
            else:
                cells.append(f"{cell['seconds']:.1f}")
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    lines += ["", *(f"{number}. {told}" for number, told in enumerate(sentences, 1))]
    made = found["made"]
    libraries = f"torch {made['torch']} and transformers {made['transformers']}"
    lines += ["", f"Made on {made['day']} with groundling {made['groundling']}, {libraries}."]
    return "\n".join(lines) + "\n"


def plain(columns: list[Column], folder: Path) -> list[dict[str, Any]]:
    """As JSON, without the folders of this run."""
    text = json.dumps([asdict(column) for column in columns], ensure_ascii=False)
    found: list[dict[str, Any]] = json.loads(text.replace(f"{folder}/", ""))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--types", nargs="*", help="those alone")
    parser.add_argument("--json", type=Path, help="where it is kept, after each type")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--render", type=Path, nargs="*", help="take what is in these files, and run nothing")
    options = parser.parse_args()

    def keep(found: list[dict[str, Any]]) -> dict[str, Any]:
        result = {"made": made_with(), "models": found}
        if options.json is not None:
            options.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
        return result

    if options.render:
        known = [column for path in options.render for column in json.loads(path.read_text())["models"]]
        order = list(makers())
        result = keep(sorted(known, key=lambda column: order.index(column["name"])))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            done = measure(options.types or list(makers()), folder, lambda found: keep(plain(found, folder)) and None)
            result = keep(plain(done, folder))
    if options.page is not None:
        options.page.write_text(page(result))
    failed = [cell for column in result["models"] for cell in column["cells"] if cell["failed"]]
    print(f"{sum(len(column['cells']) for column in result['models'])} cells, {len(failed)} failed")
    sys.exit(1 if failed else 0)
