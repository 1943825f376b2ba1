"""Sentence pairs from a file: what is read, what is held out, and one sentence for whatever is wrong."""

from pathlib import Path

import pytest

from groundling.corpus import Corpus, sentence_pairs
from groundling.errors import UserError

LINES = [f"sentence number {number}\tSatz Nummer {number}" for number in range(100)]


def read(tmp_path: Path, lines: list[str], known: str | None = "en", knows: tuple[str, ...] = ("en", "fr")) -> Corpus:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return sentence_pairs.read(path, "de", known, knows)


def test_pairs_are_captions_of_one_meaning_and_a_fifth_is_held_out(tmp_path: Path) -> None:
    corpus = read(tmp_path, [*LINES, "", "sentence number 7\tnoch ein Satz"])
    assert {split: int((corpus.splits == split).sum()) for split in ("train", "dev", "test")} == {
        "train": 80,
        "dev": 10,
        "test": 10,
    }
    for owner in range(100):
        said = {
            (str(corpus.languages[row]), corpus.texts[row]) for row in range(len(corpus)) if corpus.owners[row] == owner
        }
        number = next(text for code, text in said if code == "en").split()[-1]
        more = {("de", "noch ein Satz")} if number == "7" else set()
        assert said == {("en", f"sentence number {number}"), ("de", f"Satz Nummer {number}")} | more


def test_what_is_held_out_depends_on_the_sentences_not_on_their_order(tmp_path: Path) -> None:
    def held_out(corpus: Corpus) -> set[str]:
        return {corpus.texts[row] for row in range(len(corpus)) if corpus.splits[corpus.owners[row]] == "test"}

    assert held_out(read(tmp_path, LINES)) == held_out(read(tmp_path, LINES[::-1]))


def test_the_known_language_is_told_by_option_header_or_teacher(tmp_path: Path) -> None:
    for lines, known, knows in (
        (LINES, "fr", ("en", "fr")),
        (["fr\tde", *LINES], None, ("en", "fr")),
        (["FR\tDE", *LINES], "fr", ("en", "fr")),
        (LINES, None, ("fr",)),
    ):
        corpus = read(tmp_path, lines, known, knows)
        assert sorted(corpus.all_languages()) == ["de", "fr"]
        assert len(corpus) == 200


@pytest.mark.parametrize(
    ("lines", "known", "words"),
    [
        ([*LINES, "no tab here"], "en", "pairs.tsv:101: no tab in this line; write a known sentence, one tab"),
        ([*LINES, "a\tb\tc"], "en", "pairs.tsv:101: 2 tabs in this line"),
        ([*LINES, "a\t "], "en", "pairs.tsv:101: the text is empty"),
        (["\tb", *LINES], "en", "pairs.tsv:1: the text is empty"),
        (LINES[:20], "en", "20 pairs of 20 different known sentences; at least 50 are needed"),
        ([LINES[0]] * 80, "en", "80 pairs of 1 different known sentences"),
        (LINES, None, "which language are the first sentences in? Say it with --from"),
        (LINES, "it", 'the teacher does not know "it"'),
        (["it\tde", *LINES], None, 'the teacher does not know "it"'),
        (["en\tde", *LINES], "fr", "the header says en, and --from fr"),
    ],
)
def test_bad_pairs_are_named(tmp_path: Path, lines: list[str], known: str | None, words: str) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, lines, known)
    assert words in str(caught.value)


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        sentence_pairs.read(tmp_path / "none.tsv", "de", "en", ["en"])
    (tmp_path / "binary.tsv").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(UserError, match=r"binary.tsv:1: not UTF-8"):
        sentence_pairs.read(tmp_path / "binary.tsv", "de", "en", ["en"])
