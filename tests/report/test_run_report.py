"""Evaluating a run: numbers by hand, what is kept in its folder, and the examples a report shows."""

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from safetensors.numpy import load_file

from conftest import make_recipe, make_world
from groundling.corpus import Corpus, storage
from groundling.corpus.info import CorpusInfo
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.examples import examples
from groundling.evaluation.ranks import Ranks
from groundling.evaluation.recalls import recalls
from groundling.evaluation.request import EvaluationRequest
from groundling.evaluation.retrieval import RankedSplit, evaluate_retrieval
from groundling.evaluation.saved import Evaluation
from groundling.evaluation.saved import evaluate_run as evaluate
from groundling.model import Model
from groundling.report.run_report import write_report
from groundling.run import Run
from groundling.settings import EvaluationSettings
from groundling.training import train
from made_results import retrieval

# Three test pictures and one to train on, in a plane; each caption's vector is looked up by its text.
PICTURES = {"p0": (2, 0), "p1": (0, 2), "other": (9, 9), "p2": (1, 1)}
CAPTIONS = [
    ("p0", "en", "one", (1, 0)),
    ("p0", "en", "one again", (0, 1)),
    ("p1", "de", "zwei", (0, 1)),
    ("p2", "en", "three", (3, 1)),
    ("other", "en", "train", (5, 5)),
]


@dataclass
class Lookup:
    """A model that knows its vectors by heart."""

    evaluation: EvaluationSettings
    similarity = "cosine"

    def encode_features(self, features: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        return features

    def encode_text(self, texts: list[str], languages: list[str]) -> npt.NDArray[np.float32]:
        vectors = {text: vector for _, _, text, vector in CAPTIONS}
        return np.array([vectors[text] for text in texts], dtype=np.float32)


def plane(root: Path | None = None) -> Dataset:
    names = list(PICTURES)
    corpus = Corpus(
        name="plane",
        pictures=np.array(names),
        splits=np.array(["train" if name == "other" else "test" for name in names]),
        owners=np.array([names.index(owner) for owner, _, _, _ in CAPTIONS]),
        languages=np.array([language for _, language, _, _ in CAPTIONS]),
        texts=[text for _, _, text, _ in CAPTIONS],
        origins=np.array(["human"] * len(CAPTIONS)),
        root=root,
    )
    return Dataset(corpus, np.array(list(PICTURES.values()), dtype=np.float32))


def lookup(**changes: Any) -> Any:
    return Lookup(make_recipe(**changes).evaluation)


def test_an_evaluation_by_hand() -> None:
    """English: "one" scores p0 p1 p2 with 2 0 1 (rank 1), "one again" 0 2 1 (3), "three" 6 2 4 (2).

    p0 scores the three with 2 0 6, its best is behind "three" (2); p2 with 1 1 4 (1); p1 has no English caption and
    asks nothing. German: "zwei" scores 0 2 1 (1); p1 has no rival (1).
    """
    evaluated = evaluate_retrieval(lookup(), plane())
    result = evaluated.result
    assert evaluated.by_language["en"].text_to_image.tolist() == [1, 3, 2]
    assert evaluated.by_language["en"].image_to_text.tolist() == [2, 0, 1]
    assert (result.corpus, result.split, result.pictures, result.captions) == ("plane", "test", 3, 4)
    english, german = result.languages["en"], result.languages["de"]
    third = pytest.approx(100 / 3)
    assert english.text_to_image == {"R@1": third, "R@5": 100, "R@10": 100, "median": 2, "mean": 2}
    assert english.image_to_text == {"R@1": 50, "R@5": 100, "R@10": 100, "median": 1.5, "mean": 1.5}
    assert english.value("rsum") == pytest.approx(450 + 100 / 3)
    assert german.value("rsum") == 600
    assert result.mean.value("text_to_image.R@1") == pytest.approx(200 / 3)
    assert result.mean.value("rsum") == pytest.approx((450 + 100 / 3 + 600) / 2)
    assert result.chance == {"R@1": third, "R@5": 100, "R@10": 100}


def test_which_captions_are_queries_says_the_caller_then_the_recipe_then_the_corpus() -> None:
    first = plane()
    first = Dataset(replace(first.corpus, info=CorpusInfo(queries="first")), first.features)
    recipe_all, recipe_first = {"evaluation": {"captions": "all"}}, {"evaluation": {"captions": "first"}}
    for model, dataset, asked, captions in (
        (lookup(), plane(), None, 4),
        (lookup(), first, None, 3),
        (lookup(**recipe_all), first, None, 4),
        (lookup(**recipe_first), plane(), None, 3),
        (lookup(**recipe_first), plane(), "all", 4),
        (lookup(**recipe_all), plane(), "first", 3),
    ):
        assert evaluate_retrieval(model, dataset, captions=asked).result.captions == captions


def test_a_split_without_captions_is_named() -> None:
    with pytest.raises(UserError, match='corpus plane has no captions in split "dev"'):
        evaluate_retrieval(lookup(), plane(), "dev")


def test_examples_show_the_nearest_pictures_and_captions(tmp_path: Path) -> None:
    evaluated = evaluate_retrieval(lookup(), plane(tmp_path))
    sheet = examples(evaluated, queries=8, annotated=6)
    asked, described = sheet[:8], sheet[8:]
    assert [entry.language for entry in asked] == ["en", "de"] * 4  # languages in turn, English first
    names = {
        "one": (["p0", "p2", "p1"], [2, 1, 0], [True, False, False], 1),
        "one again": (["p1", "p2", "p0"], [2, 1, 0], [False, False, True], 3),
        "three": (["p0", "p2", "p1"], [6, 4, 2], [False, True, False], 2),
        "zwei": (["p1", "p2", "p0"], [2, 1, 0], [True, False, False], 1),
    }
    for entry in asked:
        pictures, scores, correct, rank = names[entry.text]
        assert [hit.picture for hit in entry.hits] == [tmp_path / name for name in pictures]
        assert [hit.score for hit in entry.hits] == scores
        assert [hit.correct for hit in entry.hits] == correct
        assert entry.rank == rank
        assert entry.answer == tmp_path / pictures[correct.index(True)]
    assert sorted(entry.picture.name for entry in described) == ["p0", "p1", "p2"]  # no picture twice
    p1 = next(entry for entry in described if entry.picture.name == "p1")
    assert [caption.score for caption in p1.captions] == [2, 2, 2, 0]
    assert {caption.text: caption.correct for caption in p1.captions} == {
        "one": False,
        "one again": False,
        "zwei": True,
        "three": False,
    }


def test_examples_are_drawn_by_their_seed_and_need_files(tmp_path: Path) -> None:
    world = make_world()
    part, draw = replace(world.split("test").corpus, root=tmp_path), np.random.default_rng(0)
    found = {code: Ranks(np.ones(50, dtype=np.int64), np.ones(25, dtype=np.int64)) for code in ("en", "de")}
    evaluated = RankedSplit(retrieval({}), found, part, draw.standard_normal((25, 4)), draw.standard_normal((100, 4)))
    assert examples(evaluated) == examples(evaluated, seed=0) != examples(evaluated, seed=1)
    assert [len(getattr(entry, "hits", None) or entry.captions) for entry in examples(evaluated)] == [5] * 18
    assert examples(replace(evaluated, corpus=replace(part, root=None))) == []


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run on a corpus folder with an array of features; its pictures are files, too, for the sheet."""
    folder = tmp_path_factory.mktemp("saved")
    world = make_world()
    for number, name in enumerate(world.corpus.pictures):
        Image.new("RGB", (20, 20), (number, 255 - number, 99)).save(folder / str(name), "png")
    storage.save(replace(world.corpus, root=folder), folder / "corpus")
    np.save(folder / "features.npy", world.features)
    (folder / "names.txt").write_text("".join(f"{name}\n" for name in world.corpus.pictures))
    recipe = make_recipe(
        corpus={"name": str(folder / "corpus")},
        features={"array": str(folder / "features.npy"), "names": str(folder / "names.txt")},
        training={"maximum_steps": 60},
    )
    return train(recipe, Dataset.load(recipe.corpus, recipe.features), folder / "run", device="cpu")


@pytest.fixture
def run(saved: Run, tmp_path: Path) -> Run:
    return Run(Path(shutil.copytree(saved.folder, tmp_path / "run")))


def evaluate_run(folder: Path, **options: Any) -> tuple[dict[str, Any], Path | None]:
    """As the command does: the numbers, and the page where one is written."""
    dataset = options.pop("dataset", None)
    evaluation: Evaluation = evaluate(folder, EvaluationRequest(**options), device="cpu", dataset=dataset)
    return evaluation.result.to_json(), write_report(evaluation) if evaluation.saved else None


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_report_is_left_beside_the_run_with_the_numbers_that_are_returned(run: Run) -> None:
    result, page = evaluate_run(run.folder)
    written = json.loads(run.evaluation_file.read_text())
    assert set(written.pop("made_from")) == {"weights", "corpus", "settings"}
    assert written == result == evaluate_retrieval(Model.load(run.folder, "cpu"), make_world()).result.to_json()
    assert page == run.folder / "report.html"
    html, markdown = page.read_text(), (run.folder / "report.md").read_text()
    recall = f"{result['languages']['de']['text_to_image']['R@10']:.1f}"
    for text in (html, markdown):
        assert recall in text
        assert "German" in text
        assert "learning_rate" in text  # the settings
        assert "parameters" in text  # how it was made
    assert html.count("<img") >= 18
    assert "✓" in html
    assert "✗" in html
    assert "http://" not in html.replace("http://www.w3.org", "")  # the page needs nothing from elsewhere
    assert "https://" not in html


def test_ranks_are_kept_query_by_query(run: Run) -> None:
    result, _ = evaluate_run(run.folder)
    kept = load_file(run.ranks_file)
    for code in ("en", "de"):
        found = Ranks(kept[f"{code}.text_to_image"], kept[f"{code}.image_to_text"])
        assert recalls(found).to_json() == result["languages"][code]
        assert kept[f"{code}.owners"].tolist() == [picture for picture in range(25) for _ in range(2)]


def test_other_questions_are_answered_without_touching_the_run(run: Run) -> None:
    first, _ = evaluate_run(run.folder)
    before = content(run.folder)
    corpus = Model.load(run.folder, "cpu").recipe.corpus.name
    for question in ({"split": "dev"}, {"split": "train"}, {"captions": "first"}, {"corpus": corpus}):
        result, page = evaluate_run(run.folder, **question)
        assert page is None
        assert content(run.folder) == before
        assert (result == first) == ("corpus" in question)
    again, _ = evaluate_run(run.folder)
    assert again == first
    assert content(run.folder) == before


def test_a_run_that_has_not_ended_can_be_looked_at(run: Run) -> None:
    """While a long training goes on, its best weights so far are there."""
    run.facts_file.unlink()
    result, page = evaluate_run(run.folder)
    assert page is not None
    assert page.exists()
    assert result["pictures"] == 25


def test_features_of_another_backbone_are_one_sentence(run: Run) -> None:
    """As many dimensions as the model was trained on are needed; another array may have others."""
    world = make_world()
    wider = Dataset(world.corpus, np.tile(world.features, 3))
    before = content(run.folder)
    with pytest.raises(UserError) as error:
        evaluate_run(run.folder, dataset=wider)
    assert "12" in str(error.value)
    assert "36" in str(error.value)
    assert "\n" not in str(error.value)
    assert content(run.folder) == before
