"""Folds by hand, against ranking each part as if it were all there is, and what cannot be folded."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.compare import compare
from groundling.evaluation.examples import examples
from groundling.evaluation.folds import fold_ranks, fold_recalls
from groundling.evaluation.ranks import ranks
from groundling.evaluation.recalls import recalls
from groundling.evaluation.retrieval import RankedSplit, evaluate_retrieval
from groundling.evaluation.vectors import evaluate_vectors
from groundling.files import write_json
from groundling.run import Run
from groundling.settings import EvaluationSettings

# Pictures 0, 1 and pictures 2, 3 are the same two vectors: ties among all four, none within a fold.
PICTURES = np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
CAPTIONS = np.array([[0, 1], [1, 0], [1, 0], [0, 1], [1, 0]])
OWNERS = np.array([3, 2, 0, 1, 1])  # in any order; the last caption fits the wrong picture


def test_each_part_is_ranked_by_itself_by_hand() -> None:
    found = fold_ranks(PICTURES, CAPTIONS, OWNERS, 2)
    assert found.text_to_image.tolist() == [1, 1, 1, 1, 2]
    assert found.image_to_text.tolist() == [2, 1, 1, 1]  # picture 0 scores 1 with its caption, and with the last one
    result = fold_recalls(found, OWNERS, 2)
    assert result.text_to_image["R@1"] == pytest.approx((100 * 2 / 3 + 100) / 2)  # not 4 of 5: folds count alike
    assert result.text_to_image["mean"] == pytest.approx((4 / 3 + 1) / 2)
    assert result.image_to_text["R@1"] == pytest.approx((50 + 100) / 2)
    assert result.image_to_text["median"] == pytest.approx((1.5 + 1) / 2)
    assert result.value("rsum") == pytest.approx(400 + 100 * 5 / 6 + 75)
    assert result.value("mR") == pytest.approx(result.value("rsum") / 6)
    assert (result.pictures, result.captions) == (4, 5)


def test_one_fold_is_no_fold() -> None:
    together = ranks(PICTURES, CAPTIONS, OWNERS)
    found = fold_ranks(PICTURES, CAPTIONS, OWNERS, 1)
    assert found.text_to_image.tolist() == together.text_to_image.tolist() == [2, 2, 2, 2, 4]
    assert fold_recalls(found, OWNERS, 1) == recalls(together)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_folds_are_corpora_of_their_own(folds: int, size: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    pictures, captions = draw.integers(-2, 3, (folds * size, 3)), draw.integers(-2, 3, (folds * 3, 3))
    owners = draw.permutation(np.concatenate([draw.integers(f * size, (f + 1) * size, 3) for f in range(folds)]))
    found = fold_ranks(pictures, captions, owners, folds)
    each = []
    for fold in range(folds):
        mine = np.flatnonzero(owners // size == fold)
        alone = ranks(pictures[fold * size : (fold + 1) * size], captions[mine], owners[mine] - fold * size)
        assert found.text_to_image[mine].tolist() == alone.text_to_image.tolist()
        assert found.image_to_text[fold * size : (fold + 1) * size].tolist() == alone.image_to_text.tolist()
        each.append(recalls(alone))
    result = fold_recalls(found, owners, folds)
    assert result.value("rsum") == pytest.approx(np.mean([one.value("rsum") for one in each]))
    assert result.text_to_image["median"] == pytest.approx(np.mean([x.text_to_image["median"] for x in each]))


@pytest.mark.parametrize(
    ("pictures", "owners", "folds", "words"),
    [
        (5, [0, 1], 2, "pictures: 5 pictures cannot be divided into 2 equal folds"),
        (4, [0, 1], 8, "pictures: 4 pictures cannot be divided into 8 equal folds"),
        (4, [0, 1], 2, "pictures: rows 2 to 3 of the pictures, fold 2 of 2, are without a single caption"),
        (4, [0, 4], 2, "owners: row 1 is 4, but pictures has 4 pictures, rows 0 to 3"),
    ],
)
def test_folds_that_cannot_be(pictures: int, owners: list[int], folds: int, words: str) -> None:
    with pytest.raises(UserError) as raised:
        fold_ranks(np.eye(pictures), np.eye(pictures)[:2], np.array(owners), folds)
    assert str(raised.value) == words


def test_a_broken_row_has_its_number_in_the_whole_array() -> None:
    broken = np.eye(4)
    broken[3, 1] = np.nan
    with pytest.raises(UserError, match="pictures: row 3 holds a number that is not finite"):
        fold_ranks(broken, np.eye(4), np.arange(4), 2)
    with pytest.raises(UserError, match="captions: row 3 holds a number that is not finite"):
        fold_ranks(np.eye(4), broken, np.array([3, 2, 1, 0]), 2)


def test_vectors_in_files(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("P.npy", "C.npy", "O.npy")]
    for path, array in zip(paths, (PICTURES, CAPTIONS, OWNERS.astype(np.uint8)), strict=True):
        np.save(path, array)
    expected = fold_recalls(fold_ranks(PICTURES, CAPTIONS, OWNERS, 2), OWNERS, 2)
    assert evaluate_vectors(*paths, folds=2) == expected
    with pytest.raises(UserError, match=r"P\.npy: 4 pictures cannot be divided into 3 equal folds"):
        evaluate_vectors(*paths, folds=3)


# --- models


class Sees:
    """A model whose picture vectors are the features, and whose captions are numbers: "2" is the third direction."""

    def __init__(self, folds: int) -> None:
        self.evaluation, self.similarity = EvaluationSettings(folds=folds), "cosine"

    def encode_features(self, features: np.ndarray) -> np.ndarray:
        return features

    def encode_text(self, texts: list[str], languages: list[str]) -> np.ndarray:
        return np.eye(4, dtype=np.float32)[[int(text) for text in texts]]


def photos(german: tuple[int, ...] = (0, 3), root: Path | None = None) -> Dataset:
    """Four test pictures, of which 0 and 2 look the same; English captions of all, German ones of some."""
    owners = [0, 1, 2, 3, *german]
    corpus = Corpus(
        name="photos",
        pictures=np.array(["p0", "p1", "p2", "p3"]),
        splits=np.array(["test"] * 4),
        owners=np.array(owners),
        languages=np.array(["en"] * 4 + ["de"] * len(german)),
        texts=[["0", "1", "0", "3"][owner] for owner in owners],
        origins=np.array(["human"] * len(owners)),
        root=root,
    )
    return Dataset(corpus, np.eye(4, dtype=np.float32)[[0, 1, 0, 3]])


def evaluate(model: object, *arguments: object, **options: object) -> RankedSplit:
    return evaluate_retrieval(model, *arguments, **options)  # type: ignore[arg-type]


def test_a_model_s_folds_by_hand() -> None:
    together, folded = evaluate(Sees(1), photos()), evaluate(Sees(2), photos())
    assert together.by_language["en"].text_to_image.tolist() == [2, 1, 2, 1]  # the twins tie
    assert "folds" not in together.result.to_json()
    assert folded.by_language["en"].text_to_image.tolist() == [1, 1, 1, 1]
    assert folded.by_language["de"].image_to_text.tolist() == [1, 0, 0, 1]
    result = folded.result
    assert (result.folds, result.pictures, result.captions) == (2, 4, 6)
    assert result.chance["R@1"] == 50  # one of the two pictures of a fold
    assert result.languages["en"].text_to_image["R@1"] == 100
    assert result.languages["de"].captions == 2
    assert evaluate(Sees(2), photos(), folds=1).result == together.result
    assert evaluate(Sees(1), photos(), folds=2).result == result


def test_what_cannot_be_folded_is_said_before_anything_is_encoded() -> None:
    with pytest.raises(UserError) as raised:
        evaluate_retrieval(None, photos(german=(0, 1)), captions="all", folds=2)  # type: ignore[arg-type]
    assert str(raised.value) == (
        "corpus photos, test: rows 2 to 3 of the pictures, fold 2 of 2, are without a single caption in de"
    )
    with pytest.raises(UserError, match="corpus photos, test: 4 pictures cannot be divided into 3 equal folds"):
        evaluate_retrieval(None, photos(), captions="all", folds=3)  # type: ignore[arg-type]


def test_examples_show_the_fold_that_was_ranked(tmp_path: Path) -> None:
    sheet = examples(evaluate(Sees(2), photos(root=tmp_path)), queries=12, annotated=4)
    for entry in sheet[:12]:
        names = {hit.picture.name for hit in entry.hits}
        assert names in ({"p0", "p1"}, {"p2", "p3"})
        assert entry.answer.name in names
        assert [hit.correct for hit in entry.hits] == [True, False]
        assert entry.rank == 1
    for entry in sheet[12:]:
        expected = {"p0": 3, "p1": 3, "p2": 3, "p3": 3}[entry.picture.name]  # two in English and one in German
        assert len(entry.captions) == expected


def test_ranks_in_folds_are_compared_only_with_their_like(tmp_path: Path) -> None:
    for name, folds in (("one", 1), ("two", 2), ("also-two", 2)):
        evaluate(Sees(folds), photos()).save(Run(tmp_path / name))
        write_json(tmp_path / name / "evaluation.json", {})
    one, two, also_two = (Run(tmp_path / name) for name in ("one", "two", "also-two"))
    compared = compare(two, also_two, samples=20)
    assert set(compared.languages) == {"en", "de"}
    assert compared.languages["en"]["text_to_image"].difference == 0
    with pytest.raises(UserError, match=r"two was ranked in 2 fold\(s\) and .*one in 1; evaluate both alike"):
        compare(two, one)
