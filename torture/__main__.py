"""All troubles within a time: a table on the terminal, JSON for the page.

    python -m torture [--minutes 15] [--only PART …] [--seed N] [--out build/torture.json] [--page docs/reliability.md]
    python -m torture --render docs/reliability.json --page docs/reliability.md        # the page from what was found

The exit code is 1 where something did not hold.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import groundling
from torture import clients, faults, fuzz, page, readers, reading, serving
from torture.commands import commands
from torture.results import Row, markdown
from torture.workshop import Workshop

# Shares of the time that is left when everything is built; the rest is what each part takes at least.
SHARES = {"readers": 0.3, "kills": 0.14, "disks": 0.1, "writers": 0.06, "clients": 0.2, "updates": 0.03, "server": 0.0}
AT_ONCE = 2  # processes that are troubled at the same time, where times are not measured


def all_readers(shop: Workshop) -> list[str]:
    with tempfile.TemporaryDirectory(dir=shop.folder) as place:
        folder = Path(place) / "files"
        readers.prepare(shop, folder)
        return list(readers.readers(folder))


def together(works: Sequence[Callable[[], Row]]) -> Iterator[Row]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(lambda work: work(), works)


def part(name: str, shop: Workshop, seconds: float, seed: int) -> Iterator[Row]:
    """The rows of one part, in about so many seconds."""
    made = commands(shop)
    if name == "readers":
        names = all_readers(shop)
        each = AT_ONCE * seconds / len(names)
        yield from together([lambda one=one: fuzz.fuzzed(shop, one, seed, each) for one in names])
    elif name in ("kills", "disks", "writers"):
        wanted = {one: faults.reference(shop, command) for one, command in made.items()}
        each = AT_ONCE * seconds / len(made)
        tried = {
            "kills": lambda one: faults.killed(shop, one, made[one], wanted[one], seed, each),
            "disks": lambda one: faults.full(shop, one, made[one], wanted[one][0], each),
            "writers": lambda one: faults.two_at_once(shop, one, made[one], wanted[one][0], each),
        }[name]
        yield from together([lambda one=one: tried(one) for one in made])
    elif name == "clients":
        for count in (32, 128):
            yield clients.troubled(shop, count, seconds / 2)
    elif name == "updates":
        yield reading.opened(shop, seconds)
    else:
        yield from serving.bombed(shop)
        yield from serving.remembering(shop)
        yield serving.indexing(shop)


def tortured(minutes: float, only: Sequence[str], seed: int) -> dict[str, Any]:
    """All parts, or some; what was found, and on what machine."""
    began, load = time.monotonic(), os.getloadavg()[0]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="torture-") as place:
        shop = Workshop(Path(place))
        shop.build()
        told(f"built in {time.monotonic() - began:.0f} s; seed {seed}")
        left = 60 * minutes - (time.monotonic() - began)
        for name in only or SHARES:
            for row in part(name, shop, SHARES[name] * left, seed):
                rows.append(row)
                told(f"{'held' if row.whole else 'BROKE'}: {row.part}, {row.name}: {row.held:,} of {row.tried:,}")
                for failure in row.failures:
                    told(f"    {failure}")
    about = {
        "groundling": groundling.__version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load_before": round(load, 2),
        "load_after": round(os.getloadavg()[0], 2),
        "minutes": round((time.monotonic() - began) / 60, 1),
        "seed": seed,
    }
    return {"made": about, "rows": [row.as_json() for row in rows]}


def told(sentence: str) -> None:
    print(sentence, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Attacks and faults that groundling must stand.")
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--only", nargs="+", choices=list(SHARES), default=[], metavar="PART", help=", ".join(SHARES))
    parser.add_argument(
        "--seed", type=int, default=int(time.time()), help="of mutations and moments; the time by default"
    )
    parser.add_argument("--out", type=Path, default=Path("build/torture.json"))
    parser.add_argument("--page", type=Path, help="put the figures into this page")
    parser.add_argument("--render", type=Path, help="take the figures from this file: nothing is tried")
    options = parser.parse_args()
    if options.render is not None:
        found = json.loads(options.render.read_text(encoding="utf-8"))
    else:
        found = tortured(options.minutes, options.only, options.seed)
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        rows = [Row(**row) for row in found["rows"]]
        told(markdown(rows))
    if options.page is not None:
        options.page.write_text(page.filled(options.page.read_text(encoding="utf-8"), found), encoding="utf-8")
    sys.exit(0 if all(Row(**row).whole for row in found["rows"]) else 1)


if __name__ == "__main__":
    main()
