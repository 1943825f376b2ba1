from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from groundling.encoders.tokenisers.ngrams import NgramTokeniser
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.settings import TextSettings
from groundling.text import Vocabulary
from groundling.text.vocabulary import END, START, UNKNOWN


def test_a_word_must_be_frequent_in_one_language() -> None:
    captions = [("en", ["hand", "hand"]), ("de", ["hand", "rot", "rot", "rot"])]
    assert Vocabulary.build(captions, 2).words == ("hand", "rot")
    assert Vocabulary.build(captions, 3).words == ("rot",)  # hand: 2 in English, 1 in German, never 3 in one


@given(st.lists(st.tuples(st.sampled_from("ab"), st.lists(st.sampled_from("uvwxyz")))), st.integers(1, 4))
def test_vocabulary_is_the_union_of_the_frequent(captions: list[tuple[str, list[str]]], minimum: int) -> None:
    kept = set()
    for language in "ab":
        counts = Counter(word for code, line in captions if code == language for word in line)
        kept |= {word for word in counts if counts[word] >= minimum}
    assert set(Vocabulary.build(captions, minimum).words) == kept


def test_captions_are_framed_padded_and_cut() -> None:
    tokeniser = WordTokeniser.build(
        ["red dog red dog", "blue"], ["en", "en"], TextSettings(minimum_count=2, maximum_length=3)
    )
    tokens = tokeniser.encode(["Red dog red dog", "blue", ""], ["en"] * 3)
    dog, red = tokeniser.vocabulary.row("dog"), tokeniser.vocabulary.row("red")
    assert tokens.ids.tolist() == [[START, red, dog, red, END], [START, UNKNOWN, END, 0, 0], [START, END, 0, 0, 0]]
    assert tokens.lengths.tolist() == [5, 3, 2]


@given(st.lists(st.text(max_size=12), min_size=1, max_size=6))
def test_tokenisers_survive_saving(texts: list[str]) -> None:
    codes = ["en"] * len(texts)
    settings = TextSettings(minimum_count=1)
    for tokeniser, load in (
        (WordTokeniser.build(texts, codes, settings), WordTokeniser.from_json),
        (NgramTokeniser.build(texts, codes, settings, buckets=50), NgramTokeniser.from_json),
    ):
        again = load(tokeniser.to_json())
        before, after = tokeniser.encode(texts, codes), again.encode(texts, codes)
        assert before.ids.tolist() == after.ids.tolist()
        assert before.ids.max() < tokeniser.size == again.size
        assert (before.lengths >= 1).all()


def test_ngrams_share_pieces_between_forms_of_a_word() -> None:
    tokeniser = NgramTokeniser.build(["dog"], ["en"], TextSettings(minimum_count=1), buckets=1000)
    dog, dogs, cat = (set(tokeniser.encode([text], ["en"]).ids[0].tolist()) - {0} for text in ("dog", "dogs", "cat"))
    assert len(dog & dogs) >= 2
    assert not dog & cat
    assert tokeniser.vocabulary.row("dog") in dog
