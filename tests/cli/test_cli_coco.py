"""COCO from Karpathy's file to the mean over five folds, with features made elsewhere."""

import json
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pytest
from commands import assert_one_sentence, call, content
from safetensors.numpy import load_file

from conftest import ENGLISH, make_world

own_ground = commands.own_ground  # each test in a folder of its own

SPLITS = ["train"] * 60 + ["restval"] * 20 + ["val"] * 10 + ["test"] * 20


def write_coco(data: Path) -> None:
    """The tiny world as Karpathy would have written it: test pictures among the others, two captions each."""
    world = make_world(len(SPLITS))
    order = np.random.default_rng(0).permutation(len(SPLITS))
    images = []
    for number, row in enumerate(order):
        texts = [text for text, owner in zip(world.corpus.texts, world.corpus.owners, strict=True) if owner == row]
        english = [text for text in texts if set(text.split()) <= set(ENGLISH)]
        folder = "train2014" if SPLITS[row] == "train" else "val2014"
        image: dict[str, Any] = {"filepath": folder, "filename": f"COCO_{folder}_{number:012}.jpg", "cocoid": number}
        sentences = [{"raw": text, "tokens": text.split(), "sentid": 0, "imgid": number} for text in english]
        images.append({**image, "split": SPLITS[row], "sentences": sentences, "sentids": [0], "imgid": number})
    (data / "coco").mkdir(parents=True)
    (data / "coco" / "dataset_coco.json").write_text(json.dumps({"images": images, "dataset": "coco"}))
    np.save(data / "features.npy", world.features[order].astype(np.float16))
    (data / "names.txt").write_text("".join(f"{image['filepath']}/{image['filename']}\n" for image in images))


@pytest.fixture
def train_coco(own_ground: Path) -> list[str]:
    write_coco(own_ground / "data")
    settings = ["features.array=data/features.npy", "features.names=data/names.txt", "text.minimum_count=1"]
    settings += ["system.dimensions=8", "system.word_dimensions=8", "training.batch_size=16"]
    settings += ["training.maximum_steps=4"]
    assigned = [part for setting in settings for part in ("--set", setting)]
    return ["train", "--corpus", "coco-karpathy", "--data", "data", "--system", "vse", *assigned, "--out", "run"]


def test_inspect_counts_restval_as_training(own_ground: Path) -> None:
    write_coco(own_ground / "data")
    facts = call("corpus", "inspect", "coco-karpathy", "--data", "data", "--json").json
    assert facts["splits"]["train"] == {"pictures": 80, "en": 160}
    assert facts["splits"]["dev"]["pictures"] == 10
    assert facts["splits"]["test"]["pictures"] == 20
    said = call("corpus", "inspect", "coco-karpathy", "--data", "data")
    assert "110 pictures, 220 captions" in said.out


def test_the_recipe_s_folds_are_what_the_run_keeps(train_coco: list[str], own_ground: Path) -> None:
    call(*train_coco, "--set", "evaluation.folds=5")
    result = call("evaluate", "run", "--data", "data", "--json").json
    assert (result["folds"], result["pictures"], result["captions"]) == (5, 20, 40)
    assert result["chance"]["R@1"] == 25
    found = load_file(own_ground / "run" / "ranks.safetensors")
    assert found["folds"].tolist() == [5]
    ranks, owners = found["en.text_to_image"], found["en.owners"]
    assert ranks.max() <= 4  # a fold has four pictures
    by_fold = [100 * (ranks[owners // 4 == fold] == 1).mean() for fold in range(5)]
    assert result["languages"]["en"]["text_to_image"]["R@1"] == pytest.approx(np.mean(by_fold))
    for file in ("report.md", "report.html"):
        assert "mean over 5 folds of 4 pictures" in (own_ground / "run" / file).read_text()
    before = content(own_ground / "run")
    together = call("evaluate", "run", "--data", "data", "--folds", 1, "--json").json
    assert "folds" not in together
    assert together["chance"]["R@1"] == 5
    assert together["languages"]["en"]["rsum"] <= result["languages"]["en"]["rsum"]
    assert content(own_ground / "run") == before
    said = call("evaluate", "run", "--data", "data", "--folds", 5)
    assert "coco-karpathy test, mean over 5 folds of 4 pictures" in said.out
    assert "Report: run/report.html" in said.out


def test_folds_asked_for_on_the_command_line_only(train_coco: list[str], own_ground: Path) -> None:
    call(*train_coco)
    evaluate = ["evaluate", "run", "--data", "data"]
    kept = call(*evaluate, "--json").json
    assert "folds" not in kept
    before = content(own_ground / "run")
    said = call(*evaluate, "--folds", 5)
    assert "mean over 5 folds of 4 pictures" in said.out
    assert "Every number is a mean over 5 folds" in said.out
    assert "Report:" not in said.out
    assert_one_sentence(
        call(*evaluate, "--folds", 3), "coco-karpathy, test: 20 pictures cannot be divided into 3 equal folds"
    )
    assert_one_sentence(call(*evaluate, "--folds", 0), "--folds")
    assert content(own_ground / "run") == before


def test_vectors_in_folds(own_ground: Path) -> None:
    np.save("P.npy", np.tile(np.eye(2), (3, 1)))
    np.save("C.npy", np.tile(np.eye(2), (3, 1)))
    np.save("O.npy", np.arange(6))
    vectors = ["evaluate", "--vectors", "P.npy", "C.npy", "--owners", "O.npy"]
    assert call(*vectors, "--json").json["text_to_image"]["R@1"] == 0  # ties with the copies
    folded = call(*vectors, "--folds", 3, "--json").json
    assert (folded["folds"], folded["pictures"], folded["text_to_image"]["R@1"]) == (3, 6, 100)
    assert "mean over 3 folds of 2 pictures" in call(*vectors, "--folds", 3).out
    assert_one_sentence(call(*vectors, "--folds", 4), "P.npy: 6 pictures cannot be divided into 4 equal folds")
    np.save("O.npy", np.array([0, 1, 0, 1, 4, 5]))
    assert_one_sentence(call(*vectors, "--folds", 3), "P.npy: rows 2 to 3 of the pictures, fold 2 of 3")


def test_a_picture_without_features_is_named_before_training(train_coco: list[str], own_ground: Path) -> None:
    names = (own_ground / "data/names.txt").read_text().splitlines()
    (own_ground / "data/names.txt").write_text("\n".join(["other.jpg", *names[1:]]))
    said = call(*train_coco)
    assert_one_sentence(said, f'names.txt: no features for picture "{names[0]}" of corpus coco-karpathy')
    assert not (own_ground / "run").exists()
