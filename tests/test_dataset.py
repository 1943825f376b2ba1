"""A corpus and its features stay matched row by row, whatever is cut away."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from conftest import make_world
from groundling.corpus import Corpus, storage
from groundling.dataset import Dataset, load_corpus
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


def test_pictures_that_cannot_be_read_leave_corpus_and_features(tmp_path: Path, own_cache: Path) -> None:
    """A file that was lost after the corpus was built takes its captions with it; the rest stays matched."""
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


# --- captions from other corpora, as settings ask for them


@pytest.fixture
def two_corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One caption per picture in en, de and fr under `translations`, three in en and de under `written`."""
    monkeypatch.chdir(tmp_path)
    names = [f"p{number}" for number in range(40)]
    splits = np.array(["train"] * 30 + ["dev"] * 4 + ["test"] * 6)
    orders = {"translations": np.arange(40), "written": np.random.default_rng(1).permutation(40)}
    for name, (count, languages) in {"translations": (1, ("en", "de", "fr")), "written": (3, ("en", "de"))}.items():
        rows = [(at, code, n) for at in range(40) for code in languages for n in range(count)]
        order = orders[name]
        corpus = Corpus(
            name=name,
            pictures=np.array(names)[order],
            splits=splits[order],
            owners=np.array([at for at, _, _ in rows]),
            languages=np.array([code for _, code, _ in rows]),
            texts=[f"{name} {names[order[at]]} {code} {n}" for at, code, n in rows],
            origins=np.array(["human"] * len(rows)),
        )
        storage.save(corpus, tmp_path / name)
    np.save(tmp_path / "features.npy", np.repeat(np.arange(40, dtype=np.float32)[:, None], 2, axis=1))
    (tmp_path / "names.txt").write_text("".join(f"{name}\n" for name in names))
    return tmp_path


FEATURES = FeatureSettings(array="features.npy", names="names.txt")


def beginnings(corpus: Corpus, language: str) -> set[str]:
    return {text.split()[0] for text, code in zip(corpus.texts, corpus.languages, strict=True) if code == language}


@pytest.mark.usefixtures("two_corpora")
@pytest.mark.parametrize(
    ("settings", "train", "test"),
    [
        ({}, {"en": "translations", "de": "translations", "fr": "translations"}, {"en": "translations"}),
        ({"test_on": "written"}, {"en": "translations", "fr": "translations"}, {"en": "written", "fr": "translations"}),
        ({"captions_from": {"en": "written"}}, {"en": "written", "de": "translations"}, {"en": "written"}),
        ({"captions_from": {"de": ["written"]}, "test_on": "translations"}, {"de": "written"}, {"de": "translations"}),
        ({"captions_from": {"en": ["translations", "written"]}}, {"en": "translations written"}, {}),
    ],
)
def test_captions_come_from_the_corpora_that_settings_name(
    settings: dict[str, Any], train: dict[str, str], test: dict[str, str]
) -> None:
    corpus = load_corpus(CorpusSettings(name="translations", **settings))
    for split, wanted in (("train", train), ("test", test)):
        found = {code: " ".join(sorted(beginnings(corpus.split(split), code))) for code in wanted}
        assert found == wanted


@pytest.mark.usefixtures("two_corpora")
def test_every_corpus_is_read_once_and_an_unknown_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from groundling.corpus import catalogue

    load, names = catalogue.load, []

    def remember(name: str, **options: Any) -> Corpus:
        names.append(name)
        return load(name, **options)

    monkeypatch.setattr(catalogue, "load", remember)
    captions = {"en": ["translations", "written"], "de": "written"}
    load_corpus(CorpusSettings(name="translations", captions_from=captions, test_on="written"))
    assert names == ["translations", "written"]
    with pytest.raises(UserError, match='named "writen"'):
        load_corpus(CorpusSettings(name="translations", test_on="writen"))


@pytest.mark.usefixtures("two_corpora")
def test_one_caption_is_the_same_one_wherever_it_is_drawn() -> None:
    """Bi-comparable, Multi-comparable and the written corpus itself, under one seed of drawing."""
    comparable = {"captions_from": {"en": "written", "de": "written"}, "test_on": "translations"}
    drawn: list[set[str]] = []
    for settings in (
        {"name": "written"},
        {"name": "translations", **comparable},
        {"name": "translations", **comparable, "languages": ["en", "de"]},
        {"name": "translations", **comparable, "languages": ["de", "fr", "en"]},
    ):
        chosen = CorpusSettings(**settings, one_caption=True, draw=4)  # type: ignore[arg-type]
        dataset = Dataset.load(chosen, FEATURES).split("train")
        assert [f"p{int(row[0])}" for row in dataset.features] == dataset.corpus.pictures.tolist()
        drawn.append({text for text in dataset.corpus.texts if " fr " not in text})
    assert len(drawn[0]) == 60
    assert drawn[1:] == [drawn[0]] * 3
    other = Dataset.load(CorpusSettings(name="written", one_caption=True, draw=5), FEATURES).split("train")
    assert set(other.corpus.texts) != drawn[0]


@pytest.mark.usefixtures("two_corpora")
@pytest.mark.parametrize("settings", [{"train_on": "half"}, {"train_on": "disjoint"}])
def test_overlap_of_pictures_between_languages_is_all_or_nothing(settings: dict[str, Any]) -> None:
    whole = CorpusSettings(name="written", languages=["en", "de"], **settings)
    train = Dataset.load(whole, FEATURES).split("train").corpus
    english, german = (set(train.owners[train.languages == code].tolist()) for code in ("en", "de"))
    both, either = len(english & german), len(english | german)
    assert both / either == (1 if settings["train_on"] == "half" else 0)
    assert (len(train), either) == (90, 15 if settings["train_on"] == "half" else 30)  # as many captions either way
