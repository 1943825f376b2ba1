"""groundling show: a page with and without picture files, for languages trained on or not."""

from pathlib import Path

import commands
import pytest
from commands import assert_one_sentence, call, content
from PIL import Image

own_ground = commands.own_ground  # each test in a folder of its own
world_files, train_world = commands.world_files, commands.train_world


@pytest.fixture
def run(train_world: list[str]) -> Path:
    assert (
        call(*train_world, "--set", "corpus.languages=[en]", "--set", "system.caption_pairs=0", "--out", "run").code
        == 0
    )
    return Path("run")


def test_a_page_without_files_tells_pictures_by_their_captions(run: Path) -> None:
    before = content(run)
    said = call("show", run, "--pictures", 3, "--queries", 4)
    assert said.out == "Page: run/show.html\n"
    page = Path("run/show.html").read_text(encoding="utf-8")
    Path("run/show.html").unlink()
    assert content(run) == before
    assert "<img" not in page
    assert page.count('class="described one"') == 3
    assert page.count('class="query"') == 4
    assert "There are no files of the pictures" in page
    assert "3 pictures and 4 captions in English (en), drawn at random (seed 0) from the split test, not chosen" in page


def test_photos_are_looked_for_by_name(run: Path) -> None:
    Path("photos").mkdir()
    for number in range(150):
        Image.new("RGB", (300, 200), (number, 90, 200)).save(Path("photos") / f"picture-{number}", "png")
    shown = call("show", run, "--photos", "photos", "--out", "pages/one.html", "--json").json
    page = Path("pages/one.html").read_text(encoding="utf-8")
    assert not Path("run/show.html").exists()
    assert page.count("<img") >= 8 + 8 * 5
    assert "There are no files" not in page
    assert shown["told"] is False
    first = shown["examples"][0]
    assert first["hits"][0]["picture"] == f"photos/{first['hits'][0]['name']}"


def test_seeds_draw_and_languages_need_no_training(run: Path) -> None:
    def shown(*options: object) -> object:
        return call("show", run, *options, "--out", "page.html", "--json").json["examples"]

    assert shown() == shown("--seed", 0) != shown("--seed", 1)
    found = call("show", run, "--language", "de", "--language", "en", "--out", "page.html", "--json").json
    assert found["untrained"] == ["de"]
    assert {entry["language"] for entry in found["examples"]} == {"de", "en"}
    assert "Not trained on: German (de)." in Path("page.html").read_text(encoding="utf-8")
    assert call("show", run, "--out", "page.html", "--json").json["untrained"] == []


def test_mistakes_leave_the_page_that_is_there(run: Path) -> None:
    Path("page.html").write_text("old")
    for options, words in (
        (["--language", "xx"], 'corpus world has no captions in "xx"'),
        (["--photos", "nowhere"], "--photos nowhere: no such folder"),
        (["--split", "exam"], '"exam" is not train, dev or test'),
        (["--pictures", 0, "--queries", 0], "leave nothing to show"),
    ):
        assert_one_sentence(call("show", run, *options, "--out", "page.html"), words)
    assert_one_sentence(call("show", run, "--out", "."), "a folder, where the name of a page is needed")
    assert_one_sentence(call("show", "nowhere"), "nowhere: neither the folder of a run")
    assert Path("page.html").read_text() == "old"


def test_captions_before_and_after_their_translations(train_world: list[str]) -> None:
    """Each is asked alone, then together with the caption of the same picture in the other language."""
    assert call(*train_world, "--set", "system.caption_pairs=0", "--out", "both").code == 0
    command = ["show", "both", "--pictures", 0, "--queries", 3, "--translations"]
    shown = call(*command, "comparable", "--json").json
    pairs = shown["together"]
    assert len(pairs) == 6 and "together" not in call(*command[:-1], "--json").json
    for alone, together in zip(pairs[::2], pairs[1::2], strict=True):
        assert together["text"].startswith(alone["text"] + " + ")
        assert together["language"] == alone["language"] and together["answer"] == alone["answer"]
        code = {"en": "de", "de": "en"}[alone["language"]]
        assert together["text"].endswith(f" ({code})")
        assert together["hits"][0]["score"] != alone["hits"][0]["score"]
    call(*command, "comparable")
    page = Path("both/show.html").read_text(encoding="utf-8")
    assert "alone and with their translations" in page
    asked = call("evaluate", "both", "--consistency", "average", "--source", "comparable", "--json").json
    recall = f"{asked['languages']['de']['mR']:.1f}"  # the numbers of CLC-A stand below
    assert recall in page.split("All queries of the split with their translations")[1].split("</table>")[0]
    assert_one_sentence(call(*command, "corpus:nowhere"), "nowhere")
