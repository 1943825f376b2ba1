"""Models as sentence-transformers loads them: the vectors that `encode` gives there are ours."""

import json
from collections.abc import Iterator
from pathlib import Path

import exported
import numpy as np
import pytest
from exported import ASKED, KINDS, WORDS, make_model, run_that_sees, save, small_backbone_known
from PIL import Image
from small_pairs import ASKED as PIECES
from small_pairs import save_pair

import pretrained_folders
from conftest import make_recipe, make_world
from groundling.errors import UserError
from groundling.export import OnnxModel
from groundling.export.targets import export_model
from groundling.model import Model, load
from pretrained_folders import save_m_clip
from tiny_networks import save_bert

library = pytest.importorskip("sentence_transformers")
pytest.importorskip("onnxruntime")
photos = exported.photos


@pytest.fixture(scope="module", autouse=True)
def backbone() -> Iterator[None]:
    with small_backbone_known():
        yield


@pytest.mark.parametrize("pooling", ["last", "mean"])
def test_an_encoder_of_transformers_needs_nothing_of_ours(pooling: str, tmp_path: Path) -> None:
    bert = save_bert(tmp_path / "bert", ["dog", "hund", "katze", "cat", "house", "boat"])
    text = {"name": "pretrained", "encoder": str(bert), "pooling": pooling}
    recipe = make_recipe(text={"maximum_length": 20})
    model = make_model({"name": "vse", "dimensions": 16, "text": text}, make_world().corpus, recipe)
    run = save(model, tmp_path / "run", ["de", "en"])
    left = export_model(str(run.folder), sentence_transformers=tmp_path / "st")
    loaded = library.SentenceTransformer(str(tmp_path / "st"), device="cpu")
    assert all(type(module).__module__.startswith("sentence_transformers.") for module in loaded)
    assert np.abs(loaded.encode(ASKED) - Model.load(run.folder, "cpu").encode_text(ASKED, "en")).max() < 1e-5
    card = (tmp_path / "st" / "README.md").read_text()
    assert "library_name: sentence-transformers" in card
    assert 'SentenceTransformer("st")' in card
    assert left.sentence_transformers is not None and left.manifest is None


def test_our_own_encoders_come_in_a_module_of_ours_with_pictures(tmp_path: Path, photos: Path) -> None:
    run = run_that_sees(tmp_path / "run", KINDS["bag"])
    export_model(str(run.folder), sentence_transformers=tmp_path / "st")
    with pytest.raises(ValueError, match="trust_remote_code"):
        library.SentenceTransformer(str(tmp_path / "st"), device="cpu")
    loaded = library.SentenceTransformer(str(tmp_path / "st"), device="cpu", trust_remote_code=True)
    model = Model.load(run.folder, "cpu")
    texts = [text for text in ASKED if text]
    assert np.abs(loaded.encode(texts) - model.encode_text(texts)).max() < 1e-5
    paths = sorted(photos.iterdir())[:3]
    pictures = [Image.open(path).convert("RGB") for path in paths]
    assert np.abs(loaded.encode(pictures) - model.encode_pictures(pictures)).max() < 1e-5
    assert "trust_remote_code=True" in (tmp_path / "st" / "README.md").read_text()
    assert loaded.get_sentence_embedding_dimension() == model.dimensions
    loaded.save_pretrained(str(tmp_path / "again"))
    again = library.SentenceTransformer(str(tmp_path / "again"), device="cpu", trust_remote_code=True)
    np.testing.assert_array_equal(again.encode(texts[:2]), loaded.encode(texts[:2]))


@pytest.mark.parametrize("kind", ["CLIP", "Siglip"])
def test_a_pretrained_pair_goes_with_both_sides(kind: str, tmp_path: Path, photos: Path) -> None:
    folder = save_pair(kind, tmp_path / "pair")
    export_model(str(folder), sentence_transformers=tmp_path / "st")
    loaded = library.SentenceTransformer(str(tmp_path / "st"), device="cpu")
    model = load(str(folder), device="cpu")
    assert np.abs(loaded.encode(PIECES) - model.encode_text(PIECES)).max() < 1e-5
    pictures = [Image.open(path).convert("RGB") for path in sorted(photos.iterdir())[:3]]
    seen = np.stack([loaded.encode(picture) for picture in pictures])
    alike = (seen * model.encode_pictures(pictures)).sum(axis=1) / np.linalg.norm(seen, axis=1)
    assert (alike > 0.99).all()  # torchvision, where it is there, resizes otherwise than Pillow for transformers


def test_a_text_encoder_of_the_library_goes_as_it_is(tmp_path: Path) -> None:
    words = ["dog", "hund", "house", "boat"]
    pair = pretrained_folders.save_pair(tmp_path / "pair", "CLIP", words)
    text = pretrained_folders.save_sentence_encoder(tmp_path / "text", words)
    export_model(str(pair), sentence_transformers=tmp_path / "st", text_model=str(text))
    loaded = library.SentenceTransformer(str(tmp_path / "st"), device="cpu")
    assert np.abs(loaded.encode(PIECES) - load(str(pair), str(text), "cpu").encode_text(PIECES)).max() < 1e-5
    modules = json.loads((text / "modules.json").read_text())
    (text / "modules.json").write_text(json.dumps([{**module, "name": None} for module in modules[::-1]]))
    with pytest.raises(UserError, match='begins with "Dense"'):
        export_model(str(pair), sentence_transformers=tmp_path / "again", text_model=str(text))
    (text / "modules.json").write_text(json.dumps([{k: v for k, v in one.items() if k != "name"} for one in modules]))
    with pytest.raises(UserError, match=r"text: sentence-transformers cannot open it \('name'\)"):
        export_model(str(pair), sentence_transformers=tmp_path / "again", text_model=str(text))
    assert not (tmp_path / "again").exists()


def test_the_text_encoder_of_m_clip_needs_nothing_of_ours(tmp_path: Path) -> None:
    words = ["dog", "hund", "house", "boat"]
    pair, text = pretrained_folders.save_pair(tmp_path / "pair", "CLIP", words), save_m_clip(tmp_path / "text", words)
    export_model(str(pair), tmp_path / "onnx", tmp_path / "st", text_model=str(text))
    loaded = library.SentenceTransformer(str(tmp_path / "st"), device="cpu")
    assert all(type(module).__module__.startswith("sentence_transformers.") for module in loaded)
    theirs = load(str(pair), str(text), "cpu").encode_text(PIECES)
    assert np.abs(loaded.encode(PIECES) - theirs).max() < 1e-5
    assert np.abs(OnnxModel.load(tmp_path / "onnx").encode_text(PIECES) - theirs).max() < 1e-5
    assert np.abs(theirs - theirs[0]).max() > 1e-2  # or equality would mean nothing


def test_what_is_there_is_never_written_over(tmp_path: Path) -> None:
    run = run_that_sees(tmp_path / "run", {"name": "vse", **WORDS})
    (tmp_path / "st").mkdir()
    (tmp_path / "st" / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="is there already"):
        export_model(str(run.folder), sentence_transformers=tmp_path / "st")
