"""The page is whole: balanced, self-contained, escaped, and without the parts that were not given."""

import base64
import io
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from groundling.evaluation.examples import Example, FoundCaptions, FoundPictures, ShownCaption, ShownPicture
from groundling.evaluation.results import RetrievalScores
from groundling.report import curves
from groundling.report.picture_sheet import picture_blocks, thumbnail
from groundling.report.run_report import RunReport, Seen
from made_results import retrieval, scores

EVIL = '<script>alert("1")</script> | & </style></svg> \x00\ud800'
RANKS = {"R@1": 30.0, "R@5": 60.0, "R@10": 72.04, "median": 3.0}
PART = scores({"mR": 55.5}, RANKS, {**RANKS, "R@10": 81.0})
RESULT = retrieval({"en": PART, "ar": PART})
METRICS: list[dict[str, Any]] = [{"step": step, "loss": 100 / step} for step in range(10, 5000, 10)]
METRICS += [{"step": step, "validation": step / 50, "languages": {"en": 5.0, "ar": 6.0}} for step in (1000, 2000)]
VOID = {"meta", "img", "br", "link"}


class Page(HTMLParser):
    """Checks that tags close in order and remembers elements and visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)

    def find(self, tag: str, **wanted: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag and wanted.items() <= attrs.items()]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{name}.png" for name in "abcde"]
    for number, path in enumerate(paths):
        Image.new("RGB", (300, 200), (40 * number, 10, 200)).save(path)
    return paths


@pytest.fixture
def sheet(pictures: list[Path]) -> list[Example]:
    hits = [ShownPicture(path, score=0.5 - n / 10, correct=n == 2) for n, path in enumerate(pictures)]
    captions = [ShownCaption("he", "ביזון", 0.81, True), ShownCaption("en", EVIL, 0.7, False)]
    return [
        FoundPictures("ar", "قطة", 3, hits, pictures[2], ""),
        FoundPictures(EVIL, EVIL, 1234, hits[:2], pictures[4], ""),
        FoundCaptions(pictures[0], captions),
    ]


def everything(sheet: list[Example]) -> RunReport:
    result = retrieval({**RESULT.languages, EVIL: PART}, corpus=EVIL)
    settings = {EVIL: {"deep": {"learning_rate": 6e-4, "languages": ["en", EVIL]}}}
    run = {"system": EVIL, "seconds": 4392.0, "parameters": 3412992, "seed": 20251, "command": ["a", "b c", EVIL]}
    metrics = [*METRICS, {"step": 3000, "validation": 1.0, "languages": {EVIL: 3.0, "en": float("nan")}}]
    return RunReport(result, metrics, settings, run, sheet)


def picture_sheet(sheet: list[Example]) -> str:
    return "\n".join(block.html() for blocks in picture_blocks(sheet) for block in blocks)


def learning_curves(metrics: list[dict[str, Any]]) -> str:
    return "\n".join(block.html() for block in curves.learning_curves(metrics))


def test_the_page_is_well_formed_escaped_and_self_contained(sheet: list[Example]) -> None:
    text = everything(sheet).html()
    text.encode("utf-8")
    page = Page(text)
    assert not page.find("script")
    assert not page.find("link")
    addresses = re.findall(r"https?://[^\"'\s]*", text)
    assert set(addresses) == {"http://www.w3.org/2000/svg"}
    assert all((attrs["src"] or "").startswith("data:image/") for attrs in page.find("img"))
    assert not re.search(r"@import|url\(", text)
    assert not re.search(r"\bon\w+=|javascript:", text)
    assert page.text.count('<script>alert("1")</script> | & </style></svg>') >= 6
    assert [heading for heading in ("h1", "h2", "h3") if page.find(heading)] == ["h1", "h2", "h3"]


def test_the_headline_sets_recall_against_chance() -> None:
    page = Page(RunReport(RESULT, facts={"system": "lessons"}).html())
    assert "lessons on emoji" in page.text
    assert "Tested on 250 pictures and 500 captions in 2 languages (split test)." in page.text
    assert "72.0 % chance 4.0 %" in page.text
    assert "81.0 % chance 4.0 %" in page.text
    styles = [attrs["style"] for attrs in page.find("div") if "style" in attrs]
    assert styles == ["width:72.04%", "left:4.00%", "width:81.00%", "left:4.00%"]


def test_unseen_and_seen_pictures_are_told_apart(sheet: list[Example], pictures: list[Path]) -> None:
    hits = [ShownPicture(pictures[3], score=0.5, correct=True)]
    seen = Seen(retrieval({"en": PART}, pictures=40), [FoundPictures("en", "a known one", 1, hits, pictures[3], "")])
    report = RunReport(RESULT, sheet=sheet, seen=seen)
    text = report.html()
    page = Page(text)
    assert "Tested on 250 pictures that training has never seen and 500 captions" in page.text
    assert "the same of 40 pictures that it was trained on" in page.text
    assert re.findall(r"<h2>(.*?)</h2>", text)[1:] == [
        "Pictures that training has never seen",
        "Pictures that it was trained on",
    ]
    unseen, known = text.split("<h2>Pictures that it was trained on</h2>")
    assert "a known one" in known and "a known one" not in unseen
    assert "قطة" in unseen and "قطة" not in known
    assert "among 250 pictures" in unseen and "among 40 pictures" in known
    assert "of 40 pictures that it was trained on" in report.markdown()


@pytest.mark.parametrize("missing", ["metrics", "settings", "facts", "sheet"])
def test_missing_parts_are_left_out(missing: str, sheet: list[Example]) -> None:
    parts: dict[str, Any] = {"metrics": METRICS, "settings": {"a": 1}, "facts": {"seed": 1}, "sheet": sheet}
    headings = {"metrics": "Learning curves", "sheet": "Picture sheet", "settings": "Settings"}
    headings["facts"] = "How it was made"
    parts.pop(missing)
    report = RunReport(RESULT, **parts)
    text = report.html()
    Page(text)
    shown = re.findall(r"<h2>(.*?)</h2>", text)
    assert shown == ["Recall", *(name for key, name in headings.items() if key != missing)]
    assert "## Recall" in report.markdown()


def test_a_metric_that_is_not_known_is_a_dash(sheet: list[Example]) -> None:
    bare = RetrievalScores({"R@10": 1.0}, {"R@10": 2.0}, {}, 250, 250)
    assert "–" in Page(RunReport(retrieval({"en": bare})).html()).text


def test_captions_carry_language_and_direction(sheet: list[Example]) -> None:
    page = Page(picture_sheet(sheet))
    assert len(page.find("span", dir="rtl", lang="ar")) == 1
    assert len(page.find("span", dir="rtl", lang="he")) == 1
    assert len(page.find("span", dir="auto", lang="en")) == 1
    assert "rank 1,234" in page.text
    assert "✓ 0.30" in page.text
    assert "✗ 0.50" in page.text


def test_the_answer_is_shown_only_where_it_was_not_found(sheet: list[Example]) -> None:
    assert [Page(picture_sheet([entry])).text.endswith("answer") for entry in sheet[:2]] == [False, True]
    assert len(Page(picture_sheet(sheet[:1])).find("img")) == 5
    assert len(Page(picture_sheet(sheet[1:2])).find("img")) == 3


def test_file_names_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / 'a" onerror="x<b>.png'
    Image.new("L", (8, 8)).save(path)
    page = Page(picture_sheet([FoundPictures("", "x", 1, [ShownPicture(path)], None, "")]))
    assert [set(attrs) for attrs in page.find("img")] == [{"src", "alt"}]
    assert page.find("img")[0]["alt"] == path.name


def decoded(uri: str) -> Image.Image:
    kind, data = re.fullmatch(r"data:image/(\w+);base64,(.*)", uri).groups()  # type: ignore[union-attr]
    image = Image.open(io.BytesIO(base64.b64decode(data)))
    assert image.format == kind.upper()
    return image


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "LA", "P", "1", "CMYK", "I;16"])
def test_thumbnails_decode_in_every_mode(mode: str, tmp_path: Path) -> None:
    path = tmp_path / ("x.tif" if mode in ("CMYK", "I;16") else "x.png")
    Image.new(mode, (400, 100)).save(path)
    uri = thumbnail(path)
    assert uri
    assert decoded(uri).size == (176, 44)


def test_thumbnails_keep_transparency_and_stand_upright(tmp_path: Path) -> None:
    clear = tmp_path / "clear.png"
    Image.new("RGBA", (64, 64), (255, 0, 0, 0)).save(clear)
    image = decoded(thumbnail(clear) or "").convert("RGBA")
    assert image.getpixel((5, 5))[3] == 0  # type: ignore[index]
    turned = tmp_path / "turned.jpg"
    orientation = Image.Exif()
    orientation[0x0112] = 6  # held on its side
    Image.new("RGB", (80, 40)).save(turned, exif=orientation)
    assert decoded(thumbnail(turned) or "").size == (40, 80)


def test_a_picture_that_cannot_be_read_is_a_placeholder(tmp_path: Path, pictures: list[Path]) -> None:
    torn = tmp_path / "torn & <b>.png"
    torn.write_bytes(pictures[0].read_bytes()[:60])
    (tmp_path / "folder.png").mkdir()
    paths = (torn, tmp_path / "folder.png", tmp_path / "gone.png", Path("nul\x00.png"), None)
    hits = [ShownPicture(path) for path in paths]
    page = Page(picture_sheet([FoundPictures("", "x", 1, hits, None, ""), FoundCaptions(None, [])]))
    assert not page.find("img")
    assert len(page.find("span", **{"class": "lost"})) == 6
    assert "torn & <b>.png" in page.text


def test_curves_average_long_histories_and_take_the_later_of_two_rows() -> None:
    html = learning_curves([{"step": 5, "loss": 99.0}, {"step": 5, "loss": 1.0}, {"step": 6, "loss": 2.0}])
    assert "1 at 5, 2 at 6" in html
    assert 'class="band"' not in html
    long = learning_curves([{"step": step, "loss": float(step % 2)} for step in range(1000)])
    assert 'class="band"' in long
    assert len(re.findall(r"L", long.split('class="line" d="')[1].split('"')[0])) == 199


def test_many_languages_get_a_chart_each_over_the_same_axis() -> None:
    codes = ["en", "de", "fr", "es", "cs", "ru", "ar"]
    row = {"validation": 1.0, "languages": {code: 10.0 * n for n, code in enumerate(codes)}}
    page = Page(learning_curves([{"step": 1, **row}, {"step": 2, **row}]))
    labels = [attrs["aria-label"] for attrs in page.find("svg")]
    assert labels[0] == "Validation score by step"
    assert labels[1:3] == ["Validation score, English (en)", "Validation score, German (de)"]
    assert len(labels) == 1 + len(codes)
    assert page.texts.count("60") == len(codes)
    together = Page(learning_curves([{"step": 1, "languages": {"en": 1.0, "de": 2.0}}]))
    assert [attrs["aria-label"] for attrs in together.find("svg")] == ["Validation score by language"]


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_curves_of_nothing_are_nothing(value: float | None) -> None:
    assert learning_curves([]) == ""
    rows = [{"step": 1, "loss": value}, {"step": 2, "validation": value, "languages": {"en": value, "de": value}}]
    assert learning_curves(rows) == ""


def test_write_leaves_a_page_and_a_short_text(tmp_path: Path, sheet: list[Example]) -> None:
    page = everything(sheet).write(tmp_path / "run")
    short = page.with_suffix(".md")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["report.html", "report.md"]
    Page(page.read_text(encoding="utf-8"))
    text = short.read_text(encoding="utf-8")
    assert "<script" not in text.replace("a 'b c' '<script", "")  # the command stands in a code block
    assert "- 72.0 % of captions find their picture among the first ten (chance 4.0 %)" in text
    assert re.search(r"^\| time +\| 1 h 13 min +\|$", text, re.M)
    assert re.search(r"^\| parameters +\| 3,412,992 +\|$", text, re.M)
    assert re.search(r"^\| seed +\| 20251 +\|$", text, re.M)
    assert "deep.learning_rate" in text


def test_the_page_is_the_same_each_time(sheet: list[Example]) -> None:
    assert everything(sheet).html() == everything(sheet).html()
