"""Training, evaluating and teaching from Python, and what is printed of the things one holds in hand."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

import groundling
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.files import read_json
from groundling.run import Run
from groundling.search import index_pictures

COLOURS = {"red": "rot", "green": "grün", "blue": "blau", "yellow": "gelb", "black": "schwarz", "white": "weiß"}
KINDS = {"square": "Quadrat", "circle": "Kreis"}
SMALL = {"maximum_steps": 30, "validate_every": 30, "batch_size": 8, "learning_rate": 0.01}


def drawn(folder: Path) -> list[dict[str, str]]:
    """Three drawings of each colour and kind, with an English caption each."""
    folder.mkdir()
    rows = []
    for split in ("train", "dev", "test"):
        for colour in COLOURS:
            for kind in KINDS:
                picture = Image.new("RGB", (64, 64), "grey")
                pencil = ImageDraw.Draw(picture)
                (pencil.rectangle if kind == "square" else pencil.ellipse)((10, 10, 50, 50), fill=colour)
                name = f"{colour}-{kind}-{split}.png"
                picture.save(folder / name)
                rows.append({"picture": name, "language": "en", "text": f"a {colour} {kind}", "split": split})
    return rows


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> groundling.Corpus:
    folder = tmp_path_factory.mktemp("drawn") / "pictures"
    return groundling.Corpus.of(drawn(folder), folder, name="shapes")


@pytest.fixture(scope="module")
def run(corpus: groundling.Corpus, tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("runs") / "shapes"
    settings = {"training": SMALL, "features": {"size": 32}, "text": {"minimum_count": 1}}
    return groundling.train(corpus=corpus, system="bag", out=out, device="cpu", show_progress=False, **settings)


def test_a_corpus_in_memory_is_trained_on_and_found_again(run: Run, corpus: groundling.Corpus, tmp_path: Path) -> None:
    result = groundling.evaluate(run, device="cpu")
    assert (result.corpus, result.pictures) == ("shapes", 12)
    assert repr(result) == f"RetrievalResult shapes, test: mR en {result.value('en', 'mR'):.1f}"
    assert (run.folder / "report.html").exists()
    assert groundling.evaluate(str(run.folder), split="dev", device="cpu").languages.keys() == {"en"}
    model = groundling.Model.load(run, device="cpu")
    assert model.encode_text(["a red square"], "en").shape == (1, model.recipe.system.get("dimensions", 256))
    assert model.recipe.training.maximum_steps == SMALL["maximum_steps"]


def test_a_language_is_taught_from_pairs_in_memory(run: Run, tmp_path: Path) -> None:
    english = [
        f"{size} {colour} {kind}"
        for size in ("a", "one", "the", "this", "that")
        for colour in COLOURS
        for kind in KINDS
    ]
    pairs = [(text, " ".join(COLOURS.get(word, KINDS.get(word, word)) for word in text.split())) for text in english]
    taught = groundling.teach(run, "de", pairs, tmp_path / "taught", steps=20, device="cpu", show_progress=False)
    assert read_json(taught.folder / "taught.json")["languages"] == ["en", "de"]
    model = groundling.Model.load(taught, device="cpu")
    assert len(model.encode_text(["ein rotes Quadrat"], "de")) == 1


def test_a_recipe_by_name_with_groups_of_settings(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r'unknown setting "training.sed" .*seed'):
        groundling.train("emoji/demo", out=tmp_path / "run", training={"sed": 1})
    with pytest.raises(UserError, match="name a recipe or a corpus"):
        groundling.train(system="bag")
    with pytest.raises(UserError, match="table of recipes"):
        groundling.train("lessons/table2")


def test_a_bad_row_is_told_by_its_number(tmp_path: Path) -> None:
    rows = drawn(tmp_path / "some")
    with pytest.raises(UserError, match=r'row:2: language "english" is not a code'):
        groundling.Corpus.of([rows[0], {**rows[1], "language": "english"}], tmp_path / "some")
    with pytest.raises(UserError, match="no rows"):
        groundling.Corpus.of([], tmp_path / "some")


def test_what_is_printed_is_short(run: Run, corpus: groundling.Corpus, tmp_path: Path) -> None:
    assert repr(corpus) == "Corpus shapes: 36 pictures (train 12, dev 12, test 12), 36 captions (en 36)"
    dataset = Dataset.load(run.recipe().corpus, run.recipe().features)
    assert repr(groundling.Model.load(run, device="cpu")) == (
        f"TrainedModel {run.folder}: reads en; 256 dimensions; pictures by efficientnet-lite0"
    )
    assert repr(dataset) == f"Dataset of {corpus!r}, each picture with 1280 features"
    index_pictures(corpus.root, tmp_path / "index", model=str(run.folder), device="cpu")
    assert repr(groundling.Index.open(tmp_path / "index")).startswith(f"Index {tmp_path / 'index'}: 36 pictures, ")


def test_the_root_knows_its_names_and_no_others() -> None:
    assert set(groundling.__all__) <= set(dir(groundling))
    assert groundling.Model is sys.modules["groundling.model"].Model
    with pytest.raises(AttributeError, match="no attribute 'Modle'"):
        _ = groundling.Modle


def test_importing_the_root_waits_for_nothing_heavy() -> None:
    code = "import sys, groundling; print({'torch', 'numpy', 'pyarrow', 'PIL'} & set(sys.modules))"
    environment = {**os.environ, "PYTHONPATH": str(Path(groundling.__file__).parent.parent)}
    said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert said.stdout == "set()\n"


def test_a_result_as_a_table(run: Run) -> None:
    pandas = pytest.importorskip("pandas")
    result = groundling.evaluate(run, split="dev", device="cpu")
    table = result.frame()
    assert isinstance(table, pandas.DataFrame)
    assert table.loc["en", "text_to_image.R@10"] == result.value("en", "text_to_image.R@10")
    assert {"image_to_text.median", "mR"} <= set(table.columns)


def test_a_corpus_as_a_table_and_back(corpus: groundling.Corpus) -> None:
    pytest.importorskip("pandas")
    table = corpus.frame()
    assert list(table.columns) == ["picture", "language", "text", "split", "origin"]
    again = groundling.Corpus.of(table.to_dict("records"), corpus.root, corpus.name)
    assert repr(again) == repr(corpus)
    assert again.texts == corpus.texts
    assert again.pictures[again.owners].tolist() == corpus.pictures[corpus.owners].tolist()


def test_a_run_is_told_in_a_line(run: Run) -> None:
    assert repr(Run(str(run.folder))) == f"Run {run.folder}: finished"
    assert repr(Run("nowhere")) == "Run nowhere: nothing there yet"
