"""A corpus and its features stay matched row by row, whatever is cut away."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from conftest import make_world
from groundling.corpus import Corpus, storage
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.settings import CorpusSettings, FeatureSettings


def numbered() -> Dataset:
    """Picture i has the feature vector (i, i); splits alternate."""
    corpus = Corpus(
        name="numbers",
        pictures=np.array(["p0", "p1", "p2", "p3", "p4"]),
        splits=np.array(["test", "train", "dev", "test", "train"]),
        owners=np.array([0, 3, 1, 4, 0]),
        languages=np.array(["en", "en", "en", "de", "de"]),
        texts=["zero", "three", "one", "vier", "null"],
        origins=np.array(["human"] * 5),
    )
    return Dataset(corpus, np.repeat(np.arange(5, dtype=np.float32)[:, None], 2, axis=1))


def test_a_split_has_its_pictures_features_and_captions() -> None:
    part = numbered().split("test")
    assert part.corpus.pictures.tolist() == ["p0", "p3"]
    assert part.features.tolist() == [[0, 0], [3, 3]]
    described = [
        (text, part.features[owner, 0]) for text, owner in zip(part.corpus.texts, part.corpus.owners, strict=True)
    ]
    assert described == [("zero", 0), ("three", 3), ("null", 0)]


def test_only_some_languages_keeps_every_picture_in_the_gallery() -> None:
    part = numbered().only(["de"])
    assert part.corpus.texts == ["vier", "null"]
    assert part.corpus.pictures.tolist() == ["p0", "p1", "p2", "p3", "p4"]
    assert len(part.features) == 5


def test_an_unknown_language_is_named_with_those_there_are() -> None:
    with pytest.raises(UserError) as error:
        numbered().only(["en", "fr"])
    assert str(error.value) == 'corpus numbers has no captions in "fr" (there is: de, en)'


def test_loaded_features_are_matched_by_the_name_of_the_picture(tmp_path: Path) -> None:
    world = make_world(pictures=60)
    storage.save(world.corpus, tmp_path / "corpus")
    order = np.random.default_rng(0).permutation(60)
    np.save(tmp_path / "features.npy", world.features[order])
    names = "".join(f"{name}\n" for name in world.corpus.pictures[order])
    (tmp_path / "names.txt").write_text(names)
    features = FeatureSettings(array=str(tmp_path / "features.npy"), names=str(tmp_path / "names.txt"))
    loaded = Dataset.load(CorpusSettings(name=str(tmp_path / "corpus")), features)
    assert np.array_equal(loaded.features, world.features)
    assert loaded.corpus.texts == world.corpus.texts
    german = Dataset.load(CorpusSettings(name=str(tmp_path / "corpus"), languages=["de"]), features)
    assert german.corpus.all_languages() == ["de"]
    with pytest.raises(UserError, match='no captions in "dee"'):
        Dataset.load(CorpusSettings(name=str(tmp_path / "corpus"), languages=["dee"]), features)


def test_pictures_that_cannot_be_read_leave_corpus_and_features(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was lost after the corpus was built takes its captions with it; the rest stays matched."""
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))
    corpus = replace(numbered().corpus, root=tmp_path)
    for number, name in enumerate(corpus.pictures):
        Image.new("RGB", (40, 40), (50 * number, 255 - 50 * number, 90)).save(tmp_path / name, "png")
    storage.save(corpus, tmp_path / "corpus")
    settings = CorpusSettings(name=str(tmp_path / "corpus")), FeatureSettings(size=32)
    whole = Dataset.load(*settings)
    (tmp_path / "p1").write_bytes((tmp_path / "p1").read_bytes()[:50])
    (tmp_path / "p3").unlink()
    left = Dataset.load(*settings)
    assert left.corpus.pictures.tolist() == ["p0", "p2", "p4"]
    assert left.corpus.texts == ["zero", "vier", "null"]
    assert left.corpus.pictures[left.corpus.owners].tolist() == ["p0", "p4", "p0"]
    assert np.allclose(left.features, whole.features[[0, 2, 4]], atol=1e-5)
    assert np.abs(whole.features[0] - whole.features[2]).max() > 1e-3  # or the line above could not fail


@pytest.mark.parametrize(
    ("settings", "pictures", "captions"),
    [
        ({}, 100, {"en": 200, "de": 200}),
        ({"languages": ["de"]}, 100, {"de": 200}),
        ({"one_caption": True}, 100, {"en": 100, "de": 100}),
        ({"train_on": "half"}, 50, {"en": 100, "de": 100}),
        ({"train_on": "half", "one_caption": True}, 50, {"en": 50, "de": 50}),
        ({"train_on": "disjoint"}, 100, {"en": 100, "de": 100}),
        ({"train_on": "disjoint", "one_caption": True, "draw": 3}, 100, {"en": 50, "de": 50}),
    ],
)
def test_conditions_change_the_training_split_and_keep_features_beside_their_pictures(
    settings: dict[str, Any], pictures: int, captions: dict[str, int]
) -> None:
    whole = make_world()
    part = whole.under(CorpusSettings(name="world", **settings))
    assert part.corpus.counts()["train"] == {"pictures": pictures, **captions}
    for split in ("dev", "test"):
        languages = settings.get("languages", ["en", "de"])
        assert part.corpus.counts()[split] == {"pictures": 25, **dict.fromkeys(languages, 50)}
    rows = {name: row for row, name in enumerate(whole.corpus.pictures.tolist())}
    expected = whole.features[[rows[name] for name in part.corpus.pictures.tolist()]]
    assert np.array_equal(part.features, expected)
