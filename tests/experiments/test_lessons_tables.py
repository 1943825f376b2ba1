"""The published numbers beside ours, typed from the paper a second time: Kádár et al. 2018, Tables 1 to 7.

I→T stands for image to text, T→I for text to image; the paper's "+ c2c" belongs to the row above it.
"""

from typing import Any

import pytest

from groundling import systems
from groundling.experiments.overlap import OverlapSettings
from groundling.experiments.results import published
from groundling.experiments.table_entries import table_entries
from groundling.experiments.table_settings import TableSettings
from groundling.recipes import read_table
from groundling.settings import check

SIX = [f"{way}.R@{k}" for way in ("image_to_text", "text_to_image") for k in (1, 5, 10)]
BOTH_R10 = ["image_to_text.R@10", "text_to_image.R@10"]

ENGLISH = """
VSE            31.6 60.4 72.7  23.3 53.6 65.8
Pivot-Sym      31.6 61.2 73.8  23.5 53.4 65.8
Parallel-Sym   31.7 62.4 74.1  24.7 53.9 65.7
OE             34.8 63.7 74.8  25.8 56.5 67.8
Pivot-Asym     33.8 62.8 75.2  26.2 56.4 68.4
Parallel-Asym  31.5 61.4 74.7  27.1 56.2 66.9
Monolingual    42.4 69.9 79.8  30.5 57.8 67.9
Bilingual      42.7 70.7 80.1  30.6 58.1 68.3
Bilingual+c2c  43.8 71.8 81.4  32.3 59.9 70.2
"""
GERMAN = """
VSE            29.3 58.1 71.8  20.3 47.2 60.1
Pivot-Sym      26.9 56.6 70.0  20.3 46.4 59.2
Parallel-Sym   28.2 57.7 71.3  20.9 46.9 59.3
OE             26.8 57.5 70.9  21.0 48.5 60.4
Pivot-Asym     28.2 61.9 73.4  22.5 49.3 61.7
Parallel-Asym  30.2 60.4 72.8  21.8 50.5 62.3
Monolingual    34.2 63.0 74.0  23.9 49.5 60.5
Bilingual      35.2 64.3 75.3  24.6 50.8 62.0
Bilingual+c2c  37.9 66.1 76.8  26.6 53.0 64.0
"""
ONE_CAPTION = """
Monolingual        56.3 40.1  39.5 20.9
Bi-translation     67.4 55.1  58.3 44.6
Bi-translation+c2c 58.2 47.7  51.0 39.6
Bi-comparable      67.9 55.7  62.0 48.1
Bi-comparable+c2c  67.6 56.0  61.9 49.1
"""
HALVES = """
FullMonolingual    79.8 67.9  74.0 60.5
HalfMonolingual    73.7 61.6  66.4 53.9
Bi-overlap         73.6 62.2  67.6 54.9
Bi-overlap+c2c     76.0 65.9  71.2 59.1
Bi-disjoint        73.1 62.1  67.9 54.9
"""
FOUR_LANGUAGES = """
Monolingual            50.4 39.5 47.0 42.0
Multi-translation      58.7 51.2 57.0 51.0
Multi-translation+c2c  56.3 52.2 55.0 51.6
Multi-comparable       59.2 49.6 57.2 50.8
Multi-comparable+c2c   61.8 52.7 59.2 55.2
"""
FEW_CAPTIONS = """
Monolingual      47.0 42.0
Multilingual     56.3 51.3
+Comparable      58.9 52.4
+Comparable+c2c  61.6 57.2
"""
T_TO_I = ["text_to_image.R@10"]
TABLES: dict[str, tuple[str, list[str], list[str]]] = {
    "table2": (ENGLISH, ["en"], SIX),
    "table3": (GERMAN, ["de"], SIX),
    "table4": (ONE_CAPTION, ["en", "de"], BOTH_R10),
    "table5": (HALVES, ["en", "de"], BOTH_R10),
    "table6": (FOUR_LANGUAGES, ["en", "de", "fr", "cs"], T_TO_I),
    "table7": (FEW_CAPTIONS, ["fr", "cs"], T_TO_I),
}


def typed(lines: str) -> dict[str, list[float]]:
    rows = (line.split() for line in lines.strip().splitlines())
    return {name: [float(number) for number in numbers] for name, *numbers in rows}


@pytest.mark.parametrize("folder", ["lessons", "lessons-f8k7"])
@pytest.mark.parametrize("name", TABLES)
def test_published_numbers_are_those_of_the_paper(name: str, folder: str) -> None:
    lines, languages, metrics = TABLES[name]
    table = check(TableSettings, read_table(f"{folder}/{name}"), name)
    assert (table.languages, table.metrics) == (languages, metrics)
    columns = [
        code if len(metrics) == 1 else f"{code} {metric}"  # in the order of the paper's columns
        for code in languages
        for metric in metrics
    ]
    rows = [row for row in table.rows if "every 500 steps" not in row.name]  # ours, beside the paper's
    written = {row.name.replace(" ", ""): published(table, row) for row in rows}
    expected = {row: dict(zip(columns, numbers, strict=True)) for row, numbers in typed(lines).items()}
    assert written == expected
    assert bool(table.published_on) == (folder != "lessons")


def test_words_and_their_overlap_are_those_of_the_paper() -> None:
    table = check(OverlapSettings, read_table("lessons/table1"), "lessons/table1")
    assert table.published == {
        "en-de": 0.04, "en-fr": 0.06, "en-cs": 0.02,
        "de-fr": 0.03, "de-cs": 0.01,
        "fr-cs": 0.01,
    }  # fmt: skip
    assert (table.overlap, table.languages, table.minimum_count) == ("multi30k-task1", ["en", "de", "fr", "cs"], 4)
    sizes = {size.corpus: (size.sum, size.union) for size in table.sizes}
    assert sizes == {"multi30k-task1": (17_571, 16_553), "multi30k-task2": (18_337, 17_667)}


SETTINGS: dict[str, dict[str, Any]] = {  # rows of the paper → what section 5 and 6 say they are trained on
    "table4/Bi-comparable + c2c": {"name": "multi30k-task1", "test_on": "multi30k-task2", "one_caption": True},
    "table5/Bi-disjoint": {"name": "multi30k-task2", "train_on": "disjoint", "one_caption": False, "test_on": None},
    "table5/Bi-overlap": {"name": "multi30k-task2", "train_on": "half"},
    "table6/Multi-comparable": {
        "test_on": "multi30k-task1",
        "one_caption": True,
        "languages": ["en", "de", "fr", "cs"],
    },
    "table7/+ Comparable": {"test_on": "multi30k-task1", "one_caption": False, "languages": ["en", "de", "fr", "cs"]},
    "table7/Monolingual": {"captions_from": {}, "one_caption": False},
}


@pytest.mark.parametrize("row", SETTINGS)
def test_rows_are_trained_on_what_the_paper_says(row: str) -> None:
    name, _, row_name = row.partition("/")
    table = check(TableSettings, read_table(f"lessons/{name}"), name)
    found = [entry.recipe for entry in table_entries(table) if entry.row == row_name]
    assert found
    for recipe in found:
        settings = recipe.corpus.model_dump()
        assert {key: settings[key] for key in SETTINGS[row]} == SETTINGS[row]
        assert recipe.system["caption_pairs"] == (0.5 if "c2c" in row else 0.0)
        assert (recipe.training.batch_size, recipe.training.patience, recipe.training.learning_rate) == (128, 10, 2e-4)


TRAINED = [*TABLES, "figure3"]


@pytest.mark.parametrize("folder", ["lessons", "lessons-f8k7"])
@pytest.mark.parametrize("name", TRAINED)
def test_trainings_are_as_published(folder: str, name: str) -> None:
    """Sides of pairs fixed; one language validated every epoch, with a decay that repeats; draws by the seed."""
    table = check(TableSettings, read_table(f"{folder}/{name}"), name)
    for entry in table_entries(table):
        training, corpus = entry.recipe.training, entry.recipe.corpus
        if entry.recipe.system["name"] == "lessons":
            assert entry.recipe.system["caption_pair_sides"] == "fixed"
        if len(entry.group) == 1 and "500 steps" not in entry.row:
            assert (training.validate_every, training.decay_after, training.decay_repeats) == ("epoch", 15, True)
        else:
            assert (training.validate_every, training.decay_after) == (500, None)
        if corpus.one_caption or corpus.train_on != "all":
            assert corpus.draw == training.seed
        several = len(entry.group) > 1 and name == "table7"
        assert training.validation_language == (entry.answers[0] if several else "all")


@pytest.mark.parametrize("folder", ["lessons", "lessons-f8k7"])
@pytest.mark.parametrize("name", TRAINED)
def test_no_training_warms_up_with_the_sum_of_hinges(folder: str, name: str) -> None:
    """The hardest wrong pair counts from the first step on; Gella et al.'s rows have the sum of all to the last."""
    table = check(TableSettings, read_table(f"{folder}/{name}"), name)
    for entry in table_entries(table):
        objective = systems.of(entry.recipe).settings.objective  # type: ignore[attr-defined]
        assert (objective.name, getattr(objective, "warm_up_steps", 0)) in {("max_of_hinges", 0), ("sum_of_hinges", 0)}
        assert (objective.name == "max_of_hinges") == (entry.recipe.system["name"] == "lessons")


@pytest.mark.parametrize(("folder", "pairs_after", "pool"), [("lessons", 0, 1), ("lessons-f8k7", 1000, 64)])
@pytest.mark.parametrize("name", TRAINED)
def test_pairs_begin_at_once_and_batches_are_shuffled_as_published(
    name: str, folder: str, pairs_after: int, pool: int
) -> None:
    """On Multi30K; on F8K-7 pairs begin after 1,000 steps on pictures, and batches hold captions of similar length."""
    table = check(TableSettings, read_table(f"{folder}/{name}"), name)
    for entry in table_entries(table):
        assert entry.recipe.training.length_pool == pool
        if entry.recipe.system["name"] == "lessons":
            assert entry.recipe.system["caption_pairs_after"] == pairs_after
