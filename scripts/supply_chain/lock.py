"""locks/: what `make` may install, each file of each package by its SHA-256.

    python scripts/supply_chain/lock.py --index URL     # write them anew, after a change of constraints.txt
    python scripts/supply_chain/lock.py                 # whether they fit constraints.txt; the answer is the exit code

Run it in the environment that `make test` has made: what the packages of the demo need is read from what is installed.
URL is any package index of the simple form ("…/simple"); it is not written down, since hashes are the same everywhere.
"""

import argparse
import html
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote
from urllib.request import Request, urlopen

ROOT = Path(__file__).parent.parent.parent
CONSTRAINTS, DEMO, TOOLS = ROOT / "constraints.txt", ROOT / "locks" / "demo.txt", ROOT / "locks" / "tools.txt"
# torch is pinned to a version and not to a file: builds for CPUs, for GPUs and by distributors share that version, and
# torchvision must be of the same build. Triton is what torch's build for GPUs brings along, and exists for Linux alone.
UNLOCKED = {"torch", "torchvision", "triton"}
EXTRAS = ("demo", "search", "serve")  # what `make demo` installs
SYSTEMS = re.compile(r"-(any|manylinux\w*_(x86_64|aarch64)[\w.]*|macosx_\w+|win_amd64)\.whl$")
PYTHONS = re.compile(r"-(py3|py2\.py3|cp311|cp312|cp3\d+-abi3|py3\d\.\S*|cp3\d+\.\S*)-")
HEAD = """\
# {what}, each file by its SHA-256.
# Written by scripts/supply_chain/lock.py from constraints.txt, for CPython 3.11 and 3.12 on Linux, macOS and Windows.
# torch is not here, on purpose: constraints.txt pins its version, but its builds for CPUs and GPUs share that version,
# and which of them is the right one is the machine's to know. pip takes it from where you have told it to.
"""


def normal(name: str) -> str:
    """PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(path: Path = CONSTRAINTS) -> dict[str, str]:
    """Name → version, of a file of requirements; hashes are left out."""
    found = re.findall(r"^([A-Za-z0-9][\w.-]*)==(\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {normal(name): version for name, version in found}


def hashes(path: Path) -> dict[str, list[str]]:
    """Name → SHA-256 of its files."""
    found: dict[str, list[str]] = {}
    for block in re.split(r"^(?=[A-Za-z0-9])", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        found[normal(block.partition("==")[0])] = re.findall(r"--hash=sha256:([0-9a-f]{64})\b", block)
    return found


def problems() -> Iterator[str]:
    """Why the locks are not those of constraints.txt."""
    wanted = {name: version for name, version in pinned().items() if name not in UNLOCKED}
    locked = [pinned(DEMO), pinned(TOOLS)]
    for name in sorted(locked[0].keys() & locked[1].keys()):
        yield f"{name} is in both locks"
    together = {**locked[0], **locked[1]}
    for name in sorted(wanted.keys() | together.keys()):
        here, there = wanted.get(name, "nothing"), together.get(name, "nothing")
        if here != there:
            yield f"{name}: {here} in constraints.txt, {there} in locks/"
    for path in (DEMO, TOOLS):
        yield from (f"{path.name}: {name} has no hash" for name, found in hashes(path).items() if not found)


def needed(extras: Iterable[str] = ()) -> set[str]:
    """All that groundling needs with these extras: its own needs by pyproject.toml, those of others as installed."""
    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    waiting = [(Requirement(line), "") for line in lines]
    found: set[tuple[str, str]] = set()
    while waiting:
        requirement, asked_for = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": asked_for}):
            continue
        for extra in {"", *requirement.extras}:
            one = (normal(requirement.name), extra)
            if one not in found:
                found.add(one)
                waiting += [(Requirement(line), extra) for line in metadata.requires(requirement.name) or []]
    return {name for name, _ in found}


def files(index: str, name: str, version: str) -> list[str]:
    """The SHA-256 of the files of a release that fit one of our systems."""
    with urlopen(Request(f"{index.rstrip('/')}/{name}/", headers={"Accept": "text/html"})) as answer:  # noqa: S310
        page = answer.read().decode()
    kept = set()
    for address, sha256 in re.findall(r'href="([^"#]+)#sha256=([0-9a-f]{64})"', page):
        file = unquote(html.unescape(address).rpartition("/")[2])
        sdist = file.removesuffix(".tar.gz").removesuffix(".zip").rpartition("-")
        wheel = file.split("-")[:2]
        if (normal(sdist[0]), sdist[2]) == (name, version):
            kept.add(sha256)
        if (normal(wheel[0]), wheel[-1]) == (name, version) and PYTHONS.search(file) and SYSTEMS.search(file):
            kept.add(sha256)
    if not kept:
        sys.exit(f"{name} {version}: the index has no file of it")
    return sorted(kept)


def write(path: Path, what: str, names: Iterable[str], found: dict[str, list[str]]) -> None:
    lines = [HEAD.format(what=what)]
    versions = pinned()
    for name in sorted(names):
        lines.append(" \\\n    ".join([f"{name}=={versions[name]}", *(f"--hash=sha256:{one}" for one in found[name])]))
        lines.append("\n")
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Lock what is installed by the hashes of its files, or check that.")
    parser.add_argument("--index", help="the package index to ask, such as https://HOST/simple; without it: check")
    index = parser.parse_args().index
    if index is not None:
        wanted = {name: version for name, version in pinned().items() if name not in UNLOCKED}
        with ThreadPoolExecutor(8) as pool:
            found = dict(zip(wanted, pool.map(lambda one: files(index, *one), wanted.items()), strict=True))
        demo = needed(EXTRAS) & wanted.keys()
        write(DEMO, f"What `make demo` installs ({', '.join(EXTRAS)})", demo, found)
        write(TOOLS, "What `make test`, `make lint` and `make docs` install beside that", wanted.keys() - demo, found)
    wrong = list(problems())
    if wrong:
        sys.exit("\n".join([*wrong, "write the locks anew: make lock INDEX=https://HOST/simple"]))


if __name__ == "__main__":
    main()
