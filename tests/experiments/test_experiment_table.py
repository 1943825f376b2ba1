"""What a table stands for: its trainings, their settings and their folders; mistakes in it."""

import re
from typing import Any

import pytest
from small_tables import BASE, make_table

from groundling.errors import UserError
from groundling.experiments.table_entries import TableEntry, table_entries


def only(**changes: Any) -> TableEntry:
    """The one training of a table with one row and one seed."""
    (entry,) = table_entries(make_table(**{"seeds": [0], "rows": [{"name": "one"}], **changes}))
    return entry


def test_a_table_is_rows_by_groups_by_seeds() -> None:
    found = list(table_entries(make_table()))
    assert [(entry.row, entry.group, entry.recipe.training.seed) for entry in found] == [
        ("Alone", ("en",), 0),
        ("Alone", ("en",), 1),
        ("Alone", ("de",), 0),
        ("Alone", ("de",), 1),
        ("Both", ("en", "de"), 0),
        ("Both", ("en", "de"), 1),
    ]
    assert all(entry.recipe.corpus.languages == list(entry.group) for entry in found)


def test_what_a_row_sets_changes_that_row_only() -> None:
    rows = [
        {"name": "plain"},
        {"name": "deep", "set": {"training.batch_size": 64, "system.margin": 0.5, "features.size": 64}},
        {"name": "plain again"},
    ]
    plain, deep, again = table_entries(make_table(rows=rows, seeds=[7]))
    assert (deep.recipe.training.batch_size, deep.recipe.system["margin"], deep.recipe.features.size) == (64, 0.5, 64)
    assert deep.recipe.training.learning_rate == 0.01  # its neighbours in the group stay
    assert plain.recipe == again.recipe
    assert plain.recipe.training.batch_size == 16
    assert "margin" not in plain.recipe.system
    assert BASE["training"]["batch_size"] == 16  # what the user wrote is left alone


def test_a_whole_group_that_a_row_sets_takes_the_place_of_the_old_one() -> None:
    """Another system has settings of its own; those of the base's system would be strangers to it."""
    entry = only(rows=[{"name": "one", "set": {"system": {"name": "vse", "dimensions": 4}}}])
    assert entry.recipe.system == {"name": "vse", "dimensions": 4}


def test_a_row_that_sets_all_of_training_still_has_its_seeds() -> None:
    rows = [{"name": "one", "set": {"training": {"batch_size": 64}}}]
    assert [entry.recipe.training.seed for entry in table_entries(make_table(rows=rows, seeds=[3, 4]))] == [3, 4]


def test_a_row_that_sets_all_of_corpus_still_has_its_languages() -> None:
    rows = [{"name": "one", "each": "language", "set": {"corpus": {"name": "other"}}}]
    assert [entry.recipe.corpus.languages for entry in table_entries(make_table(rows=rows, seeds=[0]))] == [
        ["en"],
        ["de"],
    ]


def test_groups_of_languages_and_other_seeds() -> None:
    table = make_table(
        languages=["en", "de", "fr"],
        rows=[
            {"name": "two", "each": [["en", "de"], ["fr"]]},
            {"name": "some", "set": {"corpus.languages": ["de", "en"]}},
        ],
    )
    found = list(table_entries(table, seeds=[5]))
    assert [entry.group for entry in found] == [("en", "de"), ("fr",), ("de", "en")]
    assert {entry.recipe.training.seed for entry in found} == {5}


def test_settings_of_models_of_one_language() -> None:
    """They hold wherever a group is one language, give way to what the row says, and touch no other group."""
    table = make_table(
        seeds=[0],
        one_language={"training.validate_every": "epoch", "training.decay_after": 15},
        rows=[
            {"name": "alone", "each": "language"},
            {"name": "own", "each": [["de"]], "set": {"training.decay_after": 2}},
            {"name": "chosen", "set": {"corpus.languages": ["en"]}},
            {"name": "both"},
        ],
    )
    found = [
        (entry.recipe.training.validate_every, entry.recipe.training.decay_after) for entry in table_entries(table)
    ]
    assert found == [("epoch", 15), ("epoch", 15), ("epoch", 2), ("epoch", 15), (10, None)]
    without = make_table(seeds=[0], one_language=None, rows=[{"name": "alone", "each": "language"}])
    assert {entry.recipe.training.validate_every for entry in table_entries(without)} == {10}


def test_a_seed_given_twice_is_one_training() -> None:
    found = list(table_entries(make_table(rows=[{"name": "a"}]), seeds=[3, 3]))
    assert [entry.recipe.training.seed for entry in found] == [3]


# --- folders


def test_a_folder_says_what_is_in_it() -> None:
    codes = ["en", "de", "fr", "cs", "ar"]
    rows = [{"name": "four", "each": [codes[:4]]}, {"name": "five", "set": {"system": {"name": "vse"}}}]
    four, five = (entry.folder for entry in table_entries(make_table(languages=codes, rows=rows, seeds=[12])))
    assert re.fullmatch(r"cells/bag-en\+de\+fr\+cs-seed12-[0-9a-f]{10}", four)
    assert re.fullmatch(r"cells/vse-5-languages-seed12-[0-9a-f]{10}", five)


def test_tables_that_train_the_same_share_a_folder() -> None:
    """Whatever table and row are called, and whatever is said about them."""
    here = only()
    there = only(
        title="Another",
        about="Why.",
        metrics=["rsum"],
        languages=["en", "de"],
        rows=[{"name": "other", "each": [["en", "de"]], "published": {"en": 3}}],
        base={**BASE, "name": "mine", "title": "Mine", "evaluation": {"folds": 1}},
    )
    assert here.folder == there.folder
    assert here.recipe == there.recipe


@pytest.mark.parametrize(
    "change",
    [
        {"training.learning_rate": 0.02},
        {"training.validate_every": "epoch"},
        {"system.objective.temperature": 0.3},
        {"corpus.draw": 1},
        {"corpus.one_caption": True},
        {"corpus.captions_from": {"en": "elsewhere"}},
        {"corpus.test_on": "elsewhere"},
        {"corpus.languages": ["de", "en"]},
        {"features.size": 64},
        {"text.minimum_count": 2},
        {"evaluation.captions": "first"},
    ],
)
def test_what_is_trained_or_tested_differently_lies_elsewhere(change: dict[str, Any]) -> None:
    assert only(rows=[{"name": "one", "set": change}]).folder != only().folder


def test_every_training_has_a_folder_of_its_own() -> None:
    """Two groups of as many languages are two trainings."""
    codes = ["af", "ar", "cs", "de", "en", "es", "fr", "it", "ja", "ko"]
    table = make_table(languages=codes, rows=[{"name": "halves", "each": [codes[:5], codes[5:]]}])
    found = list(table_entries(table))
    assert len({entry.folder for entry in found}) == len(found) == 4


@pytest.mark.parametrize(
    "system",
    [
        {"buckets": 50, "word_dimensions": 8, "dimensions": 8, "name": "bag"},
        {"name": "bag", "dimensions": 8.0, "word_dimensions": 8, "buckets": 50},
        {"name": "bag", "dimensions": 8, "word_dimensions": 8, "buckets": 50, "caption_pairs": 0.0},
    ],
    ids=["other order", "8.0 for 8", "a default spelled out"],
)
def test_settings_that_mean_the_same_are_one_training(system: dict[str, Any]) -> None:
    assert only(base={**BASE, "system": system}).folder == only().folder


# --- mistakes


def test_two_rows_of_one_name_are_refused() -> None:
    """Nobody could tell them apart in the table."""
    with pytest.raises(UserError, match="Two rows: two rows have the same name"):
        list(table_entries(make_table(rows=[{"name": "Alone"}, {"name": "Alone"}])))


@pytest.mark.parametrize("side", ["better", "than"])
def test_a_claim_about_a_row_that_is_not_there_is_refused(side: str) -> None:
    claim = {"says": "More is better", "better": "Both", "than": "Alone", side: "Alnoe"}
    with pytest.raises(UserError) as error:
        list(table_entries(make_table(claims=[claim])))
    assert str(error.value) == 'Two rows: claims: no row is called "Alnoe" (did you mean "Alone"?)'


@pytest.mark.parametrize("metric", ["mr", "text_to_image.R@7", "text_to_image", "nonsense.R@1", "mR\n", ""])
def test_a_metric_that_there_is_not_is_refused_before_anything_is_trained(metric: str) -> None:
    """Found out afterwards, it would cost all the trainings of the table."""
    with pytest.raises(UserError, match=r"table\.yaml: metrics\.1"):
        make_table(metrics=["mR", metric])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rows": [{"name": "a", "set": {"training.sed": 1}}]}, 'Two rows, a: unknown setting "training.sed"'),
        ({"rows": [{"name": "a", "set": {"training.seed.deep": 1}}]}, r"training\.seed"),
        ({"rows": [{"name": "a", "each": [[]]}]}, "each|languages"),
        ({"rows": []}, "rows"),
        ({"metrics": []}, "metrics"),
        ({"seeds": []}, "seeds"),
        ({"seeds": [-1]}, "seed"),
        ({"cells": [{"name": "a"}]}, 'unknown setting "cells"'),
        ({"metric": "mR"}, r'unknown setting "metric" \(did you mean "metrics"\?\)'),
        ({"one_language": {"training.decays": 1}}, 'unknown setting "training.decays"'),
        ({"base": {**BASE, "corpus": "world"}}, "corpus"),
        ({"base": {**BASE, "training": None}}, "training"),
        ({"base": {"training": {}}}, 'setting "corpus.name" is missing'),
    ],
)
def test_a_mistake_in_a_table_is_one_sentence(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError) as error:
        list(table_entries(make_table(**changes)))
    assert re.search(words, str(error.value))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "published",
    [{"en": [1.0, 2.0, 3.0]}, {"en": [1.0]}, {"en": 1.0}, {"dee": [1.0, 2.0]}],
    ids=["too many", "too few", "one for two", "no such column"],
)
def test_published_numbers_that_do_not_fit_the_columns_are_refused(published: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="published"):
        list(table_entries(make_table(metrics=["mR", "rsum"], rows=[{"name": "a", "published": published}])))


def test_a_model_selected_for_each_language() -> None:
    """Trained anew for each column of the group, validated on its language, and answering for it alone."""
    rows = [
        {"name": "Alone", "each": "language", "select": "language"},
        {"name": "Both", "each": [["en", "de", "fr"]], "select": "language"},
    ]
    entries = list(table_entries(make_table(rows=rows, seeds=[0])))
    told = [(one.row, one.group, one.recipe.training.validation_language, one.answers) for one in entries]
    assert told == [
        ("Alone", ("en",), "all", ("en",)),
        ("Alone", ("de",), "all", ("de",)),
        ("Both", ("en", "de", "fr"), "en", ("en",)),
        ("Both", ("en", "de", "fr"), "de", ("de",)),
    ]
    assert len({one.folder for one in entries}) == 4
