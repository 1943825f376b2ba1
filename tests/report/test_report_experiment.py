"""Tables of experiments as people see them: terminal, Markdown, HTML; published numbers beside or below."""

from dataclasses import replace

import pytest
from experiment_summaries import CLAIM, ROWS, Page, markdown_rows, printed, summary_of

from groundling.evaluation.metrics import find
from groundling.experiments.record import Record
from groundling.experiments.summary import Finding
from groundling.report.experiment import claims_table, experiment_table, experiment_tables, heading, interval_table

# --- headings


@pytest.mark.parametrize(
    ("metric", "name"), [("mR", "mR"), ("image_to_text.R@1", "I→T R@1"), ("text_to_image.median", "T→I median")]
)
def test_names_of_metrics(metric: str, name: str) -> None:
    assert find(metric).heading == name


@pytest.mark.parametrize(
    ("languages", "metrics", "names"),
    [
        (("en", "de"), ("mR",), ["English (en)", "German (de)", "mean"]),
        (("en",), ("mR", "text_to_image.R@10"), ["mR", "T→I R@10"]),
        (("de",), ("mR",), ["German (de)"]),
    ],
)
def test_a_heading_says_what_differs_between_columns(
    languages: tuple[str, ...], metrics: tuple[str, ...], names: list[str]
) -> None:
    summary = summary_of({"One": {}}, metrics=metrics, languages=languages)
    assert [heading(summary, column) for column in summary.columns] == names


def test_two_languages_and_two_metrics_say_both() -> None:
    summary = summary_of({"One": {}}, metrics=("image_to_text.R@10", "text_to_image.R@10"))
    assert [heading(summary, column) for column in summary.columns] == [
        "English (en) I→T R@10",
        "English (en) T→I R@10",
        "German (de) I→T R@10",
        "German (de) T→I R@10",
    ]


# --- published numbers


def test_published_numbers_stand_beside_ours_in_up_to_four_columns() -> None:
    summary = summary_of(ROWS, {"Alone": {"en": 12.5, "mean": 99.0}})
    rows = markdown_rows(experiment_table(summary).markdown())
    names = ["English (en)", "German (de)", "mean"]
    assert rows[0] == ["", *(f"{name} {who}" for name in names for who in ("ours", "published"))]
    assert rows[1] == ["Alone", "12.0 ± 2.8", "12.5", "25.0 ± 7.1", "–", "18.5 ± 4.9", "99.0"]
    assert rows[2] == ["Both", "12.0 ± 1.4", "–", "20.0 ± 7.1", "–", "16.0 ± 2.8", "–"]
    text = printed(experiment_table(summary))
    for part in ("English (en)", "ours", "published", "12.0 ± 2.8", "12.5", "99.0"):
        assert part in text
    assert "**99.0**" not in experiment_table(summary).markdown()  # a published number does not win
    assert "**18.5 ± 4.9**" in experiment_table(summary).markdown()


def test_published_numbers_stand_below_ours_in_more_columns() -> None:
    codes = ("en", "de", "fr", "cs", "zh")
    one = {code: (10.0 + at,) for at, code in enumerate(codes)}
    rows = {"One": one, "Two": dict.fromkeys(codes, (3.0,))}
    summary = summary_of(rows, {"One": {"de": 98.0, "cs": 13.4}}, languages=codes, mean=False, seeds=[0])
    text = experiment_table(summary).markdown()
    found = markdown_rows(text)
    assert found[0] == ["", "English (en)", "German (de)", "French (fr)", "Czech (cs)", "Chinese (zh)"]
    assert found[1:] == [
        ["One", "10.0", "11.0", "12.0", "13.0", "14.0"],
        ["published", "", "98.0", "", "13.4", ""],
        ["Two", "3.0", "3.0", "3.0", "3.0", "3.0"],  # nothing published, no line for it
    ]
    assert "**11.0**" in text
    assert "**98.0**" not in text
    assert "98.0" in printed(experiment_table(summary))
    assert Page(experiment_table(summary).html()).rows[2][1:] == ["", "98.0", "", "13.4", ""]


@pytest.mark.parametrize("columns", [4, 5])
def test_four_columns_are_the_most_that_have_them_beside(columns: int) -> None:
    codes = ("en", "de", "fr", "cs", "zh")[:columns]
    summary = summary_of({"One": dict.fromkeys(codes, (1.0,))}, {"One": {"en": 2.0}}, languages=codes, mean=False)
    rows = markdown_rows(experiment_table(summary).markdown())
    assert (len(rows), len(rows[0])) == ((2, 9) if columns == 4 else (3, 6))


def test_where_published_numbers_were_measured_is_said_where_there_are_any() -> None:
    words = "on Multi30K; compare orders and differences"
    assert words in experiment_table(summary_of(ROWS, {"Both": {"en": 3.0}}, published_on="Multi30K")).markdown()
    assert words not in experiment_table(summary_of(ROWS, published_on="Multi30K")).markdown()


# --- what is there and what is not


def test_without_published_numbers_there_are_only_ours() -> None:
    rows = markdown_rows(experiment_table(summary_of(ROWS)).markdown())
    assert rows == [
        ["", "English (en)", "German (de)", "mean"],
        ["Alone", "12.0 ± 2.8", "25.0 ± 7.1", "18.5 ± 4.9"],
        ["Both", "12.0 ± 1.4", "20.0 ± 7.1", "16.0 ± 2.8"],
    ]


def test_missing_cells_are_dashes_everywhere() -> None:
    rows: dict[str, dict[str, tuple[float, ...]]] = {"Alone": {"en": (10, 14)}, "Both": {"de": (25,)}, "None": {}}
    summary = summary_of(rows)
    for table in experiment_tables(summary):
        assert "Both" in printed(table)
        assert Page(table.html()).wrong == []
    assert markdown_rows(experiment_table(summary).markdown())[1:] == [
        ["Alone", "12.0 ± 2.8", "–", "–"],
        ["Both", "–", "25.0", "–"],
        ["None", "–", "–", "–"],
    ]
    assert markdown_rows(interval_table(summary).markdown())[1:] == [
        ["Alone", "-13.4 … 37.4", "–", "–"],  # 12 ± 12.706 · 4 / √2 / √2
        ["Both", "–", "–", "–"],
        ["None", "–", "–", "–"],
    ]


def test_rows_without_any_number_are_named_below_the_table() -> None:
    first, intervals = experiment_tables(summary_of({"Alone": {"en": (10, 14)}, "Both": {}, "All": {}}))
    assert [row[0] for row in markdown_rows(first.markdown())[1:]] == ["Alone"]
    assert "Not trained yet: Both; All." in first.markdown()
    assert "Both" not in intervals.markdown()
    published = summary_of({"Alone": {"en": (10, 14)}, "Both": {}}, {"Both": {"en": 3.0}})
    beside = experiment_tables(published)[0].markdown()
    assert [row[0] for row in markdown_rows(beside)[-2:]] == ["Alone", "Both"]  # the published number stands there
    assert "Not trained yet: Both." in beside
    assert "Not trained" not in experiment_tables(summary_of(ROWS))[0].markdown()


def test_a_row_that_was_trained_when_another_metric_was_kept_is_not_said_to_wait() -> None:
    summary = summary_of({"Alone": {"en": (10, 14)}, "Both": {}, "All": {}})
    trainings = [Record("cells/0", "Alone", 0), Record("cells/1", "All", 0)]
    told = experiment_tables(replace(summary, trainings=trainings))[0].markdown()
    assert "Not trained yet: Both." in told
    assert "Trained, but what this table asks for was not kept: All." in told


def test_a_table_of_one_seed_has_no_deviations_and_no_intervals() -> None:
    summary = summary_of({"Alone": {"en": (10,), "de": (20,)}}, seeds=[0])
    (table,) = experiment_tables(summary)
    text = table.markdown()
    assert markdown_rows(text)[1] == ["Alone", "10.0", "20.0", "15.0"]
    assert "±" not in text
    assert "one seed" in text
    assert "over 2 seeds" in experiment_table(summary_of(ROWS)).markdown()


def test_many_languages_become_the_rows() -> None:
    codes = ("af", "ar", "cs", "de", "en", "es", "fr", "it", "ja")
    rows = {"all": {code: (10.0 + at,) for at, code in enumerate(codes)}, "none": {}}
    summary = summary_of(rows, languages=codes, seeds=[0])
    found = markdown_rows(experiment_table(summary).markdown())
    assert found[0] == ["language", "all", "none"]
    assert found[4] == ["German (de)", "13.0", "–"]
    assert found[-1] == ["mean", "14.0", "–"]
    assert len(found) == 1 + 9 + 1
    without = summary_of(rows, languages=codes, seeds=[0], mean=False)
    assert markdown_rows(experiment_table(without).markdown())[-1] == ["Japanese (ja)", "18.0", "–"]


def test_the_best_rank_is_the_lowest() -> None:
    """The best of each column stands out; of recalls it is the highest, of ranks the lowest."""
    rows = {"near": {"en": (2.0,)}, "far": {"en": (7.0,)}}
    bests = {"text_to_image.median": "2.0", "image_to_text.mean": "2.0", "text_to_image.R@10": "7.0", "mR": "7.0"}
    for metric, best in bests.items():
        summary = summary_of(rows, metrics=(metric,), languages=("en",), mean=False)
        text = experiment_table(summary).markdown()
        assert [part for part in ("2.0", "7.0") if f"**{part}**" in text] == [best]


def test_what_is_measured_is_said_below_the_table() -> None:
    assert "mR: mean of the six recalls, test split" in experiment_table(summary_of(ROWS)).markdown()
    one = summary_of({"One": {}}, metrics=("text_to_image.R@10",))
    assert (
        "\nT→I R@10; R@K: share of queries, in percent, with a right answer among the first K, test split; mean ± dev"
        in experiment_table(one).markdown()
    )


def test_rows_that_lack_seeds_are_named_below_the_table() -> None:
    rows = {"whole": {"en": (1.0, 2.0, 3.0)}, "begun": {"en": (4.0, 5.0)}, "empty": {}}
    text = experiment_table(summary_of(rows, languages=("en",), seeds=[0, 1, 2], mean=False)).markdown()
    assert "begun: 2 of 3 seeds." in text
    assert text.count(" of 3 seeds") == 1


def test_folds_are_said_below_the_table() -> None:
    base = {"corpus": {"name": "x"}, "evaluation": {"folds": 5}}
    assert "test split, mean over 5 folds; mean ±" in experiment_table(summary_of(ROWS, base=base)).markdown()
    assert "folds" not in experiment_table(summary_of(ROWS)).markdown()


# --- claims


def test_claims_by_language_with_signs() -> None:
    summary = summary_of(ROWS, claims=[CLAIM])
    _, intervals, claims = experiment_tables(summary)
    assert intervals == interval_table(summary)
    assert claims == claims_table(summary)
    assert markdown_rows(claims.markdown()) == [
        ["claim", "language", "difference", "published", "here"],
        ["Two are better", "English (en)", "+9.0 ± 5.6", "+2.5", "holds"],
        ["", "German (de)", "0.0 ± 1.2", "-0.3", "not resolved"],
        ["", "French (fr)", "-2.0", "–", "one seed"],
        ["", "Czech (cs)", "–", "–", "not trained"],
    ]
    assert "Difference of mR" in claims.markdown()
    assert "holds" in printed(claims, width=100)


def test_claims_are_left_out_until_there_is_something_to_say() -> None:
    empty = replace(CLAIM, languages={"en": Finding(2.5)})
    assert len(experiment_tables(summary_of(ROWS, claims=[empty]))) == 2
    assert len(experiment_tables(summary_of(ROWS, claims=[empty, CLAIM], seeds=[0]))) == 2
