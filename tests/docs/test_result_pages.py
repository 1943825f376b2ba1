"""Tables of experiments as pages of docs/results."""

import json
from pathlib import Path

from site_scripts import script

publish = script("result_pages").publish


def made(folder: Path, figures: int) -> Path:
    folder.mkdir()
    (folder / "results.json").write_text(json.dumps({"title": "T", "rows": []}))
    links = "\n\n".join(f"![R@10](figure-{number}.svg)" for number in range(1, figures + 1))
    (folder / "results.md").write_text(f"# T\n\n{links}\n\n[elsewhere](other.svg)\n")
    for number in range(1, figures + 1):
        (folder / f"figure-{number}.svg").write_text(f"<svg>{number}</svg>")
    return folder


def test_a_table_becomes_a_page_with_its_figures_and_json(tmp_path: Path) -> None:
    page = publish(made(tmp_path / "made", 2), "lessons-f8k7/table2", tmp_path / "pages")
    assert page == tmp_path / "pages" / "lessons-f8k7" / "table2.md"
    assert page.read_text() == (
        "# T\n\n![R@10](table2-figure-1.svg)\n\n![R@10](table2-figure-2.svg)\n\n[elsewhere](other.svg)\n"
    )
    assert (page.parent / "table2-figure-2.svg").read_text() == "<svg>2</svg>"
    assert json.loads(page.with_suffix(".json").read_text()) == {"title": "T", "rows": []}


def test_figures_of_an_earlier_page_go_and_those_of_other_tables_stay(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    publish(made(tmp_path / "three", 3), "a/table", pages)
    publish(made(tmp_path / "other", 1), "a/tables", pages)
    publish(made(tmp_path / "one", 1), "a/table", pages)
    assert sorted(path.name for path in (pages / "a").glob("*.svg")) == ["table-figure-1.svg", "tables-figure-1.svg"]
