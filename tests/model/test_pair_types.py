"""Pairs of every type that transformers knows: our vectors are those of its own processors and networks."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn.functional import normalize

pytest.importorskip("transformers")
import transformers

from groundling.errors import UserError
from groundling.model import load
from groundling.model.pair_types import PAIR_TYPES, REFUSED
from groundling.vision.preprocessing import Upright
from tiny_pairs import PAIRS, TEXTS, clip_tokeniser, roberta_tokeniser, tipsv2

LONG = "a red dog " * 40


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Any]]:
    root = tmp_path_factory.mktemp("pairs")
    return {name: (root / name, make(root / name)) for name, make in PAIRS.items()}


def pictures() -> list[Image.Image]:
    draw = np.random.default_rng(0)
    return [
        Image.fromarray(draw.integers(0, 255, (*size, 3), dtype=np.uint8)) for size in ((40, 50), (70, 33), (32, 32))
    ]


def as_published(name: str, folder: Path, text: str) -> dict[str, Any]:
    """What transformers' own processor, or the makers' example, gives a network of one text, read by itself."""
    pieces = transformers.AutoTokenizer.from_pretrained(folder)
    if name == "siglip":  # its makers: padding="max_length", as in training; it has no mask
        return {"input_ids": pieces(text, padding="max_length", truncation=True, return_tensors="pt")["input_ids"]}
    if name.startswith("siglip2"):  # Siglip2Processor's defaults
        options = {"padding": "max_length", "truncation": True, "max_length": 64}
        return {"input_ids": pieces(text, return_tensors="pt", **options)["input_ids"]}
    if name == "align":  # AlignProcessor's defaults
        return dict(pieces(text, padding="max_length", truncation=True, max_length=64, return_tensors="pt"))
    if name == "aimv2":  # without padding its attention looks ahead, which its makers' does not
        return dict(pieces(text, padding="max_length", truncation=True, max_length=77, return_tensors="pt"))
    longest = {"chinese_clip": 52, "vision_text_dual_encoder": 64}.get(name, 77)
    return dict(pieces(text, truncation=True, max_length=longest, return_tensors="pt"))


@pytest.mark.parametrize("name", PAIRS)
def test_vectors_are_those_of_transformers(name: str, made: dict[str, tuple[Path, Any]]) -> None:
    folder, network = made[name]
    model = load(str(folder))
    with torch.inference_mode():
        texts = [network.get_text_features(**as_published(name, folder, text)).pooler_output for text in TEXTS]
        processor = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")
        seen = [
            network.get_image_features(**processor(images=[image], return_tensors="pt")).pooler_output
            for image in pictures()
        ]
    expected = normalize(torch.cat(texts), dim=1).numpy()
    assert len({row.tobytes() for row in expected.round(3)}) == len(TEXTS)  # it tells the texts apart
    np.testing.assert_allclose(model.encode_text(TEXTS), expected, atol=1e-5)
    np.testing.assert_allclose(model.encode_pictures(pictures()), normalize(torch.cat(seen), dim=1).numpy(), atol=1e-5)
    assert model.dimensions == expected.shape[1]


@pytest.mark.parametrize("name", PAIRS)
def test_neither_padding_nor_order_nor_length_changes_a_text(name: str, made: dict[str, tuple[Path, Any]]) -> None:
    model = load(str(made[name][0]))
    texts = [*TEXTS, LONG]
    together = model.encode_text(texts)
    backwards = model.encode_text(texts[::-1], batch_size=2)[::-1]
    alone = np.concatenate([model.encode_text(text) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(together, backwards, atol=1e-5)
    looked = model.encode_pictures(pictures())
    np.testing.assert_allclose(model.encode_pictures(pictures()[::-1])[::-1], looked, atol=1e-5)


def token_of_sentence(name: str, ids: list[int], pieces: Any) -> int:
    """Where the makers take the sentence from, by hand."""
    if name.startswith("siglip"):
        return 63
    if name in ("chinese_clip", "altclip", "align"):
        return 0
    return ids.index(pieces.eos_token_id)


@pytest.mark.parametrize("name", [name for name in PAIRS if name not in ("vision_text_dual_encoder", "aimv2")])
def test_the_sentence_is_taken_from_the_token_of_the_makers(name: str, made: dict[str, tuple[Path, Any]]) -> None:
    folder, network = made[name]
    side = load(str(folder)).text
    inputs = side.tokens(TEXTS)
    with torch.inference_mode():
        states = network.text_model(**inputs).last_hidden_state
        rows = [token_of_sentence(name, ids, side.pieces) for ids in inputs["input_ids"].tolist()]
        pooled = torch.stack([state[row] for state, row in zip(states, rows, strict=True)])
        project = network.text_model.head if name.startswith("siglip") else network.text_projection
        torch.testing.assert_close(side.vectors(inputs), project(pooled), atol=1e-5, rtol=1e-5)
    if not name.startswith("siglip"):
        assert inputs["input_ids"].shape[1] < 77  # the others are padded no further than the longest text


def test_small_letters_where_the_makers_have_read_no_others(made: dict[str, tuple[Path, Any]]) -> None:
    texts = ["A RED DOG", "a red dog"]
    for name in ("siglip", "siglip2", "siglip2_naflex", "clip"):
        one, two = load(str(made[name][0])).encode_text(texts)
        np.testing.assert_allclose(one, two, atol=1e-6)
    one, two = load(str(made["altclip"][0])).encode_text(texts)  # its tokeniser knows capitals
    assert np.abs(one - two).max() > 0.01


def test_a_tokeniser_that_marks_no_sentence_is_refused(tmp_path: Path, made: dict[str, tuple[Path, Any]]) -> None:
    from tokenizers.processors import TemplateProcessing

    for name, tokeniser in {"new_clip": clip_tokeniser, "clip": clip_tokeniser, "altclip": roberta_tokeniser}.items():
        PAIRS[name](tmp_path / name)
        pieces = tokeniser(tmp_path / name)
        pieces.backend_tokenizer.post_processor = TemplateProcessing(single="$A")
        pieces.save_pretrained(tmp_path / name)
        file = tmp_path / name / "tokenizer_config.json"  # so that the class does not put the marks back
        file.write_text(json.dumps({**json.loads(file.read_text()), "tokenizer_class": "PreTrainedTokenizerFast"}))
        with pytest.raises(UserError, match="puts no mark where the model takes the sentence from"):
            load(str(tmp_path / name)).encode_text("a red dog")


def test_a_prompt_is_put_around_every_text(made: dict[str, tuple[Path, Any]]) -> None:
    folder = str(made["clip"][0])
    plain, prompted = load(folder), load(folder, prompt="a picture of {}")
    expected = plain.encode_text(["a picture of a dog", "a picture of a red {}"])
    np.testing.assert_allclose(prompted.encode_text(["a dog", "a red {}"]), expected, atol=1e-6)
    assert prompted.picture_fingerprint == plain.picture_fingerprint
    assert prompted.text_fingerprint != plain.text_fingerprint
    assert prompted.fingerprint != plain.fingerprint
    for wrong in ("a picture", "{} and {}", "{}" + "a" * 600):
        with pytest.raises(UserError, match="--prompt"):
            load(folder, prompt=wrong)


def test_each_side_has_a_fingerprint_of_its_own(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    PAIRS["clip"](tmp_path / "pair")
    before = load(str(tmp_path / "pair"))
    sides, whole = (before.text_fingerprint, before.picture_fingerprint), before.fingerprint
    file = tmp_path / "pair" / "model.safetensors"
    weights = load_file(file)
    for name, text in {"text_projection.weight": True, "visual_projection.weight": False}.items():
        save_file({**weights, name: weights[name] + 1}, file, metadata={"format": "pt"})
        after = load(str(tmp_path / "pair"))
        assert (after.text_fingerprint == sides[0], after.picture_fingerprint == sides[1]) == (not text, text)
        assert after.fingerprint != whole


def test_pictures_of_any_shape_for_naflex(made: dict[str, tuple[Path, Any]]) -> None:
    model = load(str(made["siglip2_naflex"][0]))
    assert model.preparation == Upright(2 * round(16 * 6**0.5))
    wide, high = (Image.new("RGB", size, "red") for size in ((90, 30), (30, 90)))
    inputs = model.pictures.inputs([np.asarray(wide), np.asarray(high)])
    assert inputs["spatial_shapes"].tolist() == [[1, 3], [3, 1]]
    assert inputs["pixel_attention_mask"].tolist() == [[1, 1, 1, 0, 0, 0]] * 2


def test_types_that_are_not_known_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    for kind, words in {**REFUSED, "bert": "is no pair"}.items():
        (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
        with pytest.raises(UserError) as refused:
            load(str(tmp_path))
        assert words in str(refused.value)
        assert all(known in str(refused.value) for known in PAIR_TYPES)
    (tmp_path / "config.json").write_text('{"auto_map": {"AutoModel": "mexma_siglip.MexmaSigLIP"}}')
    with pytest.raises(UserError, match="code that comes with a model is never run"):
        load(str(tmp_path))


def test_tips_needs_torchvision_and_is_read_as_published(tmp_path: Path) -> None:
    network = tipsv2(tmp_path / "tips")
    model = load(str(tmp_path / "tips"))
    pieces = transformers.AutoTokenizer.from_pretrained(tmp_path / "tips")
    options = {"padding": "max_length", "truncation": True, "max_length": 64, "return_tensors": "pt"}
    with torch.inference_mode():
        expected = normalize(network.get_text_features(**pieces(TEXTS, **options)).pooler_output, dim=1)
    np.testing.assert_allclose(model.encode_text(TEXTS), expected.numpy(), atol=1e-5)
    if not transformers.utils.is_torchvision_available():
        with pytest.raises(UserError, match="imageprocessor cannot be read"):
            model.load_picture_side()
