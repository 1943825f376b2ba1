import numpy as np
import pytest

from groundling.corpus import Corpus
from groundling.corpus.info import CorpusInfo
from groundling.text.overlap import overlap


def make(captions: list[tuple[str, str]], **info: str) -> Corpus:
    return Corpus(
        name="made",
        pictures=np.array(["a", "b"]),
        splits=np.array(["train", "test"]),
        owners=np.array([0] * len(captions) + [1]),
        languages=np.array([code for code, _ in captions] + ["en"]),
        texts=[*(text for _, text in captions), "unseen unseen unseen"],
        origins=np.array(["human"] * (len(captions) + 1)),
        info=CorpusInfo.from_json(info),
    )


def test_by_hand_from_training_captions_only() -> None:
    corpus = make([("en", "Hand in hand in sand"), ("de", "Hand in Hand"), ("de", "in Sand")])
    found = overlap(corpus, minimum_count=2)
    assert found.words == {"en": 2, "de": 2}  # hand and in, twice each; sand and "unseen" are not
    assert (found.sum, found.union) == (4, 2)
    assert found.jaccard == {"de-en": 1.0}
    once = overlap(corpus, minimum_count=1)
    assert once.words == {"en": 3, "de": 3}
    with_more = overlap(make([("en", "a b c"), ("de", "b c d e")]), minimum_count=1)
    assert with_more.jaccard["de-en"] == pytest.approx(2 / 5)


def test_tokenised_text_is_split_at_spaces() -> None:
    captions = [("en", "a man 's hat .")]
    assert overlap(make(captions, segmentation="whitespace"), 1).words["en"] == 5
    assert overlap(make(captions), 1).words["en"] == 4


def test_a_language_without_frequent_words_shares_nothing() -> None:
    assert overlap(make([("en", "a"), ("de", "b")]), minimum_count=9).jaccard == {"de-en": 0.0}
