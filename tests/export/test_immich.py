"""What immich's service reads of an export: its tokenizer.json, its graphs and its pictures give our vectors.

`Service` is a small copy of how that service works (immich_ml/models/clip), written from what its code does: it reads
neither `resize_mode` nor `interpolation` of preprocess_cfg.json.
"""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import exported
import numpy as np
import pytest
from exported import ASKED, KINDS, WORDS, run_that_sees, small_backbone_known
from PIL import Image
from small_pairs import ASKED as PIECES
from small_pairs import save_pair

from groundling.cli import main
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.errors import UserError
from groundling.export import samples
from groundling.export.targets import export_model
from groundling.model import Model, load
from groundling.settings import TextSettings

tokenizers = pytest.importorskip("tokenizers")
runtime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")


@pytest.fixture(scope="module", autouse=True)
def backbone() -> Iterator[None]:
    with small_backbone_known():
        yield


class Service:
    def __init__(self, folder: Path) -> None:
        self.config = json.loads((folder / "config.json").read_text())
        self.cut = json.loads((folder / "visual" / "preprocess_cfg.json").read_text())
        length = self.config["text_cfg"].get("context_length", 77)
        symbol = json.loads((folder / "textual" / "tokenizer_config.json").read_text())["pad_token"]
        self.pieces = tokenizers.Tokenizer.from_file(str(folder / "textual" / "tokenizer.json"))
        self.pieces.enable_padding(length=length, pad_token=symbol, pad_id=self.pieces.token_to_id(symbol))
        self.pieces.enable_truncation(max_length=length)
        self.sides = {side: runtime.InferenceSession(folder / side / "model.onnx") for side in ("textual", "visual")}

    def text(self, text: str) -> np.ndarray:
        ids = np.array([self.pieces.encode(" ".join(text.split())).ids], dtype=np.int32)
        return self.sides["textual"].run(None, {"text": ids})[0][0]

    def picture(self, data: bytes) -> np.ndarray:
        image, size = Image.open(io.BytesIO(data)).convert("RGB"), self.cut["size"][0]
        portrait = image.width < image.height
        long = int((image.height / image.width if portrait else image.width / image.height) * size)
        image = image.resize((size, long) if portrait else (long, size), Image.Resampling.BICUBIC)
        left, upper = int(image.width / 2 - size / 2), int(image.height / 2 - size / 2)
        image = image.crop((left, upper, left + size, upper + size))
        colours = np.asarray(image, dtype=np.float32) / 255.0
        colours = colours * np.float32(1 / np.array(self.cut["std"])) - np.float32(
            np.array(self.cut["mean"]) / np.array(self.cut["std"])
        )
        return self.sides["visual"].run(None, {"image": colours.astype(np.float32).transpose(2, 0, 1)[None]})[0][0]


def vectors(service: Service, texts: list[str], files: list[bytes]) -> tuple[Any, Any]:
    return np.stack([service.text(text) for text in texts]), np.stack([service.picture(data) for data in files])


@pytest.mark.parametrize("kind", ["CLIP", "Siglip"])
def test_a_pretrained_pair_has_its_own_vectors_there(kind: str, tmp_path: Path) -> None:
    folder = save_pair(kind, tmp_path / "pair")
    left = export_model(str(folder), immich=tmp_path / "immich")
    model, service = load(str(folder), device="cpu"), Service(tmp_path / "immich")
    files = samples.files()
    square = files if kind == "CLIP" else [squeezed(data, service.cut) for data in files]
    texts, seen = vectors(service, PIECES, square)
    size = model.dimensions
    assert texts.shape[1] == service.config["embed_dim"] == 512
    assert np.abs(texts[:, :size] - model.encode_text(PIECES, [""] * len(PIECES))).max() < 1e-5
    assert np.abs(seen[:, :size] - model.encode_pictures(files)).max() < 1e-4
    assert not texts[:, size:].any()
    assert left.immich is not None and left.immich.difference < 1e-4
    card = (tmp_path / "immich" / "README.md").read_text()
    assert "ViT-B-32__openai" in card
    cosines = (np.stack([service.picture(data) for data in files])[:, :size] * model.encode_pictures(files)).sum(axis=1)
    lost = f"a mean cosine of {cosines.mean():.2f} (lowest: {cosines.min():.2f}) with those of the model"
    assert (lost in card) == (kind == "Siglip")  # it squeezes pictures, which immich does not do
    assert ("squeezes all of a picture into a square" in card) == (kind == "Siglip")


def squeezed(data: bytes, cut: dict[str, Any]) -> bytes:
    """A picture as the model's files say it wants it, which immich then leaves as it is."""
    how = {method.name.lower(): method for method in Image.Resampling}[cut["interpolation"]]
    made = io.BytesIO()
    Image.open(io.BytesIO(data)).convert("RGB").resize(cut["size"], how).save(made, "PNG")
    return made.getvalue()


@pytest.mark.parametrize(("crop", "least"), [(False, 0.9999), (True, 0.97)])
def test_a_run_that_reads_words_has_its_own_vectors_there(
    crop: bool, least: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_that_sees(tmp_path / "run", {"name": "vse", **WORDS}, mirror=True, crop=crop)
    with pytest.raises(SystemExit) as ended:
        main(["-q", "export", str(run.folder), "--immich", str(tmp_path / "immich")])
    assert ended.value.code == 0
    assert "put the folder in the place of one of 512 dimensions" in capsys.readouterr().out
    model, service = Model.load(run.folder, "cpu"), Service(tmp_path / "immich")
    files = samples.files()
    texts, seen = vectors(service, ASKED, files)
    size = model.dimensions
    assert np.abs(texts[:, :size] - model.encode_text(ASKED, "en")).max() < 1e-5
    ours = model.encode_pictures(files)
    assert (ours * seen[:, :size]).sum(axis=1).min() > least  # what it cuts of noise is up to a pixel apart
    assert not (tmp_path / "immich" / "manifest.json").exists()


def test_what_tokenizer_json_cannot_say_is_refused_in_a_sentence(tmp_path: Path) -> None:
    run = run_that_sees(tmp_path / "bag", KINDS["bag"])
    with pytest.raises(UserError, match=r"kind ngrams reads captions in a way that no tokenizer\.json can say"):
        export_model(str(run.folder), immich=tmp_path / "immich")
    run = run_that_sees(tmp_path / "crops", {"name": "vse", **WORDS}, crops=10)
    with pytest.raises(UserError, match="looks at several parts of a picture"):
        export_model(str(run.folder), immich=tmp_path / "immich")
    assert not (tmp_path / "immich").exists()


WRITTEN = [
    "A dog, don't RUN!", "l'eau", "两只狗 run", "ＤＩＹ  Straße", "ΟΔΟΣ ΣΟΦΟΣ", "İstanbul", "كَلْب جميلـة",
    "สุนัข", "ひらがなー",
    "e\u0301té", "Ⅻ 12ª", "co-op’s", "🦜 …", "", "x" * 300, "ñandú a'b-c 3D", "कुत्ता", "dog " * 90,
]  # fmt: skip


@pytest.mark.parametrize("segmentation", ["script", "whitespace"])
def test_words_are_cut_exactly_as_we_cut_them(segmentation: str) -> None:
    settings = TextSettings(minimum_count=1, segmentation=segmentation)
    ours = WordTokeniser.build([*WRITTEN, "δ σοφος"], ["en"] * (len(WRITTEN) + 1), settings)
    rules = ours.tokenizer_rules()
    theirs = tokenizers.Tokenizer.from_str(rules.rules)
    theirs.enable_truncation(max_length=rules.longest)
    for text in [*WRITTEN, *exported.ASKED, *samples.FOREIGN]:
        tokens = ours.encode([text], ["en"])
        assert theirs.encode(text).ids == tokens.ids[0, : tokens.lengths[0]].tolist(), text
    with pytest.raises(UserError, match="cut by a dictionary"):
        WordTokeniser.build(["a"], ["en"], TextSettings(segmentation="dictionary")).tokenizer_rules()
