"""Word vectors as text: good files, broken lines, headers that lie."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundling.errors import UserError
from groundling.words.lines import LONGEST_LINE
from groundling.words.problems import MOST_SENTENCES
from groundling.words.vec import read_vec, write_vec
from groundling.words.vectors import WordVectors


def written(folder: Path, text: str | bytes, name: str = "a.vec") -> Path:
    path = folder / name
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


@pytest.mark.parametrize("name", ["a.vec", "a.vec.gz"])
def test_what_fasttext_writes(tmp_path: Path, name: str) -> None:
    # fastText ends every line with a space
    vectors, problems = read_vec(written(tmp_path, "2 3\nthe 1 2 3 \nhund -0.5 1e-3 0 \n", name))
    assert vectors.words == ("the", "hund")
    assert np.array_equal(vectors.matrix, np.array([[1, 2, 3], [-0.5, 1e-3, 0]], dtype=np.float32))
    assert (problems.total, problems.notes) == (0, [])


def test_every_bad_line_is_named_and_no_number_moves(tmp_path: Path) -> None:
    text = (
        "9 2\n"  # 1
        "good 1 2\n"
        "short 1\n"  # 3
        "long 1 2 3\n"  # 4
        "word 1 x\n"  # 5
        "good 3 4\n"  # 6
        "huge 1 1e39\n"  # 7
        "none nan 1\n"  # 8
        " 1 2\n"  # 9: no word
        "under_score 5 6\n"
        "grouped 1_0 2\n"  # 11
    )
    vectors, problems = read_vec(written(tmp_path, text))
    assert vectors.words == ("good", "under_score")
    assert vectors.matrix.tolist() == [[1, 2], [5, 6]]
    kinds = ["wrong length", "not a number", "duplicate word", "not finite", "no word"]
    assert [problems.counts[kind] for kind in kinds] == [2, 2, 1, 2, 1]
    lines = [int(sentence.split(":")[1]) for sentence in problems.sentences]
    assert sorted(lines) == [3, 4, 5, 6, 7, 8, 9, 11]
    assert f"{tmp_path}/a.vec:5: " in " ".join(problems.sentences)
    assert problems.notes == [f"{tmp_path}/a.vec: its header promises 9 words, it has 10 lines"]


def test_fields_are_counted_from_the_right(tmp_path: Path) -> None:
    vectors, problems = read_vec(written(tmp_path, "3 2\nice cream 1 2\n10\u00a0000 3 4\na\u3000b 5 6\n"))
    assert vectors.words == ("ice cream", "10\u00a0000", "a\u3000b")
    assert vectors.matrix.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert problems.total == 0


def test_without_a_header(tmp_path: Path) -> None:
    vectors, problems = read_vec(written(tmp_path, b"\xef\xbb\xbfa 1 2\r\nb 3 4\r\n"))
    assert (vectors.words, vectors.matrix.tolist()) == (("a", "b"), [[1, 2], [3, 4]])
    assert "has no header" in problems.notes[0]


def test_carriage_returns_and_bad_bytes_inside_a_line(tmp_path: Path) -> None:
    vectors, problems = read_vec(written(tmp_path, b"4 1\na 1\r2\nb 3\n\xff\xfe 4\nc 5\n"))
    assert (vectors.words, vectors.matrix.tolist()) == (("b", "c"), [[3], [5]])
    assert problems.counts == {"not a number": 1, "not UTF-8": 1}


def test_the_first_so_many_good_words(tmp_path: Path) -> None:
    path = written(tmp_path, "4 1\na 1\nbad x\nb 2\nc 3\nworse y\n")
    vectors, problems = read_vec(path, max_words=2)
    assert vectors.words == ("a", "b")
    assert problems.total == 1  # what comes after was not read
    assert problems.notes == []


def test_a_header_that_lies_allocates_nothing(tmp_path: Path) -> None:
    vectors, problems = read_vec(written(tmp_path, "1000000000000 2\na 1 2\n"))
    assert len(vectors) == 1
    assert "promises 1,000,000,000,000 words, it has 1 lines" in problems.notes[0]


MISTAKES = {
    b"": "holds no word vectors",
    b"3 2\n": "holds no word vectors",
    b"5 1000000000\na 1\n": "1,000,000,000 numbers to a word",
    b"hello\nworld\n": "0 numbers to a word",
    b"2 3\na 1 2\nb 1 2\n": "a.vec:2: 2 numbers instead of 3",
    b"1 2\n" + b"x" * (LONGEST_LINE + 5): "a.vec:2: a line of more than",
}


@pytest.mark.parametrize("content", MISTAKES, ids=list(range(len(MISTAKES))))
def test_files_that_are_none(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UserError, match=MISTAKES[content]):
        read_vec(written(tmp_path, content))


def test_damaged_gzip_and_missing_files(tmp_path: Path) -> None:
    cut = tmp_path / "cut.vec.gz"
    cut.write_bytes(gzip.compress(b"1 2\na 1 2\n" * 50)[:-9])
    (tmp_path / "plain.vec.gz").write_bytes(b"1 2\na 1 2\n")
    for name, sentence in {"cut.vec.gz": "damaged", "plain.vec.gz": "damaged", "none.vec": "no such file"}.items():
        with pytest.raises(UserError, match=sentence):
            read_vec(tmp_path / name)
    with pytest.raises(UserError, match="is a folder"):
        read_vec(tmp_path)


def test_a_million_bad_lines_make_no_million_sentences(tmp_path: Path) -> None:
    path = written(tmp_path, "1 1\na 1\n" + "b\n" * (MOST_SENTENCES + 10))
    problems = read_vec(path)[1]
    assert (len(problems.sentences), problems.total) == (MOST_SENTENCES, MOST_SENTENCES + 10)


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \n\r"), min_size=1, max_size=5)


numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)
tables = st.dictionaries(words, st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=8)


@given(tables, st.booleans())
def test_written_and_read_again(
    tmp_path_factory: pytest.TempPathFactory, table: dict[str, list[float]], packed: bool
) -> None:
    matrix = np.array(list(table.values()), dtype=np.float32)
    path = tmp_path_factory.mktemp("vec") / ("a.vec.gz" if packed else "a.vec")
    write_vec(path, WordVectors(tuple(table), matrix), digits=9)
    vectors, problems = read_vec(path)
    assert vectors.words == tuple(table)
    assert np.array_equal(vectors.matrix, matrix)
    assert problems.total == 0


odd = [b"1", b"-2.5", b"nan", b"x", b"", b"1e9", b"\r", b"\xc3", b"3 2", b"\t"]
fields = st.one_of(st.sampled_from(odd), st.binary(max_size=3))


@given(st.lists(st.lists(fields, max_size=5), max_size=8))
@example([[b"-2.5", b"\x00"], [b"-2.5", b"3 2"]])
@example([[b"1"], [b"1", b"3 2"]])
@example([[b"a", b"1", b"2", b"\r"]])
def test_any_bytes_are_read_or_refused_and_every_line_is_accounted_for(
    tmp_path_factory: pytest.TempPathFactory, table: list[list[bytes]]
) -> None:
    body = b"\n".join(b" ".join(line) for line in table)
    path = tmp_path_factory.mktemp("vec") / "a.vec"
    path.write_bytes(b"7 2\nsure 1 2\n" + body)
    vectors, problems = read_vec(path)
    assert len(vectors) + problems.total == 1 + len(body.split(b"\n")) - (body == b"" or body.endswith(b"\n"))
    assert np.isfinite(vectors.matrix).all()
    # The slow twin: the last two fields of a line are its numbers. A line with fewer, or with something else there, may
    # begin with the same word, so that a word can have several lines: its vector is in one of them.
    candidates: dict[bytes, list[list[bytes]]] = {}
    for line in path.read_bytes().split(b"\n")[1:]:
        word, *rest = line.rstrip(b"\r").rstrip(b" ").rsplit(b" ", 2)
        if len(rest) == 2:
            candidates.setdefault(word, []).append(rest)
    for word, row in zip(vectors.words, vectors.matrix, strict=True):
        assert row.tolist() in [as_numbers(rest) for rest in candidates[word.encode()]]


def as_numbers(fields: list[bytes]) -> list[float] | None:
    try:
        return [float(np.float32(float(field))) for field in fields]
    except ValueError:
        return None


def test_a_word_that_no_text_file_can_hold(tmp_path: Path) -> None:
    path = written(tmp_path, "as it was")
    with pytest.raises(UserError, match=r"cannot stand in a \.vec file"):
        write_vec(path, WordVectors(("ice cream",), np.ones((1, 2), dtype=np.float32)))
    assert path.read_text() == "as it was"
