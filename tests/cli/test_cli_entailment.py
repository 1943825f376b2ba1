"""groundling corpus build and inspect on statements with labels."""

from pathlib import Path

import commands
from commands import assert_one_sentence, call
from PIL import Image

own_ground = commands.own_ground  # each test in a folder of its own

ROWS = """picture,language,text,label,statement,split
a.png,en,A dog runs.,entailment,s1,train
a.png,de,Ein Hund rennt.,entailment,s1,train
a.png,en,A cat sleeps.,contradiction,s2,train
b.png,en,A dog runs.,neutral,s3,test
"""


def write(folder: Path, rows: str) -> None:
    for name, colour in (("a.png", "red"), ("b.png", "blue")):
        Image.new("RGB", (8, 8), colour).save(folder / name)
    (folder / "said.csv").write_text(rows, encoding="utf-8")


def test_a_table_of_statements_becomes_a_corpus_that_shows_its_balance(own_ground: Path) -> None:
    write(own_ground, ROWS)
    built = call("corpus", "build", "said.csv", "--out", "said")
    assert built.code == 0, built.err
    assert "Statements by label" in built.out
    facts = call("corpus", "inspect", "said", "--json").json
    assert facts["statements"]["labels"]["train"]["en"] == {"contradiction": 1, "neutral": 0, "entailment": 1}
    assert facts["statement_leaks"]["in_train"]["en"]["test"] == {"count": 1, "of": 1}
    assert facts["statement_leaks"]["text_only"]["en"]["asked"] == 1
    shown = call("corpus", "inspect", "said").out
    assert "test: 1 of 1 statements (en) are word for word in train" in shown
    assert "by the words of the statements (en)" in shown


def test_a_label_that_is_none_stops_a_strict_build(own_ground: Path) -> None:
    write(own_ground, ROWS.replace("neutral", "maybe"))
    said = call("corpus", "build", "said.csv", "--out", "said", "--strict")
    assert_one_sentence(said, 'said.csv:5: unknown label "maybe"')
    assert not (own_ground / "said").exists()


def test_statements_are_translated_by_a_table_and_keep_their_labels(own_ground: Path) -> None:
    write(own_ground, ROWS)
    (own_ground / "table.tsv").write_text("en\tde\tA dog runs.\tEin Hund läuft.\n", encoding="utf-8")
    translating = ["--to", "de", "--source", "table.tsv", "--statements"]
    said = call("corpus", "translate", "said.csv", *translating, "--out", "six")
    assert said.code == 0, said.err
    labels = call("corpus", "inspect", "six", "--json").json["statements"]["labels"]
    assert labels["train"]["de"] == {"contradiction": 0, "neutral": 0, "entailment": 1}  # the person's; no cat is there
    assert labels["test"]["de"] == {"contradiction": 0, "neutral": 1, "entailment": 0}
    (own_ground / "plain.csv").write_text("picture,language,text,split\na.png,en,A dog runs.,train\n")
    assert_one_sentence(call("corpus", "translate", "plain.csv", *translating, "--out", "none"), "has no statements")
    assert not (own_ground / "none").exists()


def test_corpora_of_statements_are_listed() -> None:
    listed = {row["name"] for row in call("corpus", "list", "--json").json}
    assert {"scenes", "snli-ve", "e-snli-ve", "xvnli"} <= listed
