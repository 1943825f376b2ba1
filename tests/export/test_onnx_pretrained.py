"""Pretrained pairs as ONNX: their own vectors by onnxruntime alone, whole or in fewer bits, with a card."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_pairs import ASKED, KINDS, save_pair

import groundling
from groundling.cli import main
from groundling.encoders.tokenisers import PieceTokeniser
from groundling.errors import UserError
from groundling.export import OnnxModel, samples
from groundling.export import precision as precision_of_weights
from groundling.export.card import UNKNOWN, languages, licence
from groundling.export.targets import export_model
from groundling.export.write_pretrained import export_pretrained
from groundling.model import load
from groundling.model.pretrained import PretrainedModel
from groundling.settings import CorpusSettings

pytest.importorskip("transformers")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")


@pytest.fixture(scope="module", params=KINDS)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[PretrainedModel, OnnxModel]:
    place = tmp_path_factory.mktemp(request.param)
    model: Any = load(str(save_pair(request.param, place / "pair")), device="cpu")
    export_pretrained(model, place / "pair.onnx")
    return model, OnnxModel.load(place / "pair.onnx")


def test_texts_and_picture_files_have_the_vectors_of_the_pair(pair: tuple[PretrainedModel, OnnxModel]) -> None:
    model, exported = pair
    files = samples.files()
    for ours, theirs in (
        (exported.encode_text(ASKED, [""] * len(ASKED)), model.encode_text(ASKED, [""] * len(ASKED))),
        (exported.encode_pictures(files), model.encode_pictures(files)),
    ):
        assert ours.shape == theirs.shape
        assert np.abs(ours - theirs).max() < 1e-5
        assert np.abs(theirs - theirs[0]).max() > 1e-3  # or equality would mean nothing
    assert (exported.kind, exported.asks_language) == ("pretrained", False)
    assert exported.fingerprint == model.fingerprint


def test_the_card_names_the_model_its_licence_and_how_to_load_it(pair: tuple[PretrainedModel, OnnxModel]) -> None:
    text = (pair[1].folder / "README.md").read_text()
    assert text.startswith("---\nlanguage: [en]\nlibrary_name: groundling\n")  # what its own card says that it reads
    assert f"- {pair[0].name}, licence: mit." in text
    assert 'OnnxModel.load("pair.onnx")' in text
    assert "Not evaluated here" in text


ALONE = """
import sys
from groundling.model import load
model = load(sys.argv[1])
model.encode_text(["a red picture"]), model.preparation
assert not {"torch", "transformers"} & set(sys.modules), sorted(sys.modules)
"""


def test_neither_torch_nor_transformers_is_loaded(pair: tuple[PretrainedModel, OnnxModel]) -> None:
    if pair[0].backbone == "clip":  # one of them is enough
        subprocess.run([sys.executable, "-c", ALONE, pair[1].folder], check=True)


@pytest.mark.parametrize(("precision", "bits"), [("fp16", "half"), ("int8", "int8")])
def test_fewer_bits_from_the_command_line(
    precision: str, bits: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precision_of_weights, "SMALL", 16)  # of so small a model all else would stay as it is
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))
    folder, corpus = save_pair("CLIP", tmp_path / "pair"), save_corpus(tmp_path / "drawn")
    model = load(str(folder), device="cpu")
    whole = model.dataset(CorpusSettings(name=str(corpus))).features  # kept from now on
    with pytest.raises(SystemExit) as ended:
        said = ["--onnx", str(tmp_path / "small"), "--precision", precision, "--corpus", str(corpus), "--json"]
        main(["-q", "export", str(folder), *said])
    assert ended.value.code == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["weights"], facts["source"]) == (bits, "pretrained")
    assert facts["fingerprint"].endswith(f"-{bits}")
    assert 1e-5 < facts["agreement"]["text"] < {"half": 1e-2, "int8": 1e-1}[bits]
    small = OnnxModel.load(tmp_path / "small")
    cosines = (model.encode_text(ASKED, [""] * len(ASKED)) * small.encode_text(ASKED, [""] * len(ASKED))).sum(axis=1)
    assert cosines.min() > 0.99
    # Recall is that of graphs in fewer bits on both sides: what the whole model saw is not taken for what they see.
    seen = small.dataset(CorpusSettings(name=str(corpus))).features
    assert 1e-6 < np.abs(seen - whole).max() < 0.1
    kept = facts["recall"]
    for number, (one, key) in enumerate(((model, "pytorch"), (small, "exported"))):
        found = groundling.evaluate(one, corpus=corpus, out=tmp_path / f"kept{number}").value("en", "mR")
        assert kept[key] == pytest.approx(found, abs=0.01)
    assert kept["corpus"] == "drawn"
    assert "Corpus drawn, test split: 4 captions, 4 pictures" in (tmp_path / "small" / "README.md").read_text()


def save_corpus(folder: Path) -> Path:
    folder.mkdir()
    rows = ["picture,language,text,split"]
    for number, data in enumerate(samples.files()):
        (folder / f"{number}.png").write_bytes(data)
        rows.append(f"{number}.png,en,{['a', 'red', 'picture', 'dog', 'hund', 'bild'][number]},test")
    (folder / "captions.csv").write_text("\n".join(rows))
    return folder


def test_a_corpus_that_is_not_there_is_told_before_anything_is_written(tmp_path: Path) -> None:
    folder = save_pair("CLIP", tmp_path / "pair")
    with pytest.raises(UserError, match='no corpus, file or folder named "nowhere"'):
        export_model(str(folder), onnx=tmp_path / "small", corpus="nowhere")
    assert not (tmp_path / "small").exists()


@pytest.mark.parametrize(
    ("head", "said", "read"),
    [
        ("license: mit\nlanguage:\n- en\n- no\n- multilingual\n- zh-Hant", "mit", ["en", "no", "zh-Hant"]),
        ("license: other\nlicense_name: gemma", "gemma", []),
        ("a: [", UNKNOWN, []),
        ("tags: [x]\nlanguage: de", UNKNOWN, ["de"]),
    ],
)
def test_what_a_card_says_of_licence_and_languages(head: str, said: str, read: list[str], tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(f"---\n{head}\n---\n# A model\n\nlicense: none of it\n")
    assert (licence(tmp_path), languages(tmp_path)) == (said, read)
    assert licence(None) == UNKNOWN
    assert licence(None, "google/siglip2-base-patch16-224") == "Apache-2.0"  # as `groundling models` knows


def test_the_sentencepiece_model_of_siglip_is_read_as_rules(tmp_path: Path) -> None:
    """As published: spiece.model, and code of transformers that drops punctuation."""
    import tiny_pairs
    from groundling.model.processor_settings import rules_of

    theirs = tiny_pairs.siglip_tokeniser(tmp_path)
    ours = PieceTokeniser.from_json({"rules": rules_of(theirs, "siglip"), "longest": 64})
    asked = [
        "a red dog",
        "",
        " a  b ",
        "a picture, of!",
        "x" * 200,
        "rotes_bild",
        "dog " * 90,
        "ﬁ ㍿",
        *samples.FOREIGN,
    ]
    for text in [text.lower() for text in asked]:
        tokens = ours.encode([text], [""])
        expected = theirs(text, truncation=True, max_length=64)["input_ids"]
        assert tokens.ids[0, : tokens.lengths[0]].tolist() == expected, text


def test_folders_that_are_not_whole_are_sentences(tmp_path: Path) -> None:
    folder = save_pair("CLIP", tmp_path / "pair")
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(UserError, match=r"model\.safetensors: damaged .*; fetch it again"):
        _ = load(str(folder)).picture_fingerprint
    (folder / "model.safetensors").write_bytes(weights)
    for path in folder.glob("tokenizer*"):
        path.unlink()
    with pytest.raises(UserError, match=r"has no tokeniser \(tokenizer\.json, .*fetch all of its files"):
        load(str(folder)).encode_text(["a dog"])  # and not by one that knows no word
    (folder / "model.safetensors").unlink()
    with pytest.raises(UserError, match="has no weights in safetensors"):
        load(str(folder))
    (folder / "config.json").write_text('{"model_type": "M-CLIP"}')
    with pytest.raises(UserError, match="it is a text side alone"):
        load(str(folder))


def test_a_processor_of_another_kind_is_refused_in_a_sentence(tmp_path: Path) -> None:
    folder = save_pair("Siglip", tmp_path / "pair")
    path = folder / "preprocessor_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "rescale_factor": 0.01}))
    with pytest.raises(UserError, match="cuts pictures in a way of its own"):
        export_pretrained(load(str(folder), device="cpu"), tmp_path / "out")
    assert not (tmp_path / "out").exists()
