"""Pretrained models as the model of an index, tried with tiny random ones: our vectors are those of transformers."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from torch.nn.functional import normalize

from groundling.errors import UserError
from groundling.model import load
from groundling.search import Index, index_captions, index_pictures
from pretrained_folders import save_pair, save_photos, save_tokeniser, text_settings

transformers = pytest.importorskip("transformers")
pytest.importorskip("faiss")

WORDS = ["a", "red", "green", "rotes", "bild", "picture"]
TEXTS = ["a red picture", "rotes bild", "a picture that has many more words than there are in the list"]
TEXT = text_settings(WORDS)


def dual(kind: str, folder: Path) -> Any:
    """A random model of this kind in a folder, and the model itself."""
    return transformers.AutoModel.from_pretrained(save_pair(folder, kind, WORDS)).eval()


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return save_photos(tmp_path / "photos")


@pytest.mark.parametrize("kind", ["CLIP", "Siglip", "ChineseCLIP"])
def test_vectors_are_those_of_transformers(kind: str, tmp_path: Path, photos: Path) -> None:
    model = dual(kind, tmp_path / "model")
    built = index_pictures(photos, tmp_path / "index", str(tmp_path / "model"))
    assert built.count == 4
    index = Index.open(tmp_path / "index")
    assert index.manifest.model.kind == "pretrained"

    processor = transformers.AutoImageProcessor.from_pretrained(tmp_path / "model", backend="pil")
    pieces = transformers.AutoTokenizer.from_pretrained(tmp_path / "model")
    pictures = [Image.open(path).convert("RGB") for path in sorted(photos.iterdir())]
    # One text at a time: no padding but where the model was trained with it.
    longest = {"padding": "max_length"} if kind == "Siglip" else {}
    with torch.inference_mode():
        pixels = processor(images=pictures, return_tensors="pt")["pixel_values"]
        seen = normalize(model.get_image_features(pixel_values=pixels).pooler_output, dim=1)
        read = []
        for text in TEXTS:
            ids = pieces(text, truncation=True, max_length=12, return_tensors="pt", **longest)["input_ids"]
            read.append(normalize(model.get_text_features(input_ids=ids).pooler_output, dim=1)[0])
    scores = (torch.stack(read) @ seen.T).numpy()
    np.testing.assert_allclose(index.store.vectors(np.arange(4)), seen.numpy(), atol=1e-5)
    np.testing.assert_allclose(index.model.encode_text(TEXTS, [""] * 3), torch.stack(read).numpy(), atol=1e-5)
    for text, row in zip(TEXTS, scores, strict=True):
        found = index.search(text, k=4)
        assert [one.path for one in found] == [f"{number}.png" for number in np.argsort(-row)]
        assert [one.score for one in found] == pytest.approx(sorted(row.tolist(), reverse=True), abs=1e-5)


def sentence_encoder(folder: Path, pooling: str, dimensions: int = 8) -> Any:
    """A text encoder as sentence-transformers lays it out; returns the slow twin of its forward pass."""
    torch.manual_seed(1)
    settings = {**TEXT, "type_vocab_size": 1}
    model = transformers.BertModel(transformers.BertConfig(**settings)).eval()
    model.save_pretrained(folder)
    save_tokeniser(folder, WORDS)
    weight = torch.randn(dimensions, 16)
    for name, config in {
        "1_Pooling": {f"pooling_mode_{pooling}_token{'' if pooling == 'cls' else 's'}": True},
        "2_Dense": {
            "in_features": 16,
            "out_features": dimensions,
            "bias": False,
            "activation_function": "torch.nn.modules.activation.Tanh",
        },
    }.items():
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(json.dumps(config))
    save_file({"linear.weight": weight}, folder / "2_Dense" / "model.safetensors")
    paths = {"": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense"}
    modules = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in paths.items()]
    (folder / "modules.json").write_text(json.dumps(modules))
    pieces = transformers.AutoTokenizer.from_pretrained(folder)

    def twin(text: str) -> Any:
        ids = pieces(text, truncation=True, max_length=12, return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            states = model(input_ids=ids).last_hidden_state[0]
        pooled = {"mean": states.mean(dim=0), "cls": states[0], "max": states.amax(dim=0)}[pooling]
        return normalize(torch.tanh(weight @ pooled), dim=0).numpy()

    return twin


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_a_text_encoder_of_its_own_beside_clip(pooling: str, tmp_path: Path, photos: Path) -> None:
    (tmp_path / "clip").mkdir()
    dual("CLIP", tmp_path / "clip" / "0_CLIPModel")  # as sentence-transformers keeps it
    twin = sentence_encoder(tmp_path / "text", pooling)
    index_pictures(photos, tmp_path / "index", str(tmp_path / "clip"), str(tmp_path / "text"))
    index = Index.open(tmp_path / "index")
    texts = index.model.encode_text(TEXTS, [""] * 3)
    np.testing.assert_allclose(texts, np.stack([twin(text) for text in TEXTS]), atol=1e-5)
    scores = index.store.vectors(np.arange(4)) @ twin(TEXTS[0])
    assert [one.path for one in index.search(TEXTS[0], k=4)] == [f"{row}.png" for row in np.argsort(-scores)]


def test_an_index_stays_where_only_texts_are_read_otherwise(tmp_path: Path, photos: Path) -> None:
    """With a prompt, or with another text encoder, the pictures are where they were."""
    dual("CLIP", tmp_path / "clip")
    twin = sentence_encoder(tmp_path / "text", "mean")
    clip, out = str(tmp_path / "clip"), tmp_path / "index"
    index_pictures(photos, out, clip, prompt="a picture {}")
    plain = load(clip)
    seen = plain.encode_pictures(sorted(photos.iterdir()))
    prompted = Index.open(out)  # keeps the prompt that it was built with
    expected = seen @ plain.encode_text("a picture red")[0]
    assert [one.score for one in prompted.search("red", k=4)] == pytest.approx(sorted(expected, reverse=True), abs=1e-5)
    other = Index.open(out, prompt="a green {}")
    assert other.search("red", k=4) != prompted.search("red", k=4)
    expected = seen @ twin("a picture red")
    taught = Index.open(out, text_model=str(tmp_path / "text"))
    assert [one.score for one in taught.search("red", k=4)] == pytest.approx(sorted(expected, reverse=True), abs=1e-5)
    built = index_pictures(None, out, clip, str(tmp_path / "text"), update=True)
    assert (built.encoded, built.kept) == (0, 4)
    assert Index.open(out).manifest.model.text is not None
    index_captions([("red", "en")], tmp_path / "captions", clip)
    with pytest.raises(UserError, match="not the model that"):  # there the texts are what is kept
        Index.open(tmp_path / "captions", prompt="a {}").search("red")


def test_models_that_do_not_fit_are_refused_in_one_sentence(tmp_path: Path) -> None:
    dual("CLIP", tmp_path / "clip")
    sentence_encoder(tmp_path / "text", "mean", dimensions=6)
    torch.manual_seed(0)
    transformers.BertModel(transformers.BertConfig(**TEXT)).save_pretrained(tmp_path / "bert")
    (tmp_path / "bare").mkdir()
    dual("Siglip", tmp_path / "pickled")
    (tmp_path / "pickled" / "model.safetensors").rename(tmp_path / "pickled" / "pytorch_model.bin")
    dual("CLIP", tmp_path / "cut")
    weights = tmp_path / "cut" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:200])
    for (name, text), words in {
        ("clip", "text"): r"vectors of 6 numbers, but .* of 8: they were not made for each other",
        ("clip", "bert"): "no text encoder of sentence-transformers",
        ("bert", None): 'type "bert" is no pair .* known are clip, siglip, siglip2, chinese_clip',
        ("bare", None): "no model is there",
        ("pickled", None): "no weights in safetensors",
        ("gone", None): "neither the folder of a run",
    }.items():
        with pytest.raises(UserError, match=words):
            load(str(tmp_path / name), None if text is None else str(tmp_path / text))
    with pytest.raises(UserError, match=r'did you mean "clip-multilingual"'):
        load("clip-multilingua")
    dual("CLIP", tmp_path / "other-size")
    processor = tmp_path / "other-size" / "preprocessor_config.json"
    processor.write_text(processor.read_text().replace("32", "48"))
    with pytest.raises(UserError, match=r"cannot look at pictures \(Input image size"):
        load(str(tmp_path / "other-size")).load_picture_side()
    with pytest.raises(UserError, match="its model cannot be read"):
        load(str(tmp_path / "cut")).load_picture_side()


def test_code_that_comes_with_a_model_is_not_run(tmp_path: Path) -> None:
    dual("CLIP", tmp_path / "model")
    (tmp_path / "model" / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Model: pass\n")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    maps = {"AutoModel": "evil.Model", "AutoConfig": "evil.Model"}
    (tmp_path / "model" / "config.json").write_text(json.dumps({**config, "auto_map": maps}))
    load(str(tmp_path / "model")).load_picture_side()
    assert not (tmp_path / "ran").exists()


def test_another_model_in_the_same_folder_is_noticed(tmp_path: Path, photos: Path) -> None:
    dual("CLIP", tmp_path / "model")
    index_pictures(photos, tmp_path / "index", str(tmp_path / "model"))
    weights = tmp_path / "model" / "preprocessor_config.json"
    weights.write_text(weights.read_text().replace('"do_resize": true', '"do_resize": false'))
    with pytest.raises(UserError, match="not the model that"):
        Index.open(tmp_path / "index").search("red")
