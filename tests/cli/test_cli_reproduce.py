"""groundling reproduce: tables from their files to their pages, once, again, and in parts."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import commands
import pytest
import tiny_tables
import yaml
from commands import assert_one_sentence, call
from tiny_tables import reproduce, write_table

from groundling import training
from groundling.errors import UserError
from groundling.run import Run

base, trained, forget_datasets = tiny_tables.base, tiny_tables.trained, tiny_tables.forget_datasets
own_ground, world_files = commands.own_ground, commands.world_files


def test_reproduce_prints_a_table_and_does_nothing_twice(base: dict[str, Any], trained: list[Path]) -> None:
    write_table("tiny.yaml", base)
    arguments = ["tiny.yaml", "--set", "training.maximum_steps=5", "--seed", "3", "--seed", "4"]
    said = reproduce(*arguments)
    assert said.code == 0, said.err
    assert len(trained) == 2
    written = json.loads(Path("runs/tables/tiny/results.json").read_text())
    assert f"{written['rows'][0]['columns']['mean']['mean']:.1f}" in said.out
    assert "Written to runs/tables/tiny/results.html" in said.out
    assert "2 trainings" in said.out
    summary = reproduce(*arguments, "--json").json
    assert len(trained) == 2
    assert summary == {key: value for key, value in written.items() if key not in ("about", "made")}
    assert summary["seeds"] == [3, 4]
    for folder in trained:
        assert re.fullmatch(r"runs/tables/cells/bag-all-seed[34]-\w{10}", str(folder))
        assert json.loads((folder / "recipe.json").read_text())["training"]["maximum_steps"] == 5


def test_two_tables_at_once_share_their_trainings(base: dict[str, Any], trained: list[Path]) -> None:
    rows = [{"name": "alone", "each": "language"}, {"name": "both"}]
    write_table("one.yaml", base, title="One by one", trained_on=["en", "de"], rows=rows)
    write_table("two.yaml", base, title="Two in one", languages=["de"], rows=[{"name": "both", "each": [["en", "de"]]}])
    said = reproduce("one.yaml", "two.yaml", "--out", "here")
    assert said.code == 0, said.err
    assert len(trained) == 3
    assert said.out.index("One by one") < said.out.index("Two in one")
    assert "3 trainings" in said.out
    both = reproduce("one.yaml", "two.yaml", "--out", "here", "--json").json
    assert list(both) == ["one.yaml", "two.yaml"]  # each table under the name it was asked by
    assert both["one.yaml"]["rows"][1]["columns"]["de"] == both["two.yaml"]["rows"][0]["columns"]["de"]
    for name, trainings in (("one", 3), ("two", 1)):
        written = json.loads(Path(f"here/{name}/results.json").read_text())
        assert written["made"]["trainings"] == trainings  # of its own, not of both tables
        assert written["made"]["command"] == f"groundling reproduce {name}.yaml"
        assert {key: value for key, value in written.items() if key not in ("about", "made")} == both[f"{name}.yaml"]
    alone = reproduce("two.yaml", "--out", "here", "--json").json
    assert alone == both["two.yaml"]  # a single table by itself, not under its name
    twice = reproduce("two.yaml", "two.yaml", "--out", "here", "--json").json
    assert twice == alone
    assert len(trained) == 3


def test_two_tables_of_one_name_in_two_folders_have_a_page_each(base: dict[str, Any]) -> None:
    write_table("a/tiny.yaml", base, title="First")
    write_table("b/tiny.yaml", base, title="Second")
    reproduce("a/tiny.yaml", "b/tiny.yaml", "--out", "here")
    titles = {json.loads(path.read_text())["title"] for path in Path("here").rglob("results.json")}
    assert titles == {"First", "Second"}


def test_a_table_like_another(base: dict[str, Any], trained: list[Path], world_files: Path) -> None:
    """`like`, `corpora` and null from the command line to the numbers."""
    corpus = base["corpus"]["name"]
    rows = [{"name": "alone", "each": [["de"]]}]
    one_language = {"training.maximum_steps": 6}
    elsewhere = {**base, "corpus": {"name": "somewhere"}}
    write_table("first.yaml", elsewhere, languages=["de"], rows=rows, one_language=one_language)
    assert_one_sentence(reproduce("first.yaml"), 'no corpus, file or folder named "somewhere"')
    second = {"like": "first.yaml", "title": "Second", "corpora": {"somewhere": corpus}}
    Path("second.yaml").write_text(yaml.safe_dump(second))
    assert reproduce("second.yaml", "--json").json["title"] == "Second"
    Path("third.yaml").write_text(yaml.safe_dump({**second, "one_language": None}))
    reproduce("third.yaml")
    steps = [json.loads((folder / "run.json").read_text())["steps"] for folder in trained]
    assert steps == [6, 10]


def test_a_table_of_words(world_files: Path) -> None:
    """The world's two languages share no word. Nothing is trained; it may stand beside a table of trainings."""
    table = {"title": "Words", "overlap": str(world_files / "corpus"), "languages": ["en", "de"], "minimum_count": 1}
    Path("words.yaml").write_text(yaml.safe_dump({**table, "published": {"en-de": 0.0}}))
    said = reproduce("words.yaml")
    assert said.code == 0, said.err
    assert "0.0000" in said.out
    result = reproduce("words.yaml", "--json").json
    assert result["pairs"] == [{"languages": ["en", "de"], "jaccard": 0.0, "published": 0.0}]
    assert "- command: `groundling reproduce words.yaml`" in Path("runs/tables/words/results.md").read_text()


def test_show_prints_what_is_there_and_trains_nothing(base: dict[str, Any], trained: list[Path]) -> None:
    write_table("tiny.yaml", base)
    said = reproduce("tiny.yaml", "--show")
    assert_one_sentence(said, "runs/tables: no training of tiny.yaml is finished yet")
    assert not Path("runs").exists()
    reproduce("tiny.yaml", "--seed", "0")
    trained.clear()
    said = reproduce("tiny.yaml", "--seed", "0", "--seed", "1", "--show")
    assert said.code == 0, said.err
    assert "both" in said.out
    assert trained == []
    assert "1 of 2" in Path("runs/tables/tiny/results.md").read_text()
    assert_one_sentence(reproduce("tiny.yaml", "--seed", "7", "--show"), "no training of tiny.yaml is finished yet")
    assert_one_sentence(reproduce("tiny.yaml", "--show", "--out", "nowhere"), "nowhere: no training of")


def test_known_trainings_are_not_done_again(base: dict[str, Any], trained: list[Path]) -> None:
    """A seed more, on a machine that has the JSON of the table and nothing else of it."""
    write_table("tiny.yaml", base)
    reproduce("tiny.yaml", "--out", "first")
    first = json.loads(Path("first/tiny/results.json").read_text())
    seeds = ["--seed", "0", "--seed", "1"]
    said = reproduce("tiny.yaml", *seeds, "--out", "second", "--known", "first")
    assert said.code == 0, said.err
    assert "1 of 2 trainings is known from first" in said.err
    assert len(trained) == 2
    second = json.loads(Path("second/tiny/results.json").read_text())
    assert second["rows"][0]["columns"]["en"]["values"][:1] == first["rows"][0]["columns"]["en"]["values"]
    own = {**second["trainings"][0], "settings": {}}
    assert own == {**first["trainings"][0], "settings": {}} and own["asked"].keys() == {"en", "de"}
    assert [one["settings"] for one in second["trainings"]] == [{"training.seed": 0}, {"training.seed": 1}]
    assert second["settings of all trainings"]["training.maximum_steps"] == 10
    assert second["made"]["trainings"] == 2 and second["made"]["known from earlier JSON"] == 1
    counted = reproduce("tiny.yaml", *seeds, "--out", "third", "--known", "second/tiny/results.json", "--prepare")
    assert "tiny.yaml: 2 trainings, 2 done" in counted.out
    shown = reproduce("tiny.yaml", *seeds, "--out", "third", "--known", "second", "--show", "--json").json
    assert shown["rows"] == second["rows"] and len(trained) == 2


@pytest.mark.parametrize(
    "content, says",
    [
        (None, "known.json: no such file"),
        ("{", "known.json"),
        ('{"title": "x"}', "does not tell of its trainings"),
        ('{"trainings": [{"training": 3}]}', "known.json: trainings.0.training"),
    ],
)
def test_what_is_known_cannot_be_read(
    base: dict[str, Any], trained: list[Path], content: str | None, says: str
) -> None:
    write_table("tiny.yaml", base)
    if content is not None:
        Path("known.json").write_text(content)
    assert_one_sentence(reproduce("tiny.yaml", "--known", "known.json"), says)
    assert not trained and not Path("runs").exists()


def test_show_of_two_tables_of_which_one_is_not_begun(base: dict[str, Any]) -> None:
    write_table("one.yaml", base)
    write_table("two.yaml", base, title="Later", rows=[{"name": "more", "set": {"training.batch_size": 8}}])
    reproduce("one.yaml")
    shown = reproduce("one.yaml", "two.yaml", "--show", "--json").json
    assert shown["one.yaml"]["rows"][0]["columns"].keys() == {"en", "de", "mean"}
    assert shown["two.yaml"]["rows"][0]["columns"] == {}
    said = reproduce("one.yaml", "two.yaml", "--show")
    assert said.code == 0, said.err
    assert "Later" in said.out
    assert "0 of 1" in Path("runs/tables/two/results.md").read_text()


def test_how_it_was_made_repeats_the_whole_command(base: dict[str, Any]) -> None:
    """Without its --set and --seed, the command in results.md would give other numbers."""
    write_table("tiny.yaml", base)
    reproduce("tiny.yaml", "--set", "training.maximum_steps=5", "--seed", "3", "--out", "here")
    text = Path("here/tiny/results.md").read_text()
    assert "groundling reproduce tiny.yaml --set training.maximum_steps=5 --seed 3" in text


@pytest.mark.parametrize(
    "changes",
    [{"one_language": {"training.maximum_steps": 6}}, {"rows": [{"name": "a", "set": {"training.maximum_steps": 6}}]}],
    ids=["one_language", "row"],
)
def test_set_changes_a_setting_of_every_row(changes: dict[str, Any], base: dict[str, Any], trained: list[Path]) -> None:
    """As its help says; a quick look at a table is what it is for."""
    write_table("tiny.yaml", base, **{"languages": ["en"], **changes})
    reproduce("tiny.yaml", "--set", "training.maximum_steps=5")
    (folder,) = trained
    assert json.loads((folder / "run.json").read_text())["steps"] == 5


@pytest.mark.parametrize("change", ["training.seed=7", "corpus.languages=[en]"])
def test_set_of_what_the_table_itself_sets_is_refused(change: str, base: dict[str, Any]) -> None:
    """Or obeyed; but not taken for granted and left undone. Seeds have an option of their own."""
    write_table("tiny.yaml", base)
    assert_one_sentence(reproduce("tiny.yaml", "--set", change), change.partition("=")[0])


def test_a_table_elsewhere_leaves_its_runs_here(base: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the table may be anybody's."""
    table = Path(write_table("tables/tiny.yaml", base)).resolve()
    Path("work").mkdir()
    monkeypatch.chdir("work")
    assert reproduce(table).code == 0
    assert [path.name for path in table.parent.iterdir()] == ["tiny.yaml"]
    assert Path("runs/tables/tiny/results.md").exists()


def test_weights_are_kept_when_asked_for(base: dict[str, Any]) -> None:
    write_table("tiny.yaml", base)
    reproduce("tiny.yaml")
    assert not list(Path("runs").rglob("best.safetensors"))
    reproduce("tiny.yaml", "--keep-weights", "--seed", "1")
    assert len(list(Path("runs").rglob("best.safetensors"))) == 1


# --- some rows, some minutes, and trainings that fail


def test_only_some_rows_of_some_tables(base: dict[str, Any], trained: list[Path]) -> None:
    rows = [{"name": "one", "each": [["en"]]}, {"name": "one more", "each": [["de"]]}, {"name": "both"}]
    claims = [{"says": "x", "better": "both", "than": "one"}, {"says": "y", "better": "one more", "than": "one"}]
    write_table("a.yaml", base, rows=rows, claims=claims)
    write_table("b.yaml", base, rows=[{"name": "both"}])
    summary = reproduce("a.yaml", "b.yaml", "--row", "one*", "--json").json  # a alone: b has no such row
    assert [row["name"] for row in summary["rows"]] == ["one", "one more"]
    assert [claim["says"] for claim in summary["claims"]] == ["y"]
    assert [folder.name[:7] for folder in trained] == ["bag-en-", "bag-de-"]
    made = json.loads(Path("runs/tables/a/results.json").read_text())["made"]
    assert made["command"] == "groundling reproduce a.yaml --row 'one*'"
    assert made["trainings"] == 2
    assert [row["name"] for row in reproduce("a.yaml", "--row", "one", "--show", "--json").json["rows"]] == ["one"]
    both = reproduce("a.yaml", "b.yaml", "--row", "one", "--row", "both", "--json").json
    assert {name: [row["name"] for row in table["rows"]] for name, table in both.items()} == {
        "a.yaml": ["one", "both"],
        "b.yaml": ["both"],
    }
    assert_one_sentence(
        reproduce("a.yaml", "--row", "both", "--row", "one mor"), '"one mor" (did you mean "one more"?)'
    )


def test_tables_are_one_queue_in_their_order_seed_by_seed(base: dict[str, Any], trained: list[Path]) -> None:
    rows = [{"name": "alone", "each": "language"}]
    write_table("a.yaml", base, seeds=[0, 1], rows=rows)
    write_table("b.yaml", base, seeds=[0, 1])
    assert reproduce("b.yaml", "a.yaml").code == 0
    languages = [re.sub(r"bag-(.*)-\w+", r"\1", folder.name) for folder in trained]
    assert languages == ["all-seed0", "all-seed1", "en-seed0", "de-seed0", "en-seed1", "de-seed1"]


def test_what_is_not_done_in_time_is_left_for_the_next_command(
    base: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some tenths of a second are not enough for a process to begin."""
    write_table("a.yaml", base, seeds=[0, 1])
    reproduce("a.yaml", "--seed", "0")
    monkeypatch.setattr("sys.argv", ["groundling", "reproduce", "a.yaml", "--minutes", "0.01"])
    said = reproduce("a.yaml", "--minutes", "0.01")
    assert said.code == 124
    words = (
        r"groundling: 1 training done, 1 (stopped|not begun); go on with: groundling reproduce a.yaml --minutes 0.01"
    )
    assert re.fullmatch(words, said.err.strip())
    assert "Written to runs/tables/a/results.html" in said.out
    assert "1 of 2" in Path("runs/tables/a/results.md").read_text()
    said = reproduce("a.yaml", "--minutes", "5")
    assert said.code == 0, said.err
    assert "2 trainings" in said.out
    assert_one_sentence(reproduce("a.yaml", "--minutes", "1", "--show"), "--minutes is for training")


@pytest.mark.parametrize(("error", "code"), [(UserError("too cold"), 2), (RuntimeError("too cold"), 1)])
def test_a_training_that_fails_is_named_and_the_others_are_done(
    error: Exception, code: int, base: dict[str, Any], trained: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_table("a.yaml", base, seeds=[0, 1, 2])
    train = training.train

    def fail(recipe: Any, dataset: Any, folder: Path, **options: Any) -> Run:
        if recipe.training.seed == 1:
            raise error
        return train(recipe, dataset, folder, **options)

    monkeypatch.setattr(training, "train", fail)
    said = reproduce("a.yaml")
    assert said.code == code
    *_, told, last = said.err.splitlines()
    assert "too cold" in told
    assert re.search(r'2 trainings done, 1 failed \("both" in cells/bag-all-seed1-\w+\); go on with: ', last)
    assert len(trained) == 2
    assert ("Traceback" in said.err) == (code == 1)
    assert "2 of 3" in Path("runs/tables/a/results.md").read_text()


def test_show_of_a_table_of_words_needs_no_corpus(world_files: Path) -> None:
    shutil.copytree(world_files / "corpus", "corpus")
    table = {"title": "Words", "overlap": "corpus", "languages": ["en", "de"], "minimum_count": 1}
    Path("words.yaml").write_text(yaml.safe_dump(table))
    first = reproduce("words.yaml", "--json").json
    shutil.rmtree("corpus")
    assert reproduce("words.yaml", "--show", "--json").json == first


def test_the_same_command_line_as_a_module() -> None:
    """`python -m groundling`, where the script is not on the path."""
    code = "import runpy; runpy.run_module('groundling', run_name='__main__', alter_sys=True)"
    said = commands.child(code, "reproduce", "lesons", capture_output=True)
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr == 'groundling: no table is called "lesons" (did you mean "lessons"?)\n'


# --- made ready, and asked with translations


def test_preparing_counts_trainings_and_leaves_nothing(base: dict[str, Any], trained: list[Path]) -> None:
    rows = [{"name": "both"}, {"name": "each", "each": "language"}]
    name = write_table("a.yaml", base, rows=rows, seeds=[0, 1])
    told = call("reproduce", name, "--prepare")
    assert "a.yaml: 6 trainings, 0 done" in told.out
    assert not Path("runs").exists()
    call("reproduce", name, "--seed", "0")
    assert len(trained) == 3
    counted = json.loads(call("reproduce", name, "--prepare", "--json").out)
    assert counted == {"tables": {name: {"trainings": 6, "done": 3}}, "trainings": 6}
    assert len(trained) == 3
    assert_one_sentence(call("reproduce", name, "--prepare", "--show"), "two things")


def test_rows_are_asked_with_translations_from_a_source(base: dict[str, Any], trained: list[Path]) -> None:
    rows = [{"name": "both"}, {"name": "CLC-A", "ask": {"consistency": "average"}}]
    name = write_table("a.yaml", base, rows=rows)
    assert_one_sentence(call("reproduce", name), "has a translation there; give another --source")
    assert trained == []
    summary = json.loads(call("reproduce", name, "--source", "comparable", "--json").out)
    both, together = summary["rows"]
    assert len(trained) == 1
    assert together["columns"].keys() == both["columns"].keys()
    made = json.loads(Path("runs/tables/a/results.json").read_text())["made"]
    assert made["command"] == f"groundling reproduce {name} --source comparable"
    assert made["trainings"] == 1
