"""The table of how long commands take: every command is in it, and the page says what the JSON says."""

import json
from pathlib import Path

import pytest
from site_scripts import ROOT, script

time_commands = script("time_commands")
timed_photographs = script("timed_photographs")

PAGE = """Words.

```
groundling corpus build holiday/captions.csv --out x   # a comment
groundling search x \\
  "a # dog" -k 3
```

```python
groundling = 3
```

```yaml
groundling train: no
```

    groundling serve

```
make demo    # creates
pip install 'groundling[search]'
```
"""


def test_commands_are_those_of_blocks_without_their_comments() -> None:
    assert list(time_commands.commands_of(PAGE)) == [
        "groundling corpus build holiday/captions.csv --out x",
        'groundling search x "a # dog" -k 3',
        "make demo",
        "pip install 'groundling[search]'",
    ]


def test_every_command_of_our_pages_is_run_or_has_a_reason() -> None:
    found = time_commands.documented()
    assert found["groundling evaluate runs/mine"] == ["README.md", "docs/tutorials/own-data.md"]
    assert len(found) > 30
    run = [command for command in found if not time_commands.not_here(command)]
    assert all(time_commands.runnable(command).startswith("groundling ") for command in run)
    assert len(run) > 25


def test_a_command_is_timed_with_its_memory_and_its_end(tmp_path: Path) -> None:
    seconds, computing, megabytes, code, why = time_commands.timed("groundling --version", tmp_path, 100)
    assert (code, why) == (0, "") and computing > 0 and seconds > 0 and megabytes > 5
    assert "groundling" in (tmp_path / "output.txt").read_text()
    *_, code, why = time_commands.timed("groundling corpus inspect nowhere", tmp_path, 100)
    assert code == 2 and "nowhere" in time_commands.last_words(tmp_path)
    *_, code, why = time_commands.timed("sleep 60", tmp_path, 0.2)
    assert code and why == "stopped after 0 s"


def test_the_page_says_what_the_json_says() -> None:
    facts = {
        "machine": {"cores": 2, "processor": "P", "python": "3.11", "torch": "2.13"},
        "made": {"command": "python time.py", "commit": "abc1234", "device": "P, 2 cores"},
        "pictures": 240,
        "captions": 990,
        "commands": [
            {"pages": ["README.md"], "command": "groundling corpus list | head", "seconds": 1.26, "computing": 1.0}
            | {"megabytes": 1234, "code": 0, "why": ""},
            {"pages": ["docs/tutorials/own-data.md"], "command": "make test", "why": "installs"},
            {"pages": ["README.md"], "command": "groundling demo", "seconds": 9.0, "computing": 8.0}
            | {"megabytes": 12, "code": 2, "why": "no | room"},
            {"pages": ["README.md"], "command": "groundling index /archive", "seconds": 7.0, "computing": 1.0}
            | {"megabytes": 12, "code": 2, "why": "no such folder"},
        ],
    }
    shown = {row["command"]: row["pages"] for row in facts["commands"]}
    text = time_commands.page(facts, shown)
    assert "| <code>groundling corpus list &#124; head</code> | README | 1.3 | 1.0 | 1,234 |  |" in text
    assert "| `make test` | own-data | | | | not run: installs |" in text
    assert "| `groundling demo` | README | 9.0 | 8.0 | 12 | no / room (exit status 2) |" in text
    assert "| `groundling index /archive` | README | | | | not run: needs an archive of millions of pictures |" in text
    assert "`python time.py` (commit: abc1234)" in text
    assert "All 4 commands" in text and "2 of them run" in text and "10 s in all" in text

    later = {"groundling new": ["docs/tutorials/search.md"], "groundling index /archive -k": ["README.md"]}
    moved = {"groundling demo": ["docs/tutorials/own-data.md"]}
    rows = time_commands.page(facts, later | moved).splitlines()
    assert "All 3 commands" in rows[2] and "1 of them run" in rows[2]
    assert [row for row in rows if row.startswith("| `")] == [
        "| `groundling new` | search | | | | not timed yet |",
        "| `groundling index /archive -k` | README | | | | not run: needs an archive of millions of pictures |",
        "| `groundling demo` | own-data | 9.0 | 8.0 | 12 | no / room (exit status 2) |",
    ]


def test_our_page_is_the_one_of_our_json_and_of_our_commands() -> None:
    facts, shown = json.loads(time_commands.JSON.read_text(encoding="utf-8")), time_commands.documented()
    text = time_commands.PAGE.read_text(encoding="utf-8")
    again = "commands of the pages have changed: python scripts/documentation/time_commands.py --page"
    assert text == time_commands.page(facts, shown), again
    assert time_commands.PAGE.is_relative_to(ROOT / "docs" / "results")


def test_every_command_of_our_pages_has_a_row_and_one_without_numbers_says_why() -> None:
    timed = {row["command"] for row in json.loads(time_commands.JSON.read_text(encoding="utf-8"))["commands"]}
    text = time_commands.PAGE.read_text(encoding="utf-8")
    rows = [row.replace("&#124;", "|") for row in text.splitlines()]
    shown = time_commands.documented()
    assert f"All {len(shown)} commands" in text
    for command in shown:
        (row,) = [row for row in rows if row.startswith((f"| `{command}` |", f"| <code>{command}</code> |"))]
        if command not in timed:
            why = time_commands.not_here(command)
            assert row.endswith(f"| {f'not run: {why}' if why else 'not timed yet'} |")


def test_photographs_are_made_of_what_comes_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    from groundling.corpus import Corpus

    for name in "abcdefghij":
        Image.new("RGBA", (8, 8), "red").save(tmp_path / f"{name}.png")
    codes = ("en", "de", "fr", "ar", "nl", "ko")
    rows = [
        {"picture": f"{name}.png", "language": code, "text": f"{name} <in> {code}", "split": "train"}
        for name in "abcdefghij"
        for code in codes
    ]
    known = Corpus.of(rows, tmp_path, "emoji")
    monkeypatch.setattr(timed_photographs.corpora, "load", lambda name: known)
    folder = tmp_path / "work"
    folder.mkdir()
    count = timed_photographs.prepare(folder, 10)
    lines = (folder / "captions.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert count == len(lines) == 10 * 4 + 2  # Dutch for the two that are tested
    assert all((folder / line.split(",")[0]).exists() for line in lines)
    lines = (folder / "pairs.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "en\tko" and len(lines) == 11
    with Image.open(folder / "beach.jpg") as photo:
        assert photo.getexif()[0x0132].startswith("2019:07")
        assert b"a &lt;in&gt; en" in photo.info["xmp"]
    assert timed_photographs.prepare(folder, 10) == count  # nothing is made twice
