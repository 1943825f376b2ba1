"""What CONTRIBUTING shows is run as it stands: each part is one file and one line, and then trains and is evaluated."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from site_scripts import ROOT

from conftest import make_recipe, make_world
from groundling import systems
from groundling.corpus import CORPORA, load
from groundling.encoders.picture import PICTURE_ENCODERS
from groundling.encoders.text import TEXT_ENCODERS
from groundling.evaluation.metrics import METRICS
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.model.trained import TrainedModel
from groundling.objectives import OBJECTIVES
from groundling.training import train

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^```python\n# ([\w/.]+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
REGISTRIES = {
    "objectives/logistic.py": (OBJECTIVES, "logistic"),
    "evaluation/metrics/reciprocal_rank.py": (METRICS, "MRR"),
    "encoders/text/mean_of_words.py": (TEXT_ENCODERS, "mean_of_words"),
    "encoders/picture/two_layers.py": (PICTURE_ENCODERS, "deep"),
    "systems/one_language.py": (systems.SYSTEMS, "one_language"),
    "corpus/formats/bars.py": (CORPORA, "bars"),
}


@pytest.fixture(scope="module", autouse=True)
def registered() -> Iterator[None]:
    """Every block run, and forgotten afterwards."""
    kept = {path: dict(registry._own) for path, (registry, _) in REGISTRIES.items()}
    for path, code in BLOCKS.items():
        exec(compile(code, path, "exec"), {"__name__": f"contributed_{Path(path).stem}"})  # noqa: S102
    yield
    for path, (registry, _) in REGISTRIES.items():
        registry._own = kept[path]


def trained(system: dict[str, Any], folder: Path) -> dict[str, float]:
    """All numbers of English after a short training on the tiny world."""
    world = make_world()
    recipe = make_recipe(training={"maximum_steps": 120, "validate_every": 60}).model_copy(update={"system": system})
    train(recipe, world, folder, device="cpu")
    return evaluate_retrieval(TrainedModel.load(folder, "cpu"), world).result.languages["en"].numbers()


def test_each_part_is_registered_by_the_file_that_it_is() -> None:
    assert BLOCKS.keys() == REGISTRIES.keys()
    assert all(name in registry for registry, name in REGISTRIES.values())


def test_a_loss_a_metric_and_encoders_work_together(tmp_path: Path) -> None:
    system = {"name": "vse", "dimensions": 16, "objective": {"name": "logistic", "k": 10}}
    encoders = {"text": {"name": "mean_of_words", "word_dimensions": 12}, "picture": "deep"}
    numbers = trained({**system, **encoders}, tmp_path / "run")
    assert numbers["text_to_image.R@1"] > 30  # chance is 4
    assert numbers["text_to_image.R@1"] < numbers["text_to_image.MRR"] < 100


def test_a_system_learns(tmp_path: Path) -> None:
    assert trained({"name": "one_language", "dimensions": 16}, tmp_path / "run")["text_to_image.R@1"] > 30


def test_a_data_set_is_read(tmp_path: Path) -> None:
    (tmp_path / "bars").mkdir()
    (tmp_path / "bars" / "a.png").write_bytes(b"")
    (tmp_path / "bars" / "captions.txt").write_text("a.png|a dog\n", encoding="utf-8")
    assert load("bars", data=tmp_path).texts == ["a dog"]


def layers() -> dict[str, int]:
    """Folder → its place in the import contract, from below."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    found = next(rules["layers"] for rules in contracts if rules.get("containers") == ["groundling"])
    return {name: place for place, layer in enumerate(reversed(found)) for name in layer.split(" | ")}


def test_the_map_is_in_the_order_of_the_import_contract() -> None:
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", TEXT.split("## One file")[0], re.MULTILINE)
    shown = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    place = layers()
    assert set(shown) == set(place)
    assert [place[name] for name in shown] == sorted(place.values())


def test_the_readme_has_the_same_order() -> None:
    flow = next(
        block for block in (ROOT / "README.md").read_text(encoding="utf-8").split("```") if "corpus → " in block
    )
    shown, place = re.findall(r"\w+", flow), layers()
    assert shown[0] == "corpus" and set(shown) == {name for name in place if place[name] >= place["corpus"]}
    assert [place[name] for name in shown] == sorted(place[name] for name in shown)
