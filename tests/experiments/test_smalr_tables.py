"""The tables of SMALR: the published numbers, typed here a second time from the paper, and what its rows train."""

from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from groundling import systems
from groundling.experiments.results import published
from groundling.experiments.table_entries import TableEntry, table_entries
from groundling.experiments.table_settings import TableSettings
from groundling.files import read_json
from groundling.recipes import read_table, tables
from groundling.settings import check

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
TEN = ["en", "de", "fr", "cs", "zh", "ja", "ar", "af", "ko", "ru"]
RECALLS = [f"{way}.R@{k}" for way in ("image_to_text", "text_to_image") for k in (1, 5, 10)]


def table_of(name: str) -> TableSettings:
    return check(TableSettings, read_table(name), name)


def numbers(name: str, row: str) -> dict[str, float]:
    table = table_of(name)
    return published(table, next(each for each in table.rows if each.name == row))


def cells_of(name: str, row: str) -> list[TableEntry]:
    return [entry for entry in table_entries(table_of(name)) if entry.row == row]


COCO = {
    "(10) L-LIWE": [79.1, 71.2, 70.3, 70.1, 70.0, 69.6, 67.5, 68.9, 66.2, 69.6, 72.9, 70.3],
    "(10) MULE": [79.0, 77.2, 76.8, 77.8, 75.6, 75.9, 77.2, 77.8, 74.3, 77.3, 76.8, 76.9],
    "LA": [75.0, 74.3, 74.1, 73.4, 72.3, 72.1, 74.4, 74.7, 71.6, 72.7, 73.1, 73.5],
    "SMALR": [79.3, 78.4, 77.8, 78.6, 76.7, 77.2, 77.9, 78.2, 75.1, 78.0, 77.7, 77.7],
}
MULTI30K = {
    "(10) S-LIWE": [75.2, 65.2, 51.8, 50.0, 54.1, 56.2, 62.7, 62.8, 54.5, 63.1, 60.6, 59.6],
    "(10) MULE": [70.7, 63.6, 63.4, 59.4, 64.2, 67.3, 65.8, 67.3, 63.6, 65.4, 64.3, 65.1],
    "HEM": [69.2, 62.8, 63.3, 60.0, 62.4, 66.3, 64.5, 66.8, 62.3, 62.6, 63.8, 64.0],
    "SMALR": [69.6, 64.7, 64.5, 61.1, 64.0, 66.7, 66.0, 67.4, 64.2, 65.7, 65.0, 65.4],
}


@pytest.mark.parametrize(("name", "rows"), [("smalr/table1", COCO), ("smalr/table2", MULTI30K)])
def test_mean_recalls_are_those_of_the_paper(name: str, rows: dict[str, list[float]]) -> None:
    for row, typed in rows.items():
        assert numbers(name, row) == dict(zip([*TEN, "HA", "A"], typed, strict=True))


def test_rows_of_some_languages_have_numbers_for_those() -> None:
    assert numbers("smalr/table1", "Trans. to En") == {"en": 75.6, "zh": 72.2, "ja": 66.1, "HA": 71.3}
    assert numbers("smalr/table2", "(1) S-LIWE") == {"en": 76.3, "de": 72.1}
    assert numbers("smalr/table2", "SMALR-CLC-C") == {"en": 74.5, "de": 69.8, "fr": 65.9, "cs": 64.8, "HA": 68.7}


@pytest.mark.parametrize("name", ["smalr/table1", "smalr/table2"])
def test_published_means_follow_from_published_columns(name: str) -> None:
    """What holds whoever typed the numbers, to rounding."""
    table = table_of(name)
    assert table.means
    for row in table.rows:
        found = published(table, row)
        for mean, codes in table.means.items():
            if mean in found and all(code in found for code in codes):
                assert found[mean] == pytest.approx(sum(found[code] for code in codes) / len(codes), abs=0.16), row.name


RECALLS_OF = {  # table, row → language and its seven numbers
    ("table7-coco", "SMALR-CLC-C"): ("en", [66.5, 91.3, 97.5, 53.6, 86.2, 94.0, 81.5]),
    ("table8-multi30k", "PAR. EmbN"): ("de", [46.1, 76.3, 83.2, 34.4, 62.5, 73.0, 62.6]),
    ("table11-coco", "HEM"): ("zh", [53.2, 85.0, 93.2, 51.3, 84.6, 93.0, 76.7]),
    ("table12-multi30k", "SMALR"): ("ja", [46.8, 79.1, 87.6, 38.8, 69.1, 78.8, 66.7]),
    ("table16-coco", "(10) MULE"): ("ru", [60.8, 89.0, 94.9, 48.0, 80.4, 90.4, 77.3]),
}


@pytest.mark.parametrize(("name", "row"), RECALLS_OF)
def test_single_recalls_are_those_of_the_paper(name: str, row: str) -> None:
    code, typed = RECALLS_OF[name, row]
    expected = {f"{code} {metric}": number for metric, number in zip([*RECALLS, "mR"], typed, strict=True)}
    assert numbers(f"smalr/{name}", row) == expected


@pytest.mark.parametrize("number", range(7, 17))
@pytest.mark.parametrize("data", ["coco", "multi30k"])
def test_tables_of_one_language_show_the_trainings_of_the_main_table(data: str, number: int) -> None:
    name, main = f"smalr/table{number}-{data}", table_of("smalr/table1" if data == "coco" else "smalr/table2")
    table = table_of(name)
    (code,) = table.languages
    assert code == TEN[number - 7]
    assert {entry.folder for entry in table_entries(table)} <= {entry.folder for entry in table_entries(main)}
    in_main = {row.name: published(main, row) for row in main.rows}
    # The paper has two numbers for French of L-LIWE: 53.3 in Table 2, 53.5 in Tables 9 and 17.
    for row in table.rows:
        assert published(table, row)[f"{code} mR"] == pytest.approx(in_main[row.name][code], abs=0.21)


def test_the_numbers_of_tables_5_and_6_are_under_their_own_captions() -> None:
    assert numbers("smalr/table5", "LA + Explore") == numbers("smalr/table1", "LA")
    assert numbers("smalr/table6", "LA + Explore") == numbers("smalr/table2", "LA")
    assert numbers("smalr/table6", "LA")["HA"] == 58.3
    (without, *_), (explored, *_) = (cells_of("smalr/table6", row) for row in ("LA", "LA + Explore"))
    first, second = (systems.make(entry.recipe.system).settings for entry in (without, explored))
    assert (first.latent.exploration, second.latent.exploration, second.latent.best) == (0.0, 0.2, 20)  # type: ignore[attr-defined]


def test_human_and_translated_sentences() -> None:
    typed = {"de": 64.7, "fr": 64.5, "cs": 61.1, "mean": 63.4}
    assert numbers("smalr/table17-multi30k", "SMALR, human") == typed
    assert numbers("smalr/table17-coco", "HEM, translated") == {"zh": 73.5, "ja": 75.3, "mean": 74.4}
    human, translated = (cells_of("smalr/table17-coco", f"HEM, {which}")[0] for which in ("human", "translated"))
    assert human.folder == translated.folder == cells_of("smalr/table1", "HEM")[0].folder
    assert human.ask is None
    assert translated.ask is not None
    assert (translated.ask.origin, translated.ask.corpus) == ("machine", "smalr-coco-both")


SETTINGS: dict[tuple[str, str], dict[str, Any]] = {  # of the paper and, where it is silent, of methods.md
    ("smalr/table2", "HEM"): {
        "own_words": 5000, "own_dimensions": 50, "margin": 0.05, "most_violated": 10, "caption_weight": 1.5,
        "neighbourhood_weight": 0.05, "adversary": 1e-6, "word_dimensions": 300, "universal_dimensions": 512,
        "dimensions": 512, "sentences": 2,
    },
    ("smalr/table2", "SMALR"): {"mask": 0.2, "mask_weight": 1e-4, "own_words": 5000},
    ("smalr/table2", "(10) MULE"): {"adversary": 1e-6, "align_epochs": 5 * 5, "pca": None, "dictionary": None},
    ("smalr/table1", "(10) MULE"): {"adversary": 1e-5},
    ("smalr/table1", "(10) L-LIWE"): {"character_dimensions": 120},
    ("smalr/figure3-coco", "PCA 100"): {"pca": 100, "adversary": 1e-5},
    ("smalr/figure3-multi30k", "Dictionary 20"): {"dictionary": 20},
    ("smalr/figure4", "SMALR 1e-2"): {"mask_weight": 1e-2},
}  # fmt: skip


@pytest.mark.parametrize(("name", "row"), SETTINGS)
def test_rows_train_what_the_paper_says(name: str, row: str) -> None:
    for entry in cells_of(name, row):
        own = systems.make(entry.recipe.system).settings.model_dump()
        assert {key: own[key] for key in SETTINGS[name, row]} == SETTINGS[name, row]


def test_how_the_published_sizes_are_trained() -> None:
    for name, longest, pictures in (("smalr/table1", 60, 121_287), ("smalr/table2", 40, 29_000)):
        (mule, *_), (hem, *_), (liwe, *_) = (cells_of(name, row) for row in ("(10) MULE", "HEM", "(10) S-LIWE"))
        assert (mule.recipe.training.batch_size, mule.recipe.training.learning_rate) == (450, 1e-4)
        assert hem.recipe.training.learning_rate == 1e-3
        epoch = mule.recipe.training.validate_every
        assert epoch == pytest.approx(5 * pictures / 450, rel=0.01)  # of the released code: captions, not pictures
        assert mule.recipe.training.maximum_steps == 25 * epoch
        assert cells_of(name, "LA")[0].recipe.training.maximum_steps == 20 * epoch
        assert hem.recipe.system["state_dimensions"] == 512
        assert mule.recipe.text.maximum_length == longest
        features = mule.recipe.features
        assert (features.backbone, features.size, features.crops) == ("hf:microsoft/resnet-152", 448, 10)
        assert liwe.recipe.text.minimum_count == 4
    assert cells_of("smalr/figure3-multi30k", "Frequency 50")[0].recipe.text.minimum_count == 50


def test_consistency_asks_the_model_of_the_row_above() -> None:
    for name in ("smalr/table2", "smalr-f8k7/table", "smalr-emoji/table"):
        table = table_of(name)
        folders = {entry.row: entry.folder for entry in table_entries(table, [0]) if len(entry.group) > 1}
        asked = [row for row in table.rows if row.ask is not None and row.ask.consistency]
        assert asked
        for row in asked:
            alone = row.name.rpartition("-CLC-")[0]
            assert folders[row.name] == folders[alone]
            assert row.line == alone


def test_the_f8k7_tables_share_their_trainings() -> None:
    main = {entry.folder for entry in table_entries(table_of("smalr-f8k7/table"))}
    figure = {entry.folder for entry in table_entries(table_of("smalr-f8k7/figure3"))}
    liwe = {entry.folder for entry in table_entries(table_of("liwe-f8k7/languages"))}
    languages = {entry.folder for entry in table_entries(table_of("smalr-f8k7/figure1b"))}
    reductions = {entry.folder for entry in table_entries(table_of("smalr-f8k7/reductions"))}
    assert len(main) == 3 * (7 + 1 + 5)  # EmbN, English EmbN for Trans. to En, PAR. EmbN, MULE, LA, HEM, SMALR
    assert len(figure & main) == 3 * 4  # MULE, LA, HEM, SMALR
    assert len(figure & reductions) == 3 * 5  # MULE, its three reductions, SMALR
    assert len(main & reductions) == 3 * 2  # MULE, SMALR
    assert len(figure & liwe) == 3 * 2
    assert len(languages & liwe) == 3 * (7 + 1 + 1 + 1 + 1)
    assert "smalr-f8k7/table" in tables("smalr-f8k7")


@pytest.mark.parametrize("name", ["search", "search-rates"])
def test_the_search_is_the_same_for_each_system_and_alignment_is_added_to_it(name: str) -> None:
    table = table_of(f"smalr-f8k7/{name}")
    assert table.validation
    tried: dict[str, set[tuple[float, float]]] = {}
    for entry in table_entries(table, [0]):
        training, own = entry.recipe.training, systems.make(entry.recipe.system).settings.model_dump()
        align = own.get("align_epochs", 0)
        passes = training.maximum_steps / 43 - align
        assert passes >= 60 and passes == round(passes)
        assert training.patience > training.maximum_steps / training.validate_every or passes > 60
        if align in (0, 1):
            tried.setdefault(entry.recipe.system["name"], set()).add((training.learning_rate, passes))
    assert set(tried) == {"embn", "par_embn", "mule", "la", "hem", "smalr"}
    assert len({frozenset(found) for found in tried.values()}) == 1
    chosen = {entry.folder for entry in table_entries(table)}
    main = {entry.folder for entry in table_entries(table_of("smalr-f8k7/table"))}
    if name == "search":
        assert main <= chosen
        smaller = list(table_entries(table_of("smalr-f8k7/search-smaller")))
        assert {entry.folder for entry in smaller} <= chosen
        assert {entry.recipe.system["name"] for entry in smaller} == set(tried)
        assert {entry.recipe.training.learning_rate for entry in smaller} == {min(rate for rate, _ in tried["mule"])}
    else:  # one seed
        assert chosen >= {entry.folder for entry in table_entries(table_of("smalr-f8k7/table"), [0])}


@pytest.mark.parametrize(("search_name", "name"), [("latent-search", "latent"), ("search", "table")])
def test_rows_on_emoji_had_the_same_search(search_name: str, name: str) -> None:
    search = table_of(f"smalr-emoji/{search_name}")
    assert search.validation
    tried: dict[str, set[float]] = {}
    searched = list(table_entries(search, search.seeds[:1]))
    for row, entry in zip(search.rows, searched, strict=True):
        assert row.at == entry.recipe.training.learning_rate
        tried.setdefault(row.line or row.name, set()).add(row.at)
    chosen = {entry.row: entry.folder for entry in table_entries(table_of(f"smalr-emoji/{name}"), search.seeds[:1])}
    assert tried.keys() <= chosen.keys()
    assert len({frozenset(rates) for rates in tried.values()}) == 1
    assert {chosen[row] for row in tried} <= {entry.folder for entry in searched}


def test_rows_on_emoji_have_the_rate_that_was_best_on_dev_by_seeds_of_the_search_alone() -> None:
    """By the mean of both seeds, of the rates that have both."""
    search, table = table_of("smalr-emoji/search"), table_of("smalr-emoji/table")
    assert not set(search.seeds) & set(table.seeds)
    found: dict[str, dict[float, float]] = {}
    told = {row["name"]: row["validated"] for row in read_json(RESULTS / "smalr-emoji" / "search.json")["rows"]}
    for row in search.rows:
        scores = told[row.name]["dev"]["values"]
        if len(scores) == len(search.seeds):
            found.setdefault(row.line or row.name, {})[row.at] = fmean(scores)
    chosen = {entry.row: entry.recipe.training.learning_rate for entry in table_entries(table, [0])}
    assert {name: max(rates, key=lambda rate: rates[rate]) for name, rates in found.items()} == {
        name: chosen[name] for name in found
    }
    assert set(found) == {"PAR. EmbN", "MULE", "LA", "HEM", "SMALR"}


@pytest.mark.parametrize("code", ["en", "de", "fr", "cs", "zh", "ar", "pt"])
def test_all_recalls_of_a_language_are_those_of_the_same_trainings(code: str) -> None:
    main = {entry.folder for entry in table_entries(table_of("smalr-f8k7/table"))}
    table = table_of(f"smalr-f8k7/recalls-{code}")
    assert table.languages == [code] and len(table.metrics) == 7
    assert {entry.folder for entry in table_entries(table)} <= main
