"""`make torture` itself, for some seconds: it finds what it should find, and its page is what it found."""

import asyncio
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1]))

from groundling.errors import UserError
from groundling.files import atomic_path
from torture import clients, commands, faults, fuzz, page, readers
from torture.memory import Watch
from torture.mutation import mutated
from torture.results import Row, markdown
from torture.workshop import Said, Workshop, draw

ROOT = Path(__file__).parents[1]


def test_mutations_change_files_and_come_back_by_their_seed() -> None:
    whole = b'{"a": [1, 2, 3], "b": "words"}' * 20
    made = [mutated(whole, np.random.default_rng(seed)) for seed in range(300)]
    assert made == [mutated(whole, np.random.default_rng(seed)) for seed in range(300)]
    assert sum(one == whole for one in made) < 15
    assert len(set(made)) > 270
    assert mutated(b"", np.random.default_rng(0)) is not None


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    """Drawings alone: nothing is trained here."""
    made = Workshop(tmp_path / "shop")
    draw(made.folder / "shapes")
    (made.folder / "recipe.yaml").write_text("name: x\ncorpus: {name: corpus}\nsystem: {name: bag}\n")
    return made


def test_readers_that_hold_and_readers_that_do_not(
    shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "files"
    readers.prepare(shop, folder)
    found = readers.readers(folder)
    assert {
        "captions.csv",
        "captions.jsonl",
        "captions.parquet",
        "recipe",
        "picture: a.jpg",
        "features",
    } <= found.keys()
    for name in (
        "captions.csv",
        "captions.jsonl",
        "recipe",
        "sentence pairs, TMX",
        "sentence pairs, TSV",
        "dictionary",
        "word vectors, text",
        "features",
    ):
        path = folder / found[name].file
        whole = path.read_bytes()
        assert fuzz.tried(found[name], folder) is None
        for seed in range(15):
            path.write_bytes(mutated(whole, np.random.default_rng(seed)))
            assert fuzz.tried(found[name], folder) is None, (name, seed)
        path.write_bytes(whole)

    def breaks(_: Path) -> object:
        raise KeyError("de")

    def rambles(_: Path) -> object:
        raise UserError("two\nlines")

    assert fuzz.tried(readers.Reader("", breaks), folder) == "KeyError: \"'de'\""
    assert "not one sentence" in str(fuzz.tried(readers.Reader("", rambles), folder))
    monkeypatch.setattr(fuzz, "LONGEST", -1.0)
    assert "took 0 seconds" in str(fuzz.tried(readers.Reader("", lambda _: None), folder))


def test_a_reader_in_a_process_of_its_own(shop: Workshop) -> None:
    row = fuzz.fuzzed(shop, "dictionary", 0, 0.2)
    assert row.whole
    assert row.tried >= 1


class Made(commands.Command):
    """A command that is a function here."""

    def call(self, shop: Workshop, out: Path, again: bool = False, **options: object) -> Said:
        return self.arguments[0](out)  # type: ignore[operator]


def writes(out: Path) -> Said:
    out.mkdir(exist_ok=True)
    with atomic_path(out / "file") as temporary:
        temporary.write_text("whole")
    return Said(0, "", "")


def test_what_a_killed_command_leaves_is_looked_at(shop: Workshop, tmp_path: Path) -> None:
    command = Made([writes], lambda folder: (folder / "file").read_text())
    out = tmp_path / "place" / "out"
    out.mkdir(parents=True)
    assert faults._after(shop, command, "whole", out) is None
    (out / "file").unlink()
    (out / ".file.abc.part").touch()
    assert "left behind" in str(faults._after(shop, command, "whole", out))
    shutil.rmtree(out)
    assert faults._after(shop, command, "other", out) == "called again, it ended in other content"
    broken = Made([lambda out: Said(1, "", "Traceback")], command.content)
    shutil.rmtree(out)
    assert "called again: Traceback" in str(faults._after(shop, broken, "whole", out))


def test_how_commands_may_fail(tmp_path: Path) -> None:
    good, refused = Said(0, "", ""), Said(2, "", "groundling: x: is being written by another process; wait\n")
    assert refused.sentence() is None
    assert "exit code 1" in str(Said(1, "", "Traceback (most recent call last)").sentence())
    assert "not one sentence" in str(Said(2, "", "Traceback\ngroundling: a\n").sentence())
    command = commands.Command([], lambda folder: "same")
    assert faults._of_two(command, "same", tmp_path, [good, refused]) is None
    assert faults._of_two(command, "another", tmp_path, [good, refused]) == "a mixture of two"
    assert "neither" in str(faults._of_two(command, "same", tmp_path, [refused, refused]))
    other = Said(2, "", "groundling: no such file\n")
    assert "another reason" in str(faults._of_two(command, "same", tmp_path, [good, other]))


def test_a_disk_that_is_full_is_full(shop: Workshop) -> None:
    for how, disk in faults.disks(shop):
        with disk() as (place, options, empty):
            if "kB" in how:
                with pytest.raises(UserError, match="no room is left"), atomic_path(place / "file") as temporary:
                    temporary.write_bytes(bytes(300_000))
                empty()
                (place / "file").write_bytes(bytes(300_000))
            else:
                assert "preexec_fn" in options


def test_clients_ask_words_and_pictures_and_wait_for_answers() -> None:
    chance = np.random.default_rng(0)
    asked = [clients.request(number, chance, b"photo") for number in range(2000)]
    assert 60 < sum(picture for _, picture in asked) < 140
    assert len({sent for sent, picture in asked if not picture}) > 1800

    async def play() -> clients.Seen:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]
                await reader.readexactly(int(length or 0))
                await asyncio.sleep(0.002)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        seen = await clients.phase(port, 3, 0.5, [b"bomb"], b"photo", 0)
        server.close()
        return seen

    seen = asyncio.run(play())
    assert seen.words
    assert seen.refused == []
    assert 0.002 <= seen.p99() < 5


def test_memory_of_a_process_is_seen() -> None:
    import mmap
    import os

    with Watch(os.getpid()) as watch:
        before = watch.now()
        with mmap.mmap(-1, 50_000_000) as held:  # an array could come from memory that was freed and is resident still
            held.write(b"\1" * len(held))
            assert watch.now() - before > 30
    assert watch.peak >= before + 30


def found() -> dict:
    rows = [
        Row(
            "clients",
            "32, one attacker among them",
            10,
            10,
            "p99",
            [],
            {"ratio": 1.5, "p99_calm_ms": 10, "p99_attacked_ms": 15},
        )
    ]
    rows.append(Row("kill −9", "train", 4, 3, "3 while it ran", ["left behind"]))
    made = {
        "groundling": "0",
        "python": "3",
        "cores": 2,
        "load_before": 7.0,
        "load_after": 8.0,
        "minutes": 15,
        "seed": 1,
    }
    return {"made": made, "rows": [row.as_json() for row in rows]}


def test_the_page_has_the_figures_between_its_marks() -> None:
    text = f"before\n\n{page.BEGIN}\nfigures of last year\n{page.END}\nafter\n"
    once = page.filled(text, found())
    assert page.filled(once, found()) == once
    assert once.startswith("before\n")
    assert once.endswith("after\n")
    assert "last year" not in once
    assert "1.50 (10 → 15 ms)" in once
    assert "3 of 4 held" in once
    assert "13 of 14 trials held" in once
    assert "Other programs used the machine" in once
    assert "| kill −9 | train | 4 | 3 | 3 while it ran |" in markdown([Row(**row) for row in found()["rows"]])


def test_the_page_of_the_documentation_is_what_was_found_last() -> None:
    text = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    last = json.loads((ROOT / "docs" / "reliability.json").read_text(encoding="utf-8"))
    assert page.filled(text, last) == text
