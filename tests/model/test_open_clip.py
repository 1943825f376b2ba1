"""open_clip's folders: our vectors are those of open_clip itself."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from torch.nn.functional import normalize

from groundling import hub
from groundling.errors import UserError
from groundling.model import load
from open_clip_folders import of_openai, of_siglip

TEXTS = ["a red dog", "rotes bild", "A Picture of a red picture of a dog", "a"]


@pytest.mark.parametrize("stored", ["open_clip_model.safetensors", "open_clip_pytorch_model.bin"])
@pytest.mark.parametrize("make", [of_openai, of_siglip])
def test_vectors_are_those_of_open_clip(make: Any, stored: str, tmp_path: Path) -> None:
    open_clip = pytest.importorskip("open_clip")
    folder = tmp_path / "pair"
    make(folder)
    torch.manual_seed(0)
    made = open_clip.create_model(f"local-dir:{folder}").state_dict()
    if stored.endswith(".bin"):
        torch.save(made, folder / stored)
    else:
        save_file({name: value.contiguous() for name, value in made.items()}, folder / stored)
    theirs, transform = open_clip.create_model_from_pretrained(f"local-dir:{folder}")
    tokeniser = open_clip.get_tokenizer(f"local-dir:{folder}")
    draw = np.random.default_rng(0)
    pictures = [Image.fromarray(draw.integers(0, 255, (*size, 3), dtype=np.uint8)) for size in ((40, 50), (70, 33))]
    with torch.inference_mode():
        texts = normalize(theirs.eval().encode_text(tokeniser(TEXTS)), dim=1).numpy()
        seen = normalize(theirs.encode_image(torch.stack([transform(one) for one in pictures])), dim=1).numpy()
    model = load(str(folder))
    assert (model.backbone, model.dimensions) == ("open_clip", 8)
    assert len({row.tobytes() for row in texts.round(3)}) == len(TEXTS)
    np.testing.assert_allclose(model.encode_text(TEXTS), texts, atol=1e-5)
    np.testing.assert_allclose(np.concatenate([model.encode_text(text) for text in TEXTS]), texts, atol=1e-5)
    np.testing.assert_allclose(model.encode_pictures(pictures), seen, atol=1e-5)
    np.testing.assert_allclose(model.encode_pictures(pictures[::-1])[::-1], seen, atol=1e-5)
    sides = model.text_fingerprint, model.picture_fingerprint
    changed = {name: value + 1 if name.startswith("visual.") else value for name, value in made.items()}
    (folder / stored).unlink()
    save_file({name: value.contiguous() for name, value in changed.items()}, folder / "open_clip_model.safetensors")
    again = load(str(folder))
    assert (again.text_fingerprint == sides[0], again.picture_fingerprint == sides[1]) == (True, False)


def test_what_open_clip_cannot_open_is_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("open_clip")
    of_openai(tmp_path / "none")
    of_openai(tmp_path / "cut")
    (tmp_path / "cut" / "open_clip_model.safetensors").write_bytes(b"12345678")
    of_openai(tmp_path / "empty")
    (tmp_path / "empty" / "open_clip_config.json").write_text("{}")
    for name, words in {"none": "no weights that are read here", "empty": "does not describe a model"}.items():
        with pytest.raises(UserError, match=words):
            load(str(tmp_path / name))
    with pytest.raises(UserError, match="cannot be opened by open_clip"):
        load(str(tmp_path / "cut")).encode_text("a")


def test_a_library_that_is_missing_or_broken_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_openai(tmp_path)
    found = __import__("importlib.util").util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *more: None if name == "open_clip" else found(name))
    with pytest.raises(UserError, match=r"pip install 'groundling\[openclip\]'"):
        load(str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *more: object())
    monkeypatch.setattr(hub, "broken_torchvision", lambda: "operator torchvision::nms does not exist")
    with pytest.raises(
        UserError, match=r"needs torchvision, which cannot be imported here \(operator torchvision::nms"
    ):
        load(str(tmp_path))


def test_a_broken_torchvision_does_not_take_transformers_with_it(tmp_path: Path) -> None:
    """In a process of its own, for what is imported stays."""
    import subprocess

    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torchvision" / "__init__.py").write_text(
        "raise RuntimeError('operator torchvision::nms does not exist')"
    )
    code = (
        "from groundling import hub\n"
        "library = hub.transformers('model')\n"
        "print(library.AutoImageProcessor.__name__, library.CLIPModel.__name__, hub.broken_torchvision())\n"
    )
    path = [str(tmp_path), *(entry for entry in sys.path if entry)]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": ":".join(path)}, check=False
    )
    assert done.stdout.strip() == "AutoImageProcessor CLIPModel operator torchvision::nms does not exist", done.stderr
