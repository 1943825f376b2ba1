"""Bilingual dictionaries: layouts, coverage, splits."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.errors import UserError
from groundling.words import WordVectors
from groundling.words.dictionary import cover, identical, parse_pair, read_pairs, rows, split_pairs


def vectors(*words: str) -> WordVectors:
    return WordVectors(words, np.ones((len(words), 2), dtype=np.float32))


def test_layouts_can_be_mixed_and_bad_lines_are_named(tmp_path: Path) -> None:
    lines = ["dog hund", "katze @ cat", "ice cream\tspeiseeis", "one two three", "", "dog  hund", "alone", " @ x"]
    path = tmp_path / "d.txt.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode() + b"\n\xff y\n" + b"w" * 2000 + b" z\n"))
    pairs, problems = read_pairs(path)
    assert pairs == [("dog", "hund"), ("cat", "katze"), ("ice cream", "speiseeis")]
    assert problems.counts == {"not a pair": 3, "duplicate pair": 1, "not UTF-8": 1, "too long": 1}
    assert f'{path}:4: "one two three" is not a pair' in problems.sentences[0]


@pytest.mark.parametrize("content", ["", "\n\n", "lonely\n"])
def test_no_pairs(tmp_path: Path, content: str) -> None:
    (tmp_path / "d.txt").write_text(content)
    with pytest.raises(UserError, match="holds no pairs"):
        read_pairs(tmp_path / "d.txt")


word = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=4).filter(lambda w: "@" not in w)


@given(word, word)
def test_every_layout_of_a_pair(source: str, target: str) -> None:
    for line in (f"{source} {target}", f"{source}\t{target}", f" {source}  {target} ", f"{target} @ {source}"):
        assert parse_pair(line) == (source, target)


@given(st.text(max_size=12))
def test_any_line_is_a_pair_or_none(line: str) -> None:
    pair = parse_pair(line)
    assert pair is None or (all(pair) and all(part == part.strip() for part in pair))


PAIRS = [("dog", "hund"), ("cat", "katze"), ("cat", "kater"), ("sun", "sonne")]


def test_coverage() -> None:
    kept, coverage = cover([*PAIRS, PAIRS[0]], vectors("dog", "cat", "moon"), vectors("hund", "katze", "kater", "mond"))
    assert kept == PAIRS[:3]
    assert (coverage.pairs, coverage.covered, coverage.source_words, coverage.covered_source_words) == (4, 3, 3, 2)
    assert not coverage.swapped


def test_a_dictionary_is_turned_round_where_it_fits_better() -> None:
    german, english = vectors("hund", "katze", "kater"), vectors("dog", "cat")
    kept, coverage = cover(PAIRS, german, english)
    assert kept == [("hund", "dog"), ("katze", "cat"), ("kater", "cat")]
    assert coverage.swapped
    assert cover(PAIRS, german, english, "as-written")[0] == []
    assert cover(PAIRS, english, german, "swapped")[0] == []
    assert rows(kept, german, english).tolist() == [[0, 0], [1, 1], [2, 1]]


def test_identical_words() -> None:
    assert identical(vectors("a", "taxi", "2"), vectors("2", "b", "taxi")) == [("taxi", "taxi"), ("2", "2")]


digit = st.integers(0, 9).map(str)


@given(st.lists(st.tuples(digit, digit), unique=True), st.integers(0, 3), st.randoms())
def test_splits_by_source_word(pairs: list[tuple[str, str]], seed: int, random: object) -> None:
    train, test = split_pairs(pairs, 0.3, seed)
    assert sorted(train + test) == sorted(pairs)
    sources = {source for source, _ in pairs}
    tested = {source for source, _ in test}
    assert not tested & {source for source, _ in train}
    assert len(tested) == round(0.3 * len(sources))
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert {source for source, _ in split_pairs(shuffled, 0.3, seed)[1]} == tested
