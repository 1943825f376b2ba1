"""How long every command of the README and the tutorials takes on this machine: a table, and its numbers as JSON.

    python scripts/documentation/time_commands.py                      # docs/results/timings.json and timings.md
    python scripts/documentation/time_commands.py --only "search"      # a few of them, printed and not kept
    python scripts/documentation/time_commands.py --page               # the page again from the JSON

The commands are taken from the pages as they stand there and run one after another in a new folder, with photographs
and captions made of the emoji that come along (see `timed_photographs`). What another page has shown already is not run
again. What cannot be run here is listed with the reason; the page names commands of today that the JSON does not have,
and none that no page shows any more. On two quiet cores it takes about ten minutes, and never much
longer than `--total` seconds: a command that is too slow is stopped, and what is left then is listed as not run.
"""

import argparse
import json
import os
import platform
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import timed_photographs

ROOT = Path(__file__).parents[2]
JSON, PAGE = ROOT / "docs" / "results" / "timings.json", ROOT / "docs" / "results" / "timings.md"
SHELL = ("", "bash", "sh", "console")  # what blocks of commands are marked as
BEFORE_COMMENT = re.compile(r"""(?:"[^"]*"|'[^']*'|[^"'#])*""")
COMMAND = re.compile(r"(groundling|make|pip) ")

# What stands in a page → what is run: places that are the reader's own, and windows that would open.
INSTEAD = {
    "~/Photos": "photos",
    "holiday/captions.csv": "captions.csv",
    " --open": "",
    " --from en": "",
    "make demo": "groundling demo",
}
# Why a command is not run, by what is in it.
NOT_HERE = {
    "make test": "installs, and runs all tests",
    "pip install": "installs",
    "--data DIR": "needs a data set that does not come along",
    "openai/clip": "needs the hub",
    "runs/clip+gsw": "needs a model of the hub",
    "--language gsw": "needs a model of the hub",
    "--plugin": "needs the module that the page writes; a test runs it",
    "xargs": "writes outside of its folder",
    "HOST:19530": "needs a Milvus",
    "HOST:5432": "needs a PostgreSQL with pgvector",
    "/archive": "needs an archive of millions of pictures",
    "runs/photos": "needs the run of a data set that does not come along",
    "photos.onnx": "needs the run of a data set that does not come along",
    "Zwei Hunde am Strand": "needs a model that knows these words; the one made here knows those of emoji",
}
# What a command needs that no page makes before it; not timed.
BEFORE = {
    "runs/other": "groundling train --corpus my-corpus --system bag --out runs/other --set training.maximum_steps=50 "
    "&& groundling evaluate runs/other",
}
READY = {"groundling serve": "until it answers"}  # commands that go on until they are stopped


@dataclass(frozen=True)
class Timing:
    """One command. `why` is empty where it ran to its end.

    Attributes:
        pages: where it stands.
        seconds: from start to end, or until a server answers.
        computing: seconds of processor time, of all its processes.
        megabytes: the most memory that one of its processes had.
        code: the exit status; None where it was not run, and with an empty `why` where that was not tried yet.
    """

    pages: list[str]
    command: str
    seconds: float | None = None
    computing: float | None = None
    megabytes: int | None = None
    code: int | None = None
    why: str = ""


def commands_of(text: str) -> Iterator[str]:
    """The commands in the blocks of a page, without the comments behind them."""
    language: str | None = None  # of the block that a line is in; None: of no block
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("```"):
            language = line.removeprefix("```").strip() if language is None else None
        elif language in SHELL and COMMAND.match(line):
            yield " ".join(BEFORE_COMMENT.match(line)[0].split())  # type: ignore[index]  # it matches everything


def documented(root: Path = ROOT) -> dict[str, list[str]]:
    """Every command, and the pages that show it, in the order of a reader."""
    found: dict[str, list[str]] = {}
    for page in [root / "README.md", *sorted((root / "docs" / "tutorials").glob("*.md"))]:
        for command in commands_of(page.read_text(encoding="utf-8")):
            pages = found.setdefault(command, [])
            name = page.relative_to(root).as_posix()
            if name not in pages:
                pages.append(name)
    return found


def runnable(command: str) -> str:
    for shown, ours in INSTEAD.items():
        command = command.replace(shown, ours)
    return command


def not_here(command: str) -> str:
    return next((why for part, why in NOT_HERE.items() if part in command), "")


def timed(command: str, folder: Path, limit: float) -> tuple[float, float, int, int, str]:
    """Seconds, seconds of computing, megabytes, exit status, and why it did not end by itself."""
    ours = f"{shlex.quote(sys.executable)} -m groundling "
    line = re.sub(r"(^|&& )groundling ", lambda found: found[1] + ours, command)
    serves = next((part for part in READY if command.startswith(part)), None)
    if serves:
        line += " --port 0 --json"
    with (folder / "output.txt").open("wb") as output:
        started = time.perf_counter()
        child = subprocess.Popen(  # noqa: S603  # what our own pages say
            ["/bin/bash", "-c", line],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if serves else output,
            stderr=output,
            start_new_session=True,
        )
        why, seconds, killer = "", None, time.monotonic() + limit
        if serves and child.stdout is not None:
            os.set_blocking(child.stdout.fileno(), False)
        while True:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if serves and seconds is None and child.stdout is not None and child.stdout.read():
                seconds, why = time.perf_counter() - started, READY[serves]
                os.killpg(child.pid, signal.SIGTERM)
            elif time.monotonic() > killer:
                why = f"stopped after {limit:.0f} s"
                os.killpg(child.pid, signal.SIGTERM if seconds is None else signal.SIGKILL)
                seconds, killer = time.perf_counter() - started, time.monotonic() + 30
            time.sleep(0.02)
        if seconds is None:
            seconds = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.stdout is not None:
            child.stdout.close()
    code = 0 if serves and why == READY[serves] and child.returncode in (0, 143, -15) else child.returncode
    return seconds, used.ru_utime + used.ru_stime, round(used.ru_maxrss / 1000), code, why


def last_words(folder: Path) -> str:
    lines = (folder / "output.txt").read_text(encoding="utf-8", errors="replace").replace("\r", "\n").split("\n")
    said = [line.strip() for line in lines if line.strip()]
    return said[-1][:300] if said else ""


def make_room(command: str, folder: Path) -> None:
    """A folder that an earlier page has made under the same name is put aside."""
    named = re.search(r"(?:--out|-o) (\S+)", command)
    place = folder / named[1] if named else None
    if place is not None and place.is_dir():
        place.rename(place.with_name(f"{place.name}.earlier-{time.monotonic_ns()}"))


def time_all(folder: Path, wanted: str, limit: float, total: float) -> Iterator[Timing]:
    done: dict[str, Timing] = {}
    end = time.monotonic() + total
    for command, pages in documented().items():
        if wanted not in command:
            continue
        why, ours = not_here(command), runnable(command)
        left = end - time.monotonic()
        if why:
            yield Timing(pages, command, why=why)
        elif ours in done:
            earlier = asdict(done[ours]) | {"pages": pages, "command": command}
            yield Timing(**earlier)
        elif left < 10:
            yield Timing(pages, command, why=f"the {total:.0f} s for all of them were used up")
        else:
            make_room(ours, folder)
            for place, needed in BEFORE.items():
                if place in ours and not (folder / place).exists():
                    timed(needed, folder, left)
            seconds, computing, megabytes, code, why = timed(ours, folder, min(limit, left))
            if code and not why:
                why = last_words(folder)
            done[ours] = Timing(pages, command, round(seconds, 1), round(computing, 1), megabytes, code, why)
            yield done[ours]


def cell(timing: Timing) -> str:
    """A row of the page. Commands in backticks are checked against the command line by a test."""
    shown = timing.command.replace("|", "&#124;")
    code = f"<code>{shown}</code>" if shown != timing.command else f"`{shown}`"
    where = ", ".join(Path(page).stem for page in timing.pages)
    if timing.code is None:
        return f"| {code} | {where} | | | | {f'not run: {timing.why}' if timing.why else 'not timed yet'} |"
    ended = timing.why if timing.code == 0 else f"{timing.why} (exit status {timing.code})"
    seconds, computing = f"{timing.seconds:,.1f}", f"{timing.computing:,.1f}"
    return f"| {code} | {where} | {seconds} | {computing} | {timing.megabytes:,} | {ended.replace('|', '/')} |"


def as_not_run(timing: Timing) -> Timing:
    """The same; a command that could not do here what the page shows counts as not run, whoever tried it once."""
    why = not_here(timing.command)
    return Timing(timing.pages, timing.command, why=why) if why and timing.code else timing


def page(facts: dict, shown: dict[str, list[str]]) -> str:  # type: ignore[type-arg]  # as JSON has it
    """The page of a JSON, with a row for each command that is shown somewhere today, whether the JSON has it or not."""
    known = {row["command"]: row for row in facts["commands"]}
    rows = [
        as_not_run(Timing(**known[command] | {"pages": pages}))
        if command in known
        else Timing(pages, command, why=not_here(command))
        for command, pages in shown.items()
    ]
    ran = [row for row in rows if row.code is not None]
    machine, made = facts["machine"], facts["made"]
    return "\n".join(
        [
            "# How long every command takes",
            "",
            f"All {len(rows)} commands of the README and of the tutorials, {len(ran)} of them run one after another on "
            f"{machine['cores']} cores",
            f"({machine['processor']}, Python {machine['python']}, PyTorch {machine['torch']}) by",
            f"`{made['command']}` (commit: {made['commit']}), with "
            f"{facts['pictures']:,} pictures and {facts['captions']:,} captions made of emoji; "
            f"{sum(row.seconds or 0 for row in ran):,.0f} s in all.",
            "The numbers are in [timings.json](timings.json). Memory is that of the largest process. A command that",
            "differs from an earlier one only in the reader's own names has its numbers; of one without numbers, the",
            "last column says why.",
            "",
            "| command | page | seconds | of computing | MB | |",
            "|---|---|---:|---:|---:|---|",
            *(cell(row) for row in rows),
            "",
        ]
    )


def machine() -> dict[str, object]:
    import torch

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    information = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*: (.*)", information.read_text()) if information.exists() else None
    processor = named[1] if named else platform.processor() or platform.machine()
    return {"cores": cores, "processor": processor, "python": platform.python_version(), "torch": torch.__version__}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="commands that have this in them; nothing is kept")
    parser.add_argument("--folder", type=Path, help="an empty folder to work in; a temporary one when left out")
    parser.add_argument("--pictures", type=int, default=240, help="how many the corpus of the commands has")
    parser.add_argument("--limit", type=float, default=180, help="seconds after which a command is stopped")
    parser.add_argument("--total", type=float, default=690, help="seconds after which no further one is started")
    parser.add_argument("--page", action="store_true", help="write the page again from the JSON")
    given = parser.parse_args()
    if given.page:
        PAGE.write_text(page(json.loads(JSON.read_text(encoding="utf-8")), documented()), encoding="utf-8")
        return
    with tempfile.TemporaryDirectory(prefix="groundling-timed-") as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        captions = timed_photographs.prepare(folder, given.pictures)
        rows = []
        for row in time_all(folder, given.only, given.limit, given.total):
            print(cell(row), flush=True)
            rows.append(asdict(row))
    if not given.only:
        from groundling.training.facts import commit

        told = machine()
        made = {"command": "python scripts/documentation/time_commands.py", "commit": str(commit())}
        made["device"] = f"{told['processor']}, {told['cores']} cores"
        facts = {"machine": told, "pictures": given.pictures, "captions": captions, "commands": rows, "made": made}
        JSON.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        PAGE.write_text(page(facts, documented()), encoding="utf-8")


if __name__ == "__main__":
    main()
