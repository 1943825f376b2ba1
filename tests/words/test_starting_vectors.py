"""The table that training begins with: rows in their places, from files or from captions."""

from pathlib import Path

import numpy as np
import pytest

from groundling.dataset import Dataset
from groundling.encoders.tokenisers.own_vocabulary import OwnVocabulary
from groundling.errors import UserError
from groundling.settings import TextSettings
from groundling.words import WordVectors, storage
from groundling.words.starting_vectors import StartingVectors, look_up, reduced, whitened

VOCABULARIES = {"de": ("hund", "katze"), "en": ("dog", "cat", "fish")}


def write(folder: Path, language: str, words: list[str], size: int = 3) -> None:
    matrix = np.random.default_rng(len(words)).standard_normal((len(words), size)).astype(np.float32)
    storage.write(folder / f"{language}.safetensors", WordVectors(tuple(words), matrix))


def test_rows_of_files_stand_in_their_places(tmp_path: Path, world: Dataset) -> None:
    write(tmp_path, "de", ["katze", "baum", "hund"])
    write(tmp_path, "en", ["fish", "dog", "cat", "tree"])
    table = StartingVectors(str(tmp_path / "{language}.safetensors"), 300).table(world.corpus, VOCABULARIES, "script")
    german, english = (storage.read(tmp_path / f"{code}.safetensors")[0] for code in ("de", "en"))
    expected = [np.zeros(3), np.zeros(3), *(german.vector(word) for word in VOCABULARIES["de"])]
    expected += [np.zeros(3), *(english.vector(word) for word in VOCABULARIES["en"])]
    assert np.array_equal(table, np.stack(expected).astype(np.float32))


def test_words_without_a_vector_begin_spread_as_the_others() -> None:
    vectors = WordVectors(("a", "b"), np.array([[2, -2], [-2, 2]], dtype=np.float32))
    many = [f"new-{number}" for number in range(500)]
    table = look_up(vectors, ["b", *many, "a"])
    assert table[[0, -1]].tolist() == [[-2, 2], [2, -2]]
    assert 1.8 < table[1:-1].std() < 2.2
    assert np.array_equal(table, look_up(vectors, ["b", *many, "a"]))  # a resumed training begins with the same


def test_fewer_dimensions_by_principal_components(tmp_path: Path, world: Dataset) -> None:
    write(tmp_path, "de", ["katze", "hund"])
    write(tmp_path, "en", ["fish", "dog", "cat"])
    source = str(tmp_path / "{language}.safetensors")
    whole = StartingVectors(source, 300).table(world.corpus, VOCABULARIES, "script")
    table = reduced(whole, VOCABULARIES, 2)
    assert table.shape == (8, 2)
    # Two components hold three words' differences in full: distances stay.
    for rows in (slice(2, 4), slice(5, 8)):
        before, after = (part[rows][:, None] - part[rows][None] for part in (whole, table))
        assert np.allclose((before**2).sum(-1), (after**2).sum(-1), atol=1e-4)


def test_mistakes_are_told(tmp_path: Path, world: Dataset) -> None:
    write(tmp_path, "de", ["hund"], size=3)
    write(tmp_path, "en", ["dog"], size=4)
    with pytest.raises(UserError, match="3 and 4 dimensions"):
        StartingVectors(str(tmp_path / "{language}.safetensors"), 300).table(world.corpus, VOCABULARIES, "script")
    with pytest.raises(UserError, match=r"write \{language\} in"):
        StartingVectors(str(tmp_path / "de.safetensors"), 300).table(world.corpus, VOCABULARIES, "script")
    with pytest.raises(UserError, match=r"fr\.vec"):
        StartingVectors(str(tmp_path / "{language}.vec"), 300).table(world.corpus, {"fr": ("chien",)}, "script")


def test_vectors_from_captions_are_the_same_every_time(
    world: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a resumed training is pulled to the same place, on a machine that has forgotten them, too."""
    pytest.importorskip("gensim")
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "one"))
    corpus = world.split("train").corpus
    one = StartingVectors("captions", 6).table(corpus, VOCABULARIES, "script")
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "other"))
    assert one.shape == (8, 6)
    assert (np.abs(one[[2, 3, 5, 6, 7]]).sum(axis=1) > 0).all()
    assert np.array_equal(one, StartingVectors("captions", 6).table(corpus, VOCABULARIES, "script"))


def test_a_file_that_knows_no_word_is_the_wrong_one(tmp_path: Path, world: Dataset) -> None:
    write(tmp_path, "de", ["Hund", "Katze"])
    write(tmp_path, "en", ["dog"])
    source = str(tmp_path / "{language}.safetensors")
    with pytest.raises(UserError, match=r'de\.safetensors: has none of the 2 words of the training captions in "de"'):
        StartingVectors(source, 300).table(world.corpus, VOCABULARIES, "script")


def test_too_many_dimensions_are_named_by_their_setting(tmp_path: Path, world: Dataset) -> None:
    write(tmp_path, "de", ["hund"])
    write(tmp_path, "en", ["dog"])
    source = str(tmp_path / "{language}.safetensors")
    with pytest.raises(UserError, match=r"system\.pca: word vectors of 3 dimensions cannot be reduced to 4"):
        OwnVocabulary(StartingVectors(source, 300), pca=4).tokeniser(world.corpus, TextSettings(minimum_count=1), None)


def test_captions_that_never_repeat_a_word_teach_no_vectors_and_stop_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, world: Dataset
) -> None:
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path))
    one = world.corpus.keep_captions(np.arange(len(world.corpus)) == 0)
    word = one.texts[0].split()[0]
    table = StartingVectors("captions", 5).table(one, {str(one.languages[0]): (word,)}, "script")
    assert table.shape == (3, 5)
    assert np.abs(table[2]).max() > 0


def test_whitened_words_spread_alike_in_all_directions() -> None:
    """Also where words lie in fewer dimensions than there are: what no word has stays at zero."""
    draw = np.random.default_rng(0)
    table = (draw.standard_normal((50, 3)) @ draw.standard_normal((3, 5)) + 4).astype(np.float32)
    found = whitened(table)
    assert np.abs(found.mean(axis=0)).max() < 1e-4
    spread = np.linalg.eigvalsh(np.cov(found.T.astype(np.float64)))
    assert spread[:2] == pytest.approx([0, 0], abs=1e-4)
    assert spread[2:] == pytest.approx([spread[-1]] * 3, rel=1e-3)
    assert np.linalg.norm(found, axis=1).mean() == pytest.approx(np.linalg.norm(table, axis=1).mean(), rel=1e-4)


def test_whitened_components_are_those_of_vectors_that_are_not() -> None:
    """Whitened first, all directions would be alike, and which of them are kept left to rounding."""
    draw = np.random.default_rng(0)
    words = {"de": tuple(map(str, range(60))), "en": tuple(map(str, range(40)))}
    table = (draw.standard_normal((103, 6)) * [20, 5, 1, 1, 1, 1]).astype(np.float32)  # each language after its zeros
    plain = StartingVectors("captions", 6).begun(table, words, 2)
    found = StartingVectors("captions", 6, whiten=True).begun(table, words, 2)
    assert np.array_equal(plain, reduced(table, words, 2))
    for rows in (slice(2, 62), slice(63, 103)):
        assert np.allclose(found[rows], whitened(plain[rows]))
        spread = np.linalg.eigvalsh(np.cov(found[rows].T.astype(np.float64)))
        assert spread[0] == pytest.approx(spread[1], rel=1e-3)
    assert not found[[0, 1, 62]].any()
    assert np.array_equal(StartingVectors("captions", 6).begun(table, words, None), table)
