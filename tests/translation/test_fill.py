"""Machine-translated captions: how many, from which captions, in which splits, and how they are marked."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.corpus import Corpus
from groundling.corpus.entailment import Entailments
from groundling.corpus.info import CorpusInfo, Translated
from groundling.errors import UserError
from groundling.translation import by_name
from groundling.translation.fill import fill, fill_statements
from groundling.translation.parallel import ParallelCaptions, translation_rows
from groundling.translation.translation_table import Table, write

Caption = tuple[int, str, str, str]  # picture, language, text, origin


def corpus_of(captions: Sequence[Caption], splits: Sequence[str], **info: object) -> Corpus:
    return Corpus(
        name="tiny",
        pictures=np.array([f"p{number}" for number in range(len(splits))]),
        splits=np.array(splits),
        owners=np.array([owner for owner, *_ in captions], dtype=np.int64),
        languages=np.array([code for _, code, _, _ in captions]),
        texts=[text for _, _, text, _ in captions],
        origins=np.array([origin for *_, origin in captions]),
        info=CorpusInfo.from_json(info),
    )


class Loud:
    """Writes in capitals, after the language; knows no text with a question mark; remembers what it was asked."""

    name, origin = "loud", "machine"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []

    def translate(self, texts: Sequence[str], source: str, target: str) -> list[str | None]:
        self.asked += [(text, source, target) for text in texts]
        return [None if "?" in text else f"{target} {text.upper()}" for text in texts]


def captions_in(corpus: Corpus, picture: int, code: str) -> list[tuple[str, str]]:
    rows = np.flatnonzero((corpus.owners == picture) & (corpus.languages == code))
    return [(corpus.texts[row], str(corpus.origins[row])) for row in rows.tolist()]


def test_pictures_are_filled_up_and_people_come_first() -> None:
    corpus = corpus_of(
        [
            *[(0, "en", f"e{number}", "human") for number in range(4)],
            (0, "fr", "f0", "translation"),
            (0, "de", "d0", "human"),
        ],
        ["train"],
    )
    source = Loud()
    filled = fill(corpus, source, ["fr", "de"], at_least=3)
    assert captions_in(filled.corpus, 0, "fr") == [("f0", "translation"), ("fr E0", "machine"), ("fr E1", "machine")]
    assert captions_in(filled.corpus, 0, "de") == [("d0", "human"), ("de E0", "machine"), ("de E1", "machine")]
    assert filled.corpus.texts[: len(corpus)] == corpus.texts
    assert source.asked == [("e0", "en", "fr"), ("e1", "en", "fr"), ("e0", "en", "de"), ("e1", "en", "de")]
    assert (filled.made, filled.short) == ({"fr": 2, "de": 2}, {"fr": 0, "de": 0})
    assert filled.lines[0] == ("en", "fr", "e0", "fr E0")
    assert filled.corpus.info.translated == Translated("loud", captions={"fr": 2, "de": 2})


def test_what_cannot_be_translated_or_is_there_already_gives_way_to_the_next() -> None:
    corpus = corpus_of(
        [
            (0, "en", "what?", "human"),
            (0, "en", "a", "human"),
            (0, "de", "b", "human"),
            (0, "cs", "made", "machine"),
            (0, "fr", "fr  A", "human"),
        ],
        ["train"],
    )
    filled = fill(corpus, Loud(), ["fr"], at_least=3)
    assert captions_in(filled.corpus, 0, "fr") == [("fr  A", "human"), ("fr B", "machine")]
    assert filled.short == {"fr": 1}  # "made" is a machine's work, and is not translated again


def test_test_captions_are_left_alone_where_people_wrote_them() -> None:
    captions = [(picture, "en", f"e{picture}", "human") for picture in range(3)]
    corpus = corpus_of([*captions, (1, "fr", "f1", "human")], ["train", "test", "test"])
    filled = fill(corpus, Loud(), ["fr", "af"], at_least=1).corpus
    assert [captions_in(filled, picture, "fr") for picture in range(3)] == [
        [("fr E0", "machine")],
        [("f1", "human")],
        [],  # the test split has captions in French: this picture has none there
    ]
    assert [captions_in(filled, picture, "af") for picture in range(3)] == [
        [(f"af E{picture}", "machine")] for picture in range(3)
    ]
    beside = fill(corpus, Loud(), ["fr"], at_least=1, test_too=True).corpus
    assert captions_in(beside, 1, "fr") == [("f1", "human"), ("fr E1", "machine")]


def test_the_languages_to_translate_from_can_be_chosen() -> None:
    corpus = corpus_of([(0, "en", "e", "human"), (0, "de", "d", "human")], ["train"])
    assert captions_in(fill(corpus, Loud(), ["fr"], 1, ["de"]).corpus, 0, "fr") == [("fr D", "machine")]
    assert captions_in(fill(corpus, Loud(), ["en"], 2).corpus, 0, "en") == [("e", "human"), ("en D", "machine")]
    with pytest.raises(UserError, match=r'tiny has no captions in "dd" \(there is: de, en\)'):
        fill(corpus, Loud(), ["fr"], 1, ["dd"])
    with pytest.raises(UserError, match="translates none of the captions"):
        fill(corpus, Table.of("empty", []), ["fr"])


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["en", "de", "fr"]), st.integers(0, 9)), min_size=1),
    st.integers(1, 6),
)
def test_every_training_picture_gets_enough_or_all_there_is(drawn: list[tuple[int, str, int]], enough: int) -> None:
    corpus = corpus_of([(p, code, f"{code}{n}", "human") for p, code, n in drawn], ["train"] * 4)
    filled = fill(corpus, Loud(), ["fr", "cs"], at_least=enough).corpus
    for picture in range(4):
        for code in ("fr", "cs"):
            before, after = captions_in(corpus, picture, code), captions_in(filled, picture, code)
            assert after[: len(before)] == before
            others = {text for p, other, n in drawn for text in [f"{other}{n}"] if p == picture and other != code}
            wanted = min(max(enough, len(before)), len(before) + len(others))
            assert len(after) == wanted
            new = [text for text, _ in after[len(before) :]]
            assert len(set(new)) == len(new)


def test_statements_are_translated_with_their_labels() -> None:
    statements = Entailments(
        owners=np.array([0, 0, 0, 1]),
        languages=np.array(["en", "de", "en", "de"]),
        texts=["a dog", "ein Hund", "a cat?", "eine Kuh"],
        labels=np.array(["entailment", "entailment", "contradiction", "neutral"]),
        ids=np.array(["s1", "s1", "s2", "s3"]),
    )
    corpus = replace(corpus_of([], ["train", "test"]), statements=statements)
    source = Loud()
    filled = fill_statements(corpus, source, ["de", "nl"])
    assert source.asked == [
        ("a cat?", "en", "de"),
        ("a dog", "en", "nl"),
        ("a cat?", "en", "nl"),
        ("eine Kuh", "de", "nl"),
    ]
    assert (filled.made, filled.short) == ({"de": 0, "nl": 2}, {"de": 1, "nl": 1})
    found = filled.corpus.statements
    assert found.texts[4:] == ["nl A DOG", "nl EINE KUH"]
    assert found.ids[4:].tolist() == ["s1", "s3"]
    assert found.labels[4:].tolist() == ["entailment", "neutral"]
    assert found.owners[4:].tolist() == [0, 1]
    assert filled.corpus.name == "tiny-translated"
    assert filled.lines == [("en", "nl", "a dog", "nl A DOG"), ("de", "nl", "eine Kuh", "nl EINE KUH")]
    with pytest.raises(UserError, match='no statements in "fr"'):
        fill_statements(corpus, source, ["nl"], ["fr"])
    with pytest.raises(UserError, match="has no statements to translate"):
        fill_statements(corpus_of([], ["train"]), source, ["nl"])


def test_which_captions_are_translations_of_each_other() -> None:
    """Multi30K task 1; F8K-7, where only fr and cs are one each; and five people who saw one photo."""
    captions: list[Caption] = [(0, "en", "e", "human"), (0, "de", "d", "translation"), (0, "fr", "f", "translation")]
    captions += [(1, "en", f"e{k}", "human") for k in range(2)] + [(1, "ar", f"a{k}", "translation") for k in range(2)]
    captions += [(1, "fr", "f1", "translation"), (1, "de", "d1", "human"), (2, "en", "x", "human")]
    captions += [(2, "de", "y", "human")]
    corpus = corpus_of(captions, ["train"] * 3)
    rows = translation_rows(corpus, ["de", "en", "fr"])
    assert rows[:3].tolist() == [[1, 0, 2]] * 3
    assert rows[3].tolist() == [-1, 3, -1]
    assert rows[5].tolist() == [-1, -1, -1]
    assert rows[7].tolist() == [8, -1, 7]
    assert rows[9:].tolist() == [[-1, 9, -1], [10, -1, -1]]
    kth = translation_rows(corpus, ["de", "en", "fr"], comparable=True)
    assert kth[3].tolist() == [8, 3, 7]
    assert kth[4].tolist() == [-1, 4, -1]
    vouched = corpus_of(captions, ["train"] * 3, parallel="first")
    assert translation_rows(vouched, ["de", "en"])[10].tolist() == [10, 9]
    assert ParallelCaptions(corpus).translate(["d", "y", "f1"], "de", "fr") == ["f", None, None]
    assert ParallelCaptions(corpus).origin == "translation"


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    write(path, [("en", "fr", "a  dog\tand a cat", "un chien"), ("en", "fr", "a dog and a cat", "deux")])
    table = by_name(str(path))
    assert table.translate(["a dog and  a cat", "no"], "en", "fr") == ["un chien", None]
    assert table.translate(["a dog and a cat"], "fr", "en") == [None]
    path.write_text("EN\tfr\tsun\tsoleil\r\n", encoding="utf-8")
    assert by_name(str(path)).translate(["sun"], "en", "fr") == ["soleil"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("en\tfr\tdog\n", r"t.tsv:1: 3 columns, where source, target, text, translation"),
        ("en\tfr\tdog\tchien\nen\tfr\t \tx\n", "t.tsv:2: the text is empty"),
        ("english language\tfr\tdog\tchien\n", "t.tsv:1: language"),
        ("", "holds no translation"),
    ],
)
def test_a_bad_table_is_named_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "t.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=words):
        by_name(str(tmp_path / "t.tsv"))


def test_unknown_sources_are_the_user_s_to_mend() -> None:
    with pytest.raises(UserError, match="no such file or folder"):
        by_name("missing.tsv")
    with pytest.raises(UserError, match='"google" is no source of translations: give a table'):
        by_name("google")


def test_a_machine_s_captions_are_never_passed_on_as_people_s() -> None:
    captions = [(0, "en", "a dog", "human"), (0, "fr", "un chien", "machine"), (1, "en", "a dog", "human")]
    source = ParallelCaptions(corpus_of(captions, ["train", "train"]))
    assert source.origin == "machine"
    filled = fill(corpus_of(captions[2:], ["train", "train"]), source, ["fr"], at_least=1).corpus
    assert captions_in(filled, 1, "fr") == [("un chien", "machine")]
