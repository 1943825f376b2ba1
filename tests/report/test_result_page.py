"""What every page of results has: prose from a file of its own, and how it was made."""

from pathlib import Path

from groundling.report.result_page import how_it_was_made, with_prose


def test_prose_comes_below_the_title(tmp_path: Path) -> None:
    page = tmp_path / "table.md"
    assert with_prose(page, "# T\n\nNumbers.\n") == "# T\n\nNumbers.\n"
    (tmp_path / "table.prose.md").write_text("\n*An older run.*\n\nMore.\n\n", encoding="utf-8")
    assert with_prose(page, "# T\n\nNumbers.\n") == "# T\n\n*An older run.*\n\nMore.\n\nNumbers.\n"


def test_how_it_was_made_names_seeds_and_what_brings_the_code_back() -> None:
    text = how_it_was_made({"command": "groundling reproduce x", "commit": "0e09cac", "device": "CPU"}, [0, 2])
    assert text.splitlines()[:6] == [
        "## How it was made",
        "",
        "- command: `groundling reproduce x`",
        "- seeds: `0, 2`",
        "- commit: `0e09cac`",
        "- device: `CPU`",
    ]
    assert "\n\nTo make it again: `git checkout 0e09cac`, then the command" in text
    several = how_it_was_made({"command": "x", "commit": "0e09cac, c9393af"})
    assert "`git checkout 0e09cac` or `git checkout c9393af` (each made a part), then" in several


def test_no_commit_is_made_up() -> None:
    """An installed package has none, and says None."""
    assert "checkout" not in how_it_was_made({"command": "x", "commit": "None"}) + how_it_was_made({"device": "CPU"})
