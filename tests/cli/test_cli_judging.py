"""groundling train, evaluate, compare and show on runs that judge statements."""

import json
from pathlib import Path

import commands
import numpy as np
import pytest
from commands import assert_one_sentence, call, content

from groundling.corpus import storage
from judged_world import make_judged

own_ground = commands.own_ground


@pytest.fixture
def train_judged(own_ground: Path) -> list[str]:
    world = make_judged()
    storage.save(world.corpus, own_ground / "corpus")
    np.save(own_ground / "features.npy", world.features)
    (own_ground / "names.txt").write_text("".join(f"{name}\n" for name in world.corpus.pictures))
    settings = ["features.array=features.npy", "features.names=names.txt", "system.dimensions=12"]
    settings += ["system.word_dimensions=8", "text.minimum_count=1", "training.maximum_steps=60"]
    settings += ["training.batch_size=64", "training.learning_rate=0.01", "training.precision=float32"]
    assigned = [part for setting in settings for part in ("--set", setting)]
    return ["train", "--corpus", "corpus", "--system", "clip_ve", *assigned]


def test_from_statements_to_a_report_and_a_comparison(train_judged: list[str], own_ground: Path) -> None:
    said = call(*train_judged, "--out", "seeing")
    assert said.code == 0, said.err
    assert "best at step" in said.out and "validation accuracy" in said.out
    result = call("evaluate", "seeing", "--json").json
    assert result["task"] == "entailment"
    assert result["statements"] == 300
    for code in ("en", "de"):
        assert result["languages"][code]["accuracy"] > 45 > result["text_only"][code]["words"]
        assert np.sum(result["languages"][code]["confusion"]) == 150
    kept = json.loads(Path("seeing/evaluation.json").read_text())
    assert kept.pop("made_from")["settings"]["temperature"] == result["temperature"]
    assert {**kept, "made": result["made"]} == result  # which is for whoever publishes it
    shown = call("evaluate", "seeing")
    accuracy = f"{result['languages']['de']['accuracy']:.1f}"
    for text in (shown.out, Path("seeing/report.html").read_text(), Path("seeing/report.md").read_text()):
        assert "German" in text
        assert accuracy in text
        assert "words only" in text
    facts = json.loads(Path("seeing/run.json").read_text())
    assert facts["temperature"] == result["temperature"] != 1
    assert "Sureness and accuracy" in shown.out
    assert f"{result['uncalibrated']['overall']['log_loss']:.3f}" in shown.out
    again = call("calibrate", "seeing", "--json").json
    assert (again["temperature"], again["temperature_from"]) == (facts["temperature"], facts["temperature_from"])
    assert f"temperature {facts['temperature']:.3f}, from 300 dev statements" in call("calibrate", "seeing").out
    before = content(own_ground / "seeing")
    assert_one_sentence(call("calibrate", "seeing", "--split", "test"), "only dev statements are free")
    dev = call("evaluate", "seeing", "--split", "dev", "--json").json
    assert (dev["split"], dev["text_only"]["en"]["split"]) == ("dev", "dev")
    assert call("evaluate", "seeing", "--split", "train", "--json").json["text_only"] == {}
    assert content(own_ground / "seeing") == before

    assert call(*train_judged, "--out", "blind", "--set", "system.sees_pictures=false").code == 0
    assert call("evaluate", "blind").code == 0
    found = call("compare", "blind", "seeing", "--samples", "200", "--json").json[0]["languages"]["en"]["verdicts"]
    assert found["run"] == pytest.approx(result["languages"]["en"]["accuracy"])
    assert found["difference"] == pytest.approx(found["run"] - found["baseline"])
    assert "Accuracy of seeing against blind" in call("compare", "blind", "seeing", "--samples", "200").out

    former = Path("seeing/verdicts.safetensors")  # as it was called once
    Path("seeing/predictions.safetensors").rename(former)
    again = call("compare", "blind", "seeing", "--samples", "200", "--json").json[0]["languages"]["en"]["verdicts"]
    assert again == found
    assert call("evaluate", "seeing").code == 0
    assert not former.exists() and Path("seeing/predictions.safetensors").exists()

    assert_one_sentence(call("show", "seeing"), "seeing judges statements and finds neither pictures nor captions")
    assert_one_sentence(call("evaluate", "seeing", "--by-origin"), "seeing judges statements")
    assert_one_sentence(call("evaluate", "seeing", "--folds", "5"), "seeing judges statements")


def test_a_language_that_was_not_trained(train_judged: list[str]) -> None:
    assert call(*train_judged, "--set", "corpus.languages=[en]", "--out", "english").code == 0
    result = call("evaluate", "english", "--unseen-language", "de", "--json").json
    assert list(result["languages"]) == ["de"]
    assert result["known"]["de"]["words_known"] < 50
    assert "Sureness and accuracy" in call("evaluate", "english", "--unseen-language", "de").out
    assert_one_sentence(call("evaluate", "english", "--unseen-language", "fr"), 'no captions in "fr"')


def test_a_corpus_without_statements(train_world: list[str]) -> None:
    changed = ["clip_ve" if part == "lessons" else part for part in train_world]
    assert_one_sentence(call(*changed, "--out", "run"), "has no statements with labels to judge")
    assert not Path("run").exists()


world_files, train_world = commands.world_files, commands.train_world
