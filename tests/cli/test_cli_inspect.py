"""groundling corpus inspect: what leaks, by captions, files and features, and what was not compared."""

from dataclasses import replace
from pathlib import Path

import commands
import numpy as np
import pytest
from commands import assert_one_sentence, call, content
from shapes import draw_shapes, write_table

from conftest import make_world
from groundling.corpus import storage
from groundling.corpus.info import CorpusInfo, FeatureFiles

own_ground = commands.own_ground  # each test in a folder of its own


@pytest.fixture
def world(own_ground: Path) -> Path:
    """The world with two leaks: the test pictures 126 and 127 look like 3 (exactly) and 4 (nearly)."""
    made = make_world()
    features = np.random.default_rng(0).standard_normal((len(made.features), 64)).astype(np.float32)
    features[126] = features[3]
    features[127] = features[4] + 0.001
    storage.save(made.corpus, own_ground / "corpus")
    (own_ground / "array").mkdir()
    np.save(own_ground / "array" / "features.npy", features)
    (own_ground / "array" / "names.txt").write_text("".join(f"{name}\n" for name in made.corpus.pictures))
    return own_ground


def test_features_from_a_folder_or_an_array_with_names(world: Path) -> None:
    before = content(world)
    found = call("corpus", "inspect", "corpus", "--features", "array", "--json").json["leaks"]["pictures_by_feature"]
    assert (found["test"]["count"], found["test"]["identical"], found["dev"]["count"]) == (2, 1, 0)
    exact, near = found["test"]["pairs"]
    assert exact == {"picture": "picture-126", "train": "picture-3", "cosine": 1.0}
    assert (near["picture"], near["train"]) == ("picture-127", "picture-4")
    assert 0.999 < near["cosine"] < 1
    pair = ["--features", "array/features.npy", "--names", "array/names.txt"]
    assert call("corpus", "inspect", "corpus", *pair, "--json").json["leaks"]["pictures_by_feature"] == found
    said = call("corpus", "inspect", "corpus", *pair)
    assert "test: 2 of 25 pictures look the same as one of 100 in train" in said.out
    assert "  1.000000  picture-126 and picture-3\n" in said.out
    strict = call("corpus", "inspect", "corpus", *pair, "--threshold", 1).out
    assert "test: 1 of 25 pictures look the same" in strict
    assert content(world) == before


def test_what_was_not_compared_is_said(world: Path) -> None:
    said = call("corpus", "inspect", "corpus")
    assert "Picture files were not compared: the corpus has none" in said.out
    assert "Picture features were not compared: give --features ARRAY.npy and --names LIST" in said.out
    names = (world / "array/names.txt").read_text().replace("picture-126\n", "someone else\n")
    (world / "array/names.txt").write_text(names)
    said = call("corpus", "inspect", "corpus", "--features", "array")
    assert "test: 1 of 24 pictures look the same" in said.out
    assert "1 pictures have no features and were not compared, such as picture-126" in said.out


def test_features_that_came_with_the_corpus_are_used(world: Path) -> None:
    pair = FeatureFiles(str(world / "array/features.npy"), str(world / "array/names.txt"))
    storage.save(replace(make_world().corpus, info=CorpusInfo(features=pair)), world / "with")
    assert "2 of 25 pictures look the same" in call("corpus", "inspect", "with").out
    (world / "array/features.npy").unlink()
    assert "Picture features were not compared" in call("corpus", "inspect", "with").out


def test_a_copied_photo_is_found_by_file_and_by_feature(own_ground: Path) -> None:
    rows = draw_shapes(own_ground / "shapes")
    shapes = own_ground / "shapes/png"
    (shapes / "red-square-3.png").write_bytes((shapes / "red-square-0.png").read_bytes())
    write_table(own_ground / "shapes", rows)
    call("corpus", "build", "shapes", "--out", "corpus")
    call("features", "corpus", "--size", 32, "--out", "array")
    leaks = call("corpus", "inspect", "corpus", "--features", "array", "--json").json["leaks"]
    assert leaks["pictures_by_content"]["test"]["examples"] == [["png/red-square-3.png", "png/red-square-0.png"]]
    nearest = leaks["pictures_by_feature"]["test"]["nearest"]
    assert nearest == {"picture": "png/red-square-3.png", "train": "png/red-square-0.png", "cosine": 1.0}


MISTAKES = {
    "--features array/features.npy": "--features ARRAY.npy and --names LIST go together",
    "--names array/names.txt": "--features ARRAY.npy and --names LIST go together",
    "--features nowhere.npy --names array/names.txt": "nowhere.npy: no such file",
    "--features corpus": "corpus/features.npy: no such file",
    "--features array/features.npy --names other.txt": "other.txt: no features for any picture of corpus world",
    "--threshold 2": "--threshold",
    "--threshold close": "--threshold",
}


@pytest.mark.parametrize("options", MISTAKES)
def test_mistakes(world: Path, options: str) -> None:
    (world / "other.txt").write_text("".join(f"other-{row}\n" for row in range(150)))
    assert_one_sentence(call("corpus", "inspect", "corpus", *options.split()), MISTAKES[options])
