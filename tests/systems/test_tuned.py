"""A pretrained pair is tuned on captions: it finds better, what is frozen stays, and the run needs the pair no more."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

import groundling
from groundling.corpus import Corpus, save
from groundling.encoders import lora
from groundling.errors import UserError
from groundling.model import Model
from groundling.run import Run
from pretrained_folders import save_pair, save_sentence_encoder

pytest.importorskip("transformers")

COLOURS = {"red": (220, 30, 30), "green": (30, 200, 40), "blue": (30, 40, 220), "white": (250, 250, 250)}
PLACES = ["left", "right", "top"]
WORDS = [*COLOURS, *PLACES]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)  # where evaluations of a pretrained pair are kept


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Drawings of a colour at a place of a grey sheet, each with what it shows."""
    folder = tmp_path_factory.mktemp("drawings")
    draw, rows = np.random.default_rng(0), []
    boxes = {
        "left": (slice(0, 32), slice(0, 16)),
        "right": (slice(0, 32), slice(16, 32)),
        "top": (slice(0, 16), slice(0, 32)),
    }
    for number in range(72):
        colour, place = list(COLOURS)[number % 4], PLACES[number % 3]
        sheet = draw.integers(90, 110, (32, 32, 3)).astype(np.uint8)
        sheet[boxes[place]] = COLOURS[colour]
        Image.fromarray(sheet).save(folder / f"{number}.png")
        split = "train" if number < 48 else "dev" if number < 60 else "test"
        rows.append({"picture": f"{number}.png", "language": "en", "text": f"{colour} {place}", "split": split})
    save(Corpus.of(rows, folder, "drawings"), folder / "corpus")
    return folder / "corpus"


def tuned(pair: Path, corpus: Path, out: Path, steps: int = 120, **sides: Any) -> Run:
    training = {"batch_size": 24, "learning_rate": 1e-2, "maximum_steps": steps, "validate_every": min(40, steps)}
    system = {"name": "tuned", "start": str(pair), "objective": {"name": "contrastive", "temperature": 0.1}, **sides}
    return groundling.train(corpus=corpus, system=system, out=out, training=training, device="cpu", show_progress=False)


@pytest.mark.parametrize(
    ("text", "picture"),
    [("linear", "linear"), ("lora", "frozen"), ("full", "frozen"), ("frozen", "full"), ("linear", "lora")],
)
def test_it_finds_better_and_needs_the_pair_no_more(text: str, picture: str, corpus: Path, tmp_path: Path) -> None:
    if "lora" in (text, picture):
        pytest.importorskip("peft")
    pair = save_pair(tmp_path / "pair", "CLIP", WORDS)
    before = groundling.evaluate(pair, corpus, device="cpu").value("en", "mR")
    old = Model.load(pair, "cpu")
    photos = sorted(corpus.parent.glob("*.png"))[:5]
    seen, fingerprint = old.encode_pictures(photos), old.picture_fingerprint
    run = tuned(pair, corpus, tmp_path / "run", text={"adapter": text}, picture={"adapter": picture})
    shutil.rmtree(pair)
    assert groundling.evaluate(run, device="cpu").value("en", "mR") > before + 10
    model = Model.load(run, "cpu")
    names = set(load_file(run.weights_file))
    assert any(name.startswith("text.network.") for name in names) is (text in ("lora", "full"))
    assert not [name for name in names if "lora" in name]
    assert any("vision" in name for name in names) is (picture in ("lora", "full"))
    same = np.allclose(model.encode_pictures(photos), seen, atol=1e-5)
    assert same is (picture == "frozen")  # locked-image tuning
    assert (model.picture_fingerprint == fingerprint) is (picture == "frozen")


def test_a_text_side_of_another_model_is_taught_and_kept(corpus: Path, tmp_path: Path) -> None:
    pair, text = save_pair(tmp_path / "pair", "CLIP", WORDS), save_sentence_encoder(tmp_path / "text", WORDS)
    lines = [f"{one} {place}\t{one[::-1]} {place[::-1]} {n}" for one in COLOURS for place in PLACES for n in range(5)]
    lines += [
        f"{place} {one} {other}\t{other[::-1]} {one[::-1]}" for one in COLOURS for place in PLACES for other in WORDS
    ]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines))
    options: dict[str, Any] = {"steps": 20, "device": "cpu", "show_progress": False, "known": "en"}
    before = Model.load(pair, "cpu", str(text)).encode_text(["red left"], "en")
    run = groundling.teach(pair, "nl", tmp_path / "pairs.tsv", tmp_path / "run", text=str(text), **options)
    shutil.rmtree(pair)
    shutil.rmtree(text)
    model = Model.load(run, "cpu")
    assert np.allclose(model.encode_text(["red left"], "en"), before, atol=1e-6)
    assert groundling.evaluate(run, corpus, device="cpu").value("en", "mR") > 0


def test_settings_that_mean_nothing_are_refused(corpus: Path, tmp_path: Path) -> None:
    pair = save_pair(tmp_path / "pair", "CLIP", WORDS)
    with pytest.raises(UserError, match=r"pictures are looked at by .*pair itself; leave these settings out"):
        groundling.train(corpus=corpus, system={"name": "tuned", "start": str(pair)}, features={"mirror": True})


def test_what_is_saved_of_low_rank_changes_is_their_sum() -> None:
    pytest.importorskip("peft")
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 4))
    before = {name: value.clone() for name, value in network.state_dict().items()}
    lora.inject(network, rank=2)
    learning = {name: part for name, part in network.named_parameters() if part.requires_grad}
    assert all("lora_" in name for name in learning)
    with torch.no_grad():
        for part in learning.values():
            part.normal_()
    plain = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 4))
    plain.load_state_dict(lora.merged(network))
    given = torch.randn(3, 6)
    assert torch.allclose(plain(given), network(given), atol=1e-5)
    a, b = learning["0.lora_A.default.weight"], learning["0.lora_B.default.weight"]
    assert torch.allclose(plain[0].weight, before["0.weight"] + 2 * b @ a, atol=1e-5)
