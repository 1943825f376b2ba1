from pathlib import Path

import pytest

from groundling import systems
from groundling.errors import UserError
from groundling.objectives import MaxOfHinges
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
