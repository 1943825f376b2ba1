"""Captions by the million: built into a corpus, described, and compared across splits, within a memory limit.

Rows are generated into Parquet tables in five languages, two captions of each picture, nine words of 20,000 each; every
hundredth caption is one that was there before, and every hundredth nearly one. Then, each in a process of its own:
`build` writes the corpus (pictures are not looked at), `inspect` loads and describes it, `leaks` loads it and looks for
captions of dev and test that are in train, word for word and nearly; `command` is `groundling corpus inspect`, which
does all of that in one process and also looks for the file of each picture (there are none, which it says; with --files
there is one of 16 bytes for each, and all are read). What is printed is the time of each, on the clock and of
computing, and the most memory that the process had: of its own, and with pages of mapped files, which the system takes
back when it needs them. Linux only.

With --tar the rows are samples of WebDataset shards instead, a JPEG of 32 × 32 pixels and a JSON with one caption each,
and `build` decodes every picture, in processes whose time counts and whose memory does not.

    python benchmarks/corpus_rows.py [--rows 10000000] [--phases build command] [--files | --tar] [--folder DIR]
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from peak_memory import PeakMemory

LIMIT = 4.0  # GB
WORDS, LONG, SHARD, STEP = 20_000, 9, 1_000_000, 10_000
LETTERS = {
    "en": "abcdefghijklmnopqrstuvwxyz",
    "de": "abcdefghijklmnopqrstuvwxyzäöüß",
    "fr": "abcdefghijklmnopqrstuvwxyzéèêàç",
    "ru": "абвгдежзийклмнопрстуфхцчшщыьэюя",
    "zh": "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面",
}
PHASES = ("build", "inspect", "leaks", "command")


def picture_name(number: int) -> str:
    return f"{number // 10_000:05}/{number:09}.jpg"


def write_files(folder: Path, rows: int) -> None:
    """All of one size, so that each must be read to tell whether it is another; every hundredth is as one before."""
    for number in range(-(-rows // 2)):
        path = folder / picture_name(number)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((number - 50 if number % 100 == 99 else number).to_bytes(16, "big"))


def generate(folder: Path, rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw = np.random.default_rng(0)
    words = {
        code: ["".join(draw.choice(list(letters), 2 + 4 * (code != "zh"))) for _ in range(WORDS)]
        for code, letters in LETTERS.items()
    }
    codes = list(LETTERS)
    for start in range(0, rows, SHARD):
        schema = pa.schema([("picture", pa.string()), ("language", pa.string()), ("text", pa.string())])
        with pq.ParquetWriter(folder / f"rows-{start // SHARD:03}.parquet", schema) as writer:
            before: list[tuple[str, str]] = []
            for begin in range(start, min(start + SHARD, rows), STEP):
                count = min(STEP, rows - begin)
                chosen, spoken = draw.integers(0, WORDS, (count, LONG)).tolist(), draw.integers(0, len(codes), count)
                said = [
                    (code, " ".join([words[code][word] for word in line]))
                    for code, line in zip([codes[at] for at in spoken], chosen, strict=True)
                ]
                if before:
                    said[::100] = before[::100][: len(said[::100])]
                    said[50::100] = [(code, f"{text} x") for code, text in before[50::100]][: len(said[50::100])]
                before = said
                names = [picture_name(row // 2) for row in range(begin, begin + count)]
                writer.write_table(
                    pa.table([names, [code for code, _ in said], [text for _, text in said]], schema=schema)
                )


def generate_tar(folder: Path, rows: int) -> None:
    """Shards of ten thousand samples, as img2dataset writes them; every picture is another one."""
    import io
    import tarfile

    from PIL import Image

    draw = np.random.default_rng(0)
    for start in range(0, rows, STEP):
        with tarfile.open(folder / f"{start // STEP:05}.tar", "w") as archive:
            for row in range(start, min(start + STEP, rows)):
                photo = io.BytesIO()
                Image.fromarray(draw.integers(0, 256, (32, 32, 3), dtype=np.uint8)).save(photo, "JPEG")
                said = {"caption": " ".join(f"word{word}" for word in draw.integers(0, WORDS, LONG)), "language": "en"}
                for suffix, data in (("jpg", photo.getvalue()), ("json", json.dumps(said).encode())):
                    member = tarfile.TarInfo(f"{row:09}.{suffix}")
                    member.size = len(data)
                    archive.addfile(member, io.BytesIO(data))


def command(folder: Path) -> dict[str, Any]:
    """`groundling corpus inspect` as somebody types it, in a process that does nothing else."""
    started = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "groundling", "corpus", "inspect", str(folder / "corpus"), "--json"],
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        peak = PeakMemory(child.pid)
        said, _ = child.communicate()
    if child.returncode:
        raise RuntimeError(f"corpus inspect: exit code {child.returncode}")
    told, used = json.loads(said), resource.getrusage(resource.RUSAGE_CHILDREN)
    found = told["leaks"]
    return {
        "captions": told["captions"],
        "pictures": told["pictures"],
        "without_files": found["pictures_by_content"]["missing_files"],
        "same_files": sum(found["pictures_by_content"][split]["count"] for split in ("dev", "test")),
        "leaked": _count(found["captions"]),
        "nearly": _count(found["captions_nearly"]["languages"]),
        "seconds": time.perf_counter() - started,
        "computing_s": used.ru_utime + used.ru_stime,
        "own_gb": peak.own,
        "all_gb": max(peak.all, used.ru_maxrss / 2**20),
    }


def _count(languages: dict[str, dict[str, dict[str, Any]]]) -> int:
    return sum(found["count"] for splits in languages.values() for found in splits.values())


def phase(name: str, folder: Path) -> dict[str, Any]:
    if name == "command":
        return command(folder)
    peak, started = PeakMemory(), time.perf_counter()
    found: dict[str, Any] = {}
    if name == "build":
        from groundling.corpus.building import build
        from groundling.corpus.catalogue import streamed
        from groundling.decoding.workers import shared

        tar = any(folder.glob("*.tar"))
        source = streamed([str(folder / ("*.tar" if tar else "rows-*.parquet"))])
        assert source is not None
        found["rows"] = build(source, folder / "corpus", check="decode" if tar else "none").rows
        shared().close()  # the time of processes is known when they have ended
    else:
        from groundling.corpus.caption_keys import CaptionKeys
        from groundling.corpus.storage import load

        corpus = load(folder / "corpus")
        found["load_s"] = time.perf_counter() - started
        if name == "inspect":
            from groundling.corpus.inspect import describe

            facts = describe(corpus)
            found |= {"captions": facts.captions, "pictures": facts.pictures}
        else:
            from dataclasses import replace

            from groundling.corpus.leaks import leaks

            told = leaks(replace(corpus, root=None), keys=CaptionKeys.of(corpus))
            for key, tables in (("leaked", told.captions), ("nearly", told.near)):
                found[key] = sum(part.count for table in tables.values() for part in table.values())
    found["seconds"] = time.perf_counter() - started
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    peak.look()
    return {
        **found,
        "computing_s": sum(one.ru_utime + one.ru_stime for one in used),
        "own_gb": peak.own,
        "all_gb": peak.all,
    }


def measure(rows: int, folder: Path, phases: Sequence[str], files: bool, tar: bool) -> dict[str, Any]:
    (generate_tar if tar else generate)(folder, rows)
    tables = sum(path.stat().st_size for path in folder.iterdir())
    found: dict[str, Any] = {"rows": rows, "tables_gb": tables / 2**30}
    if files:
        write_files(folder, rows)
    for name in phases:
        environment = {**os.environ, "GROUNDLING_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
        said = subprocess.run(
            [sys.executable, __file__, "--phase", name, "--folder", str(folder)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        found[name] = json.loads(said.stdout)
        print(name, json.dumps(found[name]), file=sys.stderr, flush=True)
    shards = (folder / "corpus").rglob("*.parquet")
    return {**found, "corpus_gb": sum(path.stat().st_size for path in shards) / 2**30}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="where the files go; a temporary folder when left out")
    parser.add_argument("--phases", nargs="+", choices=PHASES, default=PHASES, help="build must be among them")
    pictures = parser.add_mutually_exclusive_group()
    pictures.add_argument("--files", action="store_true", help="write a file for each picture, all of one size")
    pictures.add_argument("--tar", action="store_true", help="WebDataset shards with pictures, which are decoded")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--phase", choices=PHASES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.phase:
        print(json.dumps(phase(options.phase, options.folder)))
        raise SystemExit
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        result = measure(options.rows, Path(place), options.phases, options.files, options.tar)
    if options.json:
        print(json.dumps(result))
        raise SystemExit
    print(f"{result['rows']:,} rows, tables of {result['tables_gb']:.2f} GB, a corpus of {result['corpus_gb']:.2f} GB")
    for name in options.phases:
        one = result[name]
        print(
            f"{name:8} {one['seconds']:8.1f} s  {one['computing_s']:8.1f} s of computing  "
            f"{one['own_gb']:.2f} GB of its own, {one['all_gb']:.2f} GB in all"
        )
        if "leaked" in one:
            print(f"         leaked {one['leaked']:,}, nearly {one['nearly']:,}")
    most = max(result[name]["all_gb"] for name in options.phases)
    print(f"held to: {LIMIT} GB {'(kept)' if most <= LIMIT else '(NOT kept)'}")
