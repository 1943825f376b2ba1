from pathlib import Path
from typing import Any

import pytest

from groundling import settings, systems
from groundling.errors import UserError
from groundling.files import write_json
from groundling.objectives import Contrastive, HardeningHinges, MaxOfHinges, Objective, SumOfHinges
from groundling.run import Run
from groundling.settings import Recipe, check, override, read_yaml

GOOD = {"corpus": {"name": "emoji"}}


def test_defaults_are_the_published_ones() -> None:
    training = check(Recipe, GOOD, "recipe").training
    assert (training.batch_size, training.learning_rate, training.clip) == (128, 2e-4, 2.0)
    assert (training.validate_every, training.patience) == (500, 10)
    lessons = systems.make({"name": "lessons"}).settings
    assert lessons.objective == MaxOfHinges(margin=0.2)
    assert (lessons.caption_pairs, lessons.dimensions, lessons.word_dimensions) == (0.5, 1024, 300)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"corpus": {"name": "emoji"}, "trainig": {}}, 'unknown setting "trainig" (did you mean "training"?)'),
        (
            {**GOOD, "training": {"lerning_rate": 1}},
            'unknown setting "training.lerning_rate" (did you mean "learning_rate"?)',
        ),
        ({}, 'setting "corpus" is missing'),
        (
            {**GOOD, "training": {"batch_size": 1}},
            "training.batch_size: input should be greater than or equal to 2, not 1",
        ),
        ({**GOOD, "training": {"seed": "x"}}, "training.seed"),
    ],
)
def test_a_wrong_setting_is_one_sentence_that_names_it(values: dict[str, object], message: str) -> None:
    with pytest.raises(UserError) as error:
        check(Recipe, values, "my.yaml")
    assert str(error.value).startswith("my.yaml: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_wrong_system_or_its_setting_is_named() -> None:
    with pytest.raises(UserError, match=r'"lesons" \(did you mean "lessons"'):
        systems.make({"name": "lesons"})
    with pytest.raises(UserError, match=r'unknown setting "similarty" \(did you mean "similarity"'):
        systems.make({"name": "vse", "similarty": 1})


def test_assignments_reach_into_groups_and_leave_the_original() -> None:
    values = {"corpus": {"name": "emoji"}, "training": {"seed": 1}}
    changed = override(values, ["training.seed=2", "system.name=vse", "corpus.languages=[en, de]"])
    assert changed["training"] == {"seed": 2}
    assert changed["system"] == {"name": "vse"}
    assert changed["corpus"] == {"name": "emoji", "languages": ["en", "de"]}
    assert values == {"corpus": {"name": "emoji"}, "training": {"seed": 1}}


@pytest.mark.parametrize("assignment", ["training.seed", "=3", "corpus.name.deep=1", "a=[1"])
def test_a_bad_assignment_is_named(assignment: str) -> None:
    with pytest.raises(UserError, match="--set"):
        override(GOOD, [assignment])


def test_a_recipe_that_is_not_a_mapping(tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text("- a\n")
    (tmp_path / "broken.yaml").write_text("a: [1\n")
    for name in ("list.yaml", "broken.yaml", "missing.yaml"):
        with pytest.raises(UserError, match=name) as error:
            read_yaml(tmp_path / name)
        assert "\n" not in str(error.value)


OLD = {
    "corpus": {"name": "emoji", "split": "artist"},
    "training": {"score": "de", "measure": "loss"},
    "system": {"name": "vse", "margin": 0.3, "spare_positives": True},
    "before": {"system": {"name": "clip_ve", "reading": "last"}},
}
NEW = {
    "corpus": {"name": "emoji", "split_by": "artist"},
    "training": {"validation_language": "de", "validation_metric": "loss"},
    "system": {"name": "vse", "objective": {"name": "max_of_hinges", "margin": 0.3}, "mask_false_negatives": True},
    "start": {"system": {"name": "clip_ve", "pooling": "last"}},
}


@pytest.fixture
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has said nothing yet."""
    monkeypatch.setattr(settings.base, "_told", set())


@pytest.mark.usefixtures("untold")
def test_settings_by_former_names_mean_the_same_and_are_told_once(capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        old, new = (check(Recipe, values, "recipe") for values in (OLD, NEW))
        assert systems.meaning(old) == systems.meaning(new)
    told = sorted(line.split()[1] for line in capfd.readouterr().err.splitlines())
    former = ["before", "corpus.split", "system.margin", "system.reading", "system.spare_positives"]
    assert told == [*former, "training.measure", "training.score"]


@pytest.mark.usefixtures("untold")
def test_recipes_of_runs_are_read_by_former_names_without_a_word(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_json(tmp_path / "recipe.json", {key: value for key, value in OLD.items() if key != "system"})
    assert Run(tmp_path).recipe().training.validation_language == "de"
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("untold")
def test_assignments_reach_groups_by_former_names(capfd: pytest.CaptureFixture[str]) -> None:
    changed = override({"before": {"training": {"seed": 1}}}, ["before.training.seed=2", "start.name=other"])
    assert changed == {"start": {"training": {"seed": 2}, "name": "other"}}
    assert capfd.readouterr().err.count("\n") == 1


def test_a_setting_cannot_be_given_by_both_names() -> None:
    with pytest.raises(UserError, match="score is what validation_language was once called; leave one of them out"):
        check(Recipe, {**GOOD, "training": {"score": "de", "validation_language": "en"}}, "recipe")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"objective": "contrastive"}, Contrastive()),
        ({"objective": "contrastive", "margin": 0.3, "temperature": 0.1}, Contrastive(temperature=0.1)),
        ({"objective": {"margin": 0.3}}, MaxOfHinges(margin=0.3)),
        ({"similarity": "order"}, MaxOfHinges(margin=0.05)),
        ({"similarity": "order", "objective": "contrastive"}, Contrastive()),
        ({"similarity": "order", "objective": {"name": "sum_of_hinges"}}, SumOfHinges(margin=0.05)),
        ({"similarity": "order", "objective": {"margin": 0.3}}, MaxOfHinges(margin=0.3)),
        ({"objective": HardeningHinges(rate=0.5).model_dump()}, HardeningHinges(rate=0.5)),
    ],
)
def test_an_objective_by_its_name_by_its_settings_and_in_part(given: dict[str, Any], expected: Objective) -> None:
    made = systems.make({"name": "vse", **given}).settings
    assert made.objective == expected  # type: ignore[attr-defined]
    again = systems.make({"name": "vse", **made.model_dump(exclude_defaults=True)}).settings
    assert again == made


def test_both_objectives_of_cross_language_systems() -> None:
    made = systems.make({"name": "liwe", "margin": 0.3, "hard_rate": 0.5}).settings
    assert made.objective == HardeningHinges(margin=0.3, rate=0.5)  # type: ignore[attr-defined]
    assert made.pair_objective == HardeningHinges(margin=0.3, rate=0.91)  # type: ignore[attr-defined]


def test_the_draw_of_a_training_by_its_seed() -> None:
    """What a training starts from draws by its own seed, where it has one."""
    corpus = {"name": "x", "draw": "seed", "one_caption": True}
    values = {"corpus": corpus, "training": {"seed": 5}}
    assert check(Recipe, values, "recipe").corpus.draw == 5
    assert check(Recipe, {"corpus": corpus}, "recipe").corpus.draw == 0
    assert check(Recipe, {**values, "corpus": {"name": "x", "draw": "seed"}}, "recipe").corpus.draw == 0  # of nothing
    start = {"start": {"training": {"seed": 2}}}
    made = check(Recipe, {**values, **start}, "recipe").start
    assert isinstance(made, Recipe) and made.corpus.draw == 2
    with pytest.raises(UserError, match=r"corpus\.draw"):
        check(Recipe, {"corpus": {"name": "x", "draw": "sede"}}, "recipe")
