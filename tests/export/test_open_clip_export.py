"""Pairs of open_clip by every door: their own vectors, without open_clip and without PyTorch."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_immich import Service

from groundling.encoders.tokenisers import PieceTokeniser
from groundling.errors import UserError
from groundling.export import OnnxModel, samples
from groundling.export.targets import export_model
from groundling.model import load
from groundling.text.cleaning import CLEANINGS, cleaned
from open_clip_folders import of_openai, of_siglip, save_open_clip, write_config

pytest.importorskip("open_clip")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

WRITTEN = [
    "a red dog", "", "A Dog’s “Life” &amp; more", "rotes_bild!", "ﬁve  spaces\there", "Ünï 3D I'LL", "x" * 300, "ΟΔΟΣ",
]  # fmt: skip


@pytest.fixture(scope="module", params=[of_openai, of_siglip])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_open_clip(tmp_path_factory.mktemp("open_clip") / "pair", request.param)


def test_every_door_has_the_vectors_of_the_pair(pair: Path, tmp_path: Path) -> None:
    model: Any = load(str(pair), device="cpu")
    left = export_model(str(pair), onnx=tmp_path / "onnx", immich=tmp_path / "immich")
    exported, service, files = OnnxModel.load(tmp_path / "onnx"), Service(tmp_path / "immich"), samples.files()
    theirs, seen = model.encode_text(WRITTEN), model.encode_pictures(files)
    assert np.abs(theirs - theirs[0]).max() > 1e-2  # or equality would mean nothing
    assert np.abs(exported.encode_text(WRITTEN) - theirs).max() < 1e-5
    assert np.abs(exported.encode_pictures(files) - seen).max() < 1e-5
    assert (exported.kind, exported.fingerprint) == ("pretrained", model.fingerprint)
    plain = [text for text in WRITTEN if "&" not in text]
    read = np.stack([service.text(text) for text in plain])[:, : model.dimensions]
    assert np.abs(read - model.encode_text(plain)).max() < 1e-5
    assert left.immich is not None and any("not mended there" in note for note in left.immich.notes)


def test_sentence_transformers_has_it_in_a_module_of_ours(pair: Path, tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    export_model(str(pair), sentence_transformers=tmp_path / "st")
    loaded = library.SentenceTransformer(str(tmp_path / "st"), device="cpu", trust_remote_code=True)
    texts = [text for text in WRITTEN if text]
    assert np.abs(loaded.encode(texts) - load(str(pair), device="cpu").encode_text(texts)).max() < 1e-5


@pytest.mark.parametrize("how", CLEANINGS)
def test_texts_are_mended_as_open_clip_does(how: str) -> None:
    from open_clip.tokenizer import get_clean_fn

    for text in [*WRITTEN, *samples.FOREIGN, "a &lt;b&gt; &amp;amp; c", "Ã¼ber", " a_b  (c) "]:
        assert cleaned(text, how) == get_clean_fn(how)(text)
    with pytest.raises(ValueError, match="unknown way to mend"):
        PieceTokeniser.from_json({"rules": '{"model": {"type": "WordLevel", "vocab": {}, "unk_token": "a"}}',
                                  "longest": 5, "clean": "backwards"})  # fmt: skip


def test_pictures_that_are_cut_otherwise_are_refused(tmp_path: Path) -> None:
    def make(folder: Path) -> None:
        text = {"context_length": 77, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1}
        write_config(folder, text, resize_mode="longest")

    folder = save_open_clip(tmp_path / "pair", make)
    with pytest.raises(UserError, match="cuts pictures in a way of its own"):
        export_model(str(folder), onnx=tmp_path / "onnx")
    assert not (tmp_path / "onnx").exists()


def test_a_tokeniser_that_masks_parts_of_texts_is_refused(tmp_path: Path) -> None:
    def make(folder: Path) -> None:
        text = {"context_length": 16, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1}
        write_config(folder, {**text, "tokenizer_kwargs": {"reduction_mask": "syntax"}})

    folder = save_open_clip(tmp_path / "pair", make)
    with pytest.raises(UserError, match="what reads text here is code, not data"):
        export_model(str(folder), onnx=tmp_path / "onnx")
