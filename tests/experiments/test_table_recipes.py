"""Recipes by name; tables that are like others; and every table that comes with groundling."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from groundling import recipes, systems
from groundling.errors import UserError
from groundling.experiments.overlap import OverlapSettings
from groundling.experiments.table_entries import TableEntry, table_entries
from groundling.experiments.table_settings import TableSettings, mean_columns
from groundling.settings import Recipe, check, read_yaml

TABLES = [name for name, path in recipes.builtin().items() if recipes.is_table(read_yaml(path))]
RECIPES = [name for name in recipes.builtin() if name not in TABLES]
FIRST: dict[str, Any] = {
    "title": "First",
    "about": "Words about corpora a and b.",
    "languages": ["en", "de"],
    "base": {
        "corpus": {"name": "a", "languages": ["en"], "test_on": "b"},
        "system": {"name": "lessons", "caption_pairs": 0.0},
        "text": {"segmentation": "whitespace"},
    },
    "one_language": {"training.validate_every": "epoch"},
    "rows": [
        {"name": "a", "each": "language"},
        {"name": "b", "set": {"corpus.captions_from": {"en": "b", "de": ["a", "b"]}, "corpus.name": "b"}},
        {"name": "c", "set": {"corpus": {"name": "a", "test_on": "c"}, "system": {"name": "a"}}},
    ],
}


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, **values: Any) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")
    return name


# --- tables that are like others


def test_a_table_like_another_is_the_other_one_with_its_own_changes() -> None:
    write("first.yaml", **FIRST)
    write("second.yaml", like="first.yaml", title="Second", base={"text": {"minimum_count": 2}}, seeds=[7])
    assert recipes.read_table("second.yaml") == {
        **FIRST,
        "title": "Second",
        "base": {**FIRST["base"], "text": {"segmentation": "whitespace", "minimum_count": 2}},
        "seeds": [7],
    }
    assert recipes.read_table("first.yaml") == FIRST


def test_null_takes_a_group_away_and_a_list_takes_the_place_of_the_old_one() -> None:
    write("first.yaml", **FIRST)
    write("second.yaml", like="first.yaml", one_language=None, rows=[{"name": "only"}])
    merged = recipes.read_table("second.yaml")
    assert merged["one_language"] is None
    assert merged["rows"] == [{"name": "only"}]
    table = check(TableSettings, merged, "second.yaml")
    write("alone.yaml", like="first.yaml", one_language=None)
    alone = next(iter(table_entries(check(TableSettings, recipes.read_table("alone.yaml"), "alone.yaml"))))
    assert alone.recipe.training.validate_every == 500  # the default of models of several languages
    assert table.base == FIRST["base"]


def test_corpora_are_renamed_where_settings_name_a_corpus_and_nowhere_else() -> None:
    """All at once: a and b may change places. Rows, systems and words that are called like a corpus stay."""
    write("first.yaml", **FIRST)
    write("second.yaml", like="first.yaml", corpora={"a": "b", "b": "a"})
    renamed = recipes.read_table("second.yaml")
    assert renamed == {
        **FIRST,
        "base": {**FIRST["base"], "corpus": {"name": "b", "languages": ["en"], "test_on": "a"}},
        "rows": [
            {"name": "a", "each": "language"},
            {"name": "b", "set": {"corpus.captions_from": {"en": "a", "de": ["b", "a"]}, "corpus.name": "a"}},
            {"name": "c", "set": {"corpus": {"name": "b", "test_on": "c"}, "system": {"name": "a"}}},
        ],
    }


def test_what_a_table_says_itself_is_not_renamed() -> None:
    write("first.yaml", **FIRST)
    write("second.yaml", like="first.yaml", corpora={"a": "z"}, base={"corpus": {"name": "a"}})
    assert recipes.read_table("second.yaml")["base"]["corpus"] == {"name": "a", "languages": ["en"], "test_on": "b"}


def test_rows_that_a_table_does_without() -> None:
    write("first.yaml", **FIRST)
    write("second.yaml", like="first.yaml", without=["a", "c"])
    assert [row["name"] for row in recipes.read_table("second.yaml")["rows"]] == ["b"]
    write("third.yaml", like="first.yaml", without=["d"])
    with pytest.raises(UserError, match=r'third\.yaml: without: no row is called "d"'):
        recipes.read_table("third.yaml")


def test_one_row_that_a_table_does_without() -> None:
    rows = [{"name": "Bilingual"}, {"name": "Bilingual + c2c"}]
    write("first.yaml", **{**FIRST, "rows": rows})
    write("second.yaml", like="first.yaml", without="Bilingual + c2c")
    assert recipes.read_table("second.yaml")["rows"] == [{"name": "Bilingual"}]


def test_a_table_like_one_that_is_like_a_third() -> None:
    write("first.yaml", **FIRST)
    write("second.yaml", like="first.yaml", corpora={"a": "b"}, title="Second")
    write("third.yaml", like="second.yaml", corpora={"b": "c"}, about="Third")
    third = recipes.read_table("third.yaml")
    assert (third["title"], third["about"]) == ("Second", "Third")
    assert third["base"]["corpus"] == {"name": "c", "languages": ["en"], "test_on": "c"}


def test_a_table_of_words_like_another_counts_the_words_of_its_own_corpus() -> None:
    words = {"title": "Words", "overlap": "a", "languages": ["en", "de"]}
    write("first.yaml", **words, sizes=[{"corpus": "a", "sum": 3, "union": 2}])
    write("second.yaml", like="first.yaml", corpora={"a": "b"})
    second = recipes.read_table("second.yaml")
    assert (second["overlap"], second["sizes"][0]["corpus"]) == ("b", "b")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"like": "second.yaml"}, "second.yaml: like: the name of another table is needed"),
        ({"like": "./second.yaml"}, "second.yaml: like: the name of another table is needed"),
        ({"like": 3}, "second.yaml: like: the name of another table is needed"),
        ({"like": None}, "second.yaml: like: the name of another table is needed"),
        ({"like": "emoji/languges"}, 'no recipe is called "emoji/languges" (did you mean "emoji/languages"?)'),
        ({"like": "nowhere.yaml"}, "nowhere.yaml: no such recipe"),
        ({"like": "emoji/demo"}, "emoji/demo is one recipe; train it with `groundling train emoji/demo`"),
        ({"like": "emoji/languages", "corpora": ["a"]}, "second.yaml: corpora: a mapping"),
        ({"like": "emoji/languages", "corpora": "a"}, "second.yaml: corpora: a mapping"),
        ({"like": "emoji/languages", "corpora": None}, "second.yaml: corpora: a mapping"),
        ({"title": "x", "corpus": {"name": "a"}}, "second.yaml is one recipe"),
    ],
)
def test_a_mistake_in_a_table_like_another_is_one_sentence(values: dict[str, Any], words: str) -> None:
    write("second.yaml", **values)
    with pytest.raises(UserError) as error:
        recipes.read_table("second.yaml")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_tables_that_are_like_each_other_are_one_sentence() -> None:
    write("first.yaml", like="second.yaml")
    write("second.yaml", like="first.yaml")
    with pytest.raises(UserError, match="like"):
        recipes.read_table("first.yaml")


# --- names


def test_recipes_are_found_by_name_and_by_file() -> None:
    assert recipes.find("emoji/demo").name == "demo.yaml"
    assert recipes.find("mine/own.yaml") == Path("mine/own.yaml")
    with pytest.raises(UserError, match=r'no recipe is called "emoji/dmo" \(did you mean "emoji/demo"\?\)'):
        recipes.find("emoji/dmo")


def test_a_folder_stands_for_all_tables_in_it() -> None:
    assert recipes.tables("lessons") == [f"lessons/{name}" for name in ("figure3", *(f"table{n}" for n in range(1, 8)))]
    assert set(recipes.tables("lessons-f8k7")) >= {f"lessons-f8k7/table{n}" for n in range(2, 8)}
    assert recipes.tables("emoji") == ["emoji/languages"]  # the demo is no table
    assert recipes.tables("emoji/languages") == ["emoji/languages"]
    assert recipes.tables("mine.yml") == ["mine.yml"]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("lesons", "lessons"), ("lessons/tabel4", "lessons/table4"), ("emoji/language", "emoji/languages")],
)
def test_a_wrong_name_is_answered_with_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(UserError) as error:
        recipes.tables(name)
    assert str(error.value) == f'no table is called "{name}" (did you mean "{nearest}"?)'


def test_a_folder_of_recipes_alone_is_not_proposed_in_its_own_place(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Path(write("demo.yaml", corpus={"name": "a"}))
    monkeypatch.setattr(recipes, "builtin", lambda: {"solo/demo": recipe})
    with pytest.raises(UserError) as error:
        recipes.tables("solo")
    assert 'no table is called "solo"' in str(error.value)
    assert 'did you mean "solo"' not in str(error.value)


# --- what comes with groundling


def trainings(name: str) -> list[TableEntry]:
    return list(table_entries(check(TableSettings, recipes.read_table(name), name)))


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_that_comes_with_it_checks(name: str) -> None:
    systems.make(check(Recipe, read_yaml(recipes.find(name)), name).system)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_that_comes_with_it_checks(name: str) -> None:
    """Every entry is a recipe whose system can be made, and stands in the table; corpora are ones there are."""
    from groundling.corpus import catalogue

    corpora = {corpus for corpus, _, _ in catalogue.names()}
    values = recipes.read_table(name)
    if "overlap" in values:
        words = check(OverlapSettings, values, name)
        assert {words.overlap, *(size.corpus for size in words.sizes)} <= corpora
        pairs = {f"{one}-{other}" for at, one in enumerate(words.languages) for other in words.languages[at + 1 :]}
        assert words.published.keys() <= pairs
        return
    table = check(TableSettings, values, name)
    filled = set()
    for entry in table_entries(table):
        settings = entry.recipe.corpus
        systems.make(entry.recipe.system)
        asked_in = table.languages if entry.ask and entry.ask.translate_to else entry.group
        filled |= {(entry.row, code) for code in asked_in}
        sources = [source for value in settings.captions_from.values() for source in _listed(value)]
        assert {settings.name, *sources, *_listed(settings.test_on)} <= corpora
        assert set(settings.captions_from) <= {"en", "de"}
        assert settings.train_on != "disjoint" or not entry.recipe.system.get("caption_pairs")
    for row in table.rows:
        for mean, codes in mean_columns(table).items():
            filled |= {(row.name, mean)} if all((row.name, code) in filled for code in codes) else set()
        assert row.empty or {(row.name, code) for code in row.published} <= filled
        for numbers in row.published.values():
            assert len(_listed(numbers)) == len(table.metrics)
    for claim in table.claims:
        for row_name in (claim.better, claim.than):
            assert {(row_name, code) for code in claim.languages or table.languages} <= filled


def _listed(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


@pytest.mark.parametrize("name", [f"table{n}" for n in range(2, 8)] + ["figure3"])
def test_the_lessons_on_f8k7_differ_from_the_lessons_in_data_and_two_settings(name: str) -> None:
    """The same rows with the same systems; other corpora, text as written; in some one language a second time.

    The two settings, when pairs begin and which captions share a batch, are tested in test_lessons_tables.
    """
    here, there = (recipes.read_table(f"{folder}/{name}") for folder in ("lessons-f8k7", "lessons"))
    assert "multi30k" not in yaml.safe_dump({key: here[key] for key in ("base", "rows")})
    again = [entry for entry in trainings(f"lessons-f8k7/{name}") if "every 500 steps" in entry.row]
    assert bool(again) == (name in ("table2", "table3", "figure3"))
    assert all(len(entry.group) == 1 for entry in again)
    same = [entry for entry in trainings(f"lessons-f8k7/{name}") if "every 500 steps" not in entry.row]
    for one, other in zip(same, trainings(f"lessons/{name}"), strict=True):
        assert (one.row, one.group) == (other.row, other.group)
        assert {**one.recipe.system, "caption_pairs_after": 0} == {**other.recipe.system, "caption_pairs_after": 0}
        assert one.recipe.corpus.train_on == other.recipe.corpus.train_on
        assert one.recipe.corpus.one_caption == other.recipe.corpus.one_caption
        assert (one.recipe.corpus.name == "f8k7") == (other.recipe.corpus.name == "multi30k-task2")
        assert one.recipe.text.segmentation == "script"
        assert other.recipe.text.segmentation == "whitespace"
        assert one.recipe.training.model_copy(update={"length_pool": 1}) == other.recipe.training
    numbers = [row.get("published") for row in here["rows"] if "every 500 steps" not in row["name"]]
    assert numbers == [row.get("published") for row in there["rows"]]
    assert here.get("claims") == there.get("claims")


def test_the_tables_of_the_lessons_share_trainings() -> None:
    """Monolingual models of Tables 2, 3 and 5 are the same ones, as are those of Tables 6 and 7."""
    folders = {n: {entry.folder for entry in trainings(f"lessons/table{n}")} for n in range(2, 8)}
    assert len(folders[2] & folders[3]) >= 3 * 2  # both bilingual rows, three seeds
    assert len(folders[2] & folders[5]) >= 3
    assert len(folders[3] & folders[5]) >= 3
    assert len(folders[6] & folders[7]) >= 3 * 2  # French and Czech; Table 7 selects its other models by language


def test_rows_and_claims_that_a_table_has_beside_the_other_ones() -> None:
    write("first.yaml", **FIRST)
    more = {"more_rows": [{"name": "d"}], "more_claims": [{"says": "s", "better": "d", "than": "b"}]}
    write("second.yaml", like="first.yaml", without=["c"], **more)
    found = recipes.read_table("second.yaml")
    assert [row["name"] for row in found["rows"]] == ["a", "b", "d"]
    assert found["claims"] == more["more_claims"]
    write("third.yaml", like="first.yaml", more_rows={"name": "d"})
    with pytest.raises(UserError, match=r"third\.yaml: more_rows: a list is needed"):
        recipes.read_table("third.yaml")


def test_table_4_1_of_the_thesis_has_its_rows_as_published() -> None:
    table = check(TableSettings, recipes.read_table("snli-ve/table"), "snli-ve/table")
    entries = {(entry.row, entry.group): entry.recipe for entry in table_entries(table)}
    assert [group for row, group in entries if row == "CLSEAVE"] == [(code,) for code in ("de", "nl", "ja", "zh", "ko")]
    student, words, judge = (entries[key] for key in (("CLSEAVE", ("de",)), ("CLTEAVE", ("de",)), ("CLIP-VE", ("en",))))
    for recipe in (student, words):
        training = recipe.training
        assert (training.batch_size, training.learning_rate, training.optimiser) == (128, 4e-5, "adamw")
        assert (training.weight_decay, training.clip, training.decay) == (0, None, "linear")
        assert recipe.system["distance"] == "mse"
    assert (words.system["sentence"], words.system["rectified"]) == (0, True)
    assert judge.system["encoder"] == student.start.system["encoder"] == "openai/clip-vit-base-patch16"
    for one in (judge.training, student.start.training):
        assert (one.batch_size, one.learning_rate, one.optimiser, one.patience) == (64, 1e-6, "adam", 1)
