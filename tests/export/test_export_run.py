"""A run as ONNX: the same vectors, the same search, no torch; nothing half, nothing damaged, nothing by surprise."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import exported
import numpy as np
import pytest
from exported import ASKED, KINDS, TEMPERATURE, languages_for, run_that_sees, small_backbone_known

import groundling
from conftest import make_world
from groundling.cli import main
from groundling.encoders.text import bag
from groundling.errors import UserError
from groundling.export import OnnxModel
from groundling.export import manifest as manifests
from groundling.export.precision import reduced
from groundling.export.write import export_run
from groundling.model import Model
from groundling.model.fingerprint import run_fingerprint
from groundling.run import Run
from groundling.search import Index, index_pictures
from power_cut import kill_9

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

seeing, photos = exported.seeing, exported.photos
SOURCE = Path(groundling.__file__).parent.parent


@pytest.fixture(scope="module", autouse=True)
def backbone() -> Iterator[None]:
    with small_backbone_known():
        yield


@pytest.fixture(scope="module")
def run(seeing: Run) -> Run:
    return seeing


@pytest.fixture(scope="module")
def folder(seeing: Run) -> Path:
    return seeing.folder.parent / "exported"


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def test_texts_features_and_pictures_have_the_vectors_of_the_run(run: Run, folder: Path, photos: Path) -> None:
    model, exported = Model.load(run.folder, "cpu"), OnnxModel.load(folder)
    codes, paths = languages_for(ASKED), sorted(photos.iterdir())
    pairs = [
        (exported.encode_text(ASKED, codes), model.encode_text(ASKED, codes)),
        (exported.encode_text(ASKED, codes, batch_size=3), model.encode_text(ASKED, codes)),
        (exported.encode_features(make_world().features), model.encode_features(make_world().features)),
        (exported.encode_pictures(paths), model.encode_pictures(paths)),
    ]
    for ours, theirs in pairs:
        assert ours.dtype == np.float32
        assert np.abs(ours - theirs).max() < 1e-5
    assert exported.encode_text([], []).shape == exported.encode_pictures([]).shape == (0, 64)


def test_what_was_measured_is_in_the_manifest(folder: Path) -> None:
    facts = json.loads((folder / "manifest.json").read_text())
    assert facts["agreement"]["tolerance"] == 1e-4
    assert all(facts["agreement"][part] < 1e-5 for part in ("text", "picture", "backbone"))
    assert facts["agreement"]["text"] > 0  # it was measured
    assert (facts["recipe"], facts["system"], facts["languages"]) == ("tiny", "clip_ve", ["de", "en"])
    for stored in (facts["readers"][0]["text"], facts["readers"][0]["tokeniser"], facts["picture"], facts["backbone"]):
        data = (folder / stored["name"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == stored["sha256"]
        assert b".py" not in data  # nothing about the machine that it was exported on
        assert str(SOURCE).encode() not in data


def test_an_index_is_the_same_with_the_run_and_with_its_export(
    run: Run, folder: Path, photos: Path, tmp_path: Path
) -> None:
    pytest.importorskip("faiss")
    for name, model in (("theirs", run.folder), ("ours", folder)):
        index_pictures(photos, tmp_path / name, str(model))
    opened = {
        "run, run": Index.open(tmp_path / "theirs"),
        "run, export": Index.open(tmp_path / "theirs", model=str(folder)),
        "export, export": Index.open(tmp_path / "ours"),
    }
    for query in ("dog", "katze", "собака"):
        found = {name: index.search(query, k=12, language="en") for name, index in opened.items()}
        paths = {name: [one.path for one in some] for name, some in found.items()}  # type: ignore[union-attr]
        assert len({tuple(some) for some in paths.values()}) == 1
        scores = np.array([[one.score for one in some] for some in found.values()])
        assert np.abs(scores - scores[0]).max() < 1e-5
    like = [[one.path for one in index.like(photos / "3.png", k=4)] for index in opened.values()]  # type: ignore[union-attr]
    assert like[0] == like[1] == like[2]
    assert like[0][0] == "3.png"


def test_a_prediction_is_the_same(run: Run, folder: Path, photos: Path) -> None:
    model, exported = Model.load(run.folder, "cpu"), OnnxModel.load(folder)
    pictures = sorted(photos.iterdir())
    texts = ASKED[: len(pictures)]
    ours = exported.judge(texts, pictures, languages_for(texts))
    assert exported.judges
    assert np.abs(ours - model.judge(texts, pictures, languages_for(texts))).max() < 1e-5
    assert np.allclose(ours.sum(axis=1), 1, atol=1e-5)
    assert ours.std(axis=0).max() > 1e-3  # or equality would mean nothing
    assert OnnxModel.load(folder).judge([], [], "en").shape == (0, 3)


def test_the_temperature_is_in_the_graph(run: Run, folder: Path) -> None:
    """Whoever runs the graph without us gets the same probabilities from its logits."""
    model, exported = Model.load(run.folder, "cpu"), OnnxModel.load(folder)
    assert model.temperature == TEMPERATURE
    texts, features = ["dog", "cat", "hund"], make_world().features[:3]
    plain = model.entailment_logits(texts, features, "en")
    vectors = {"sentences": model.encode_text(texts, "en"), "pictures": model.encode_features(features)}
    session = onnxruntime.InferenceSession(folder / "verdict.onnx")
    assert np.abs(session.run(None, vectors)[0] - plain / TEMPERATURE).max() < 1e-5
    asked = exported.judge_features(texts, features, "en")
    assert (asked.argmax(axis=1) == plain.argmax(axis=1)).all()


def test_a_model_for_retrieval_says_that_it_cannot_judge(copy: Path) -> None:
    change(copy / "manifest.json", verdict=None, system="vse")
    exported = OnnxModel.load(copy)
    assert not exported.judges
    with pytest.raises(UserError, match="system vse cannot tell whether a sentence is true"):
        exported.judge_features(["dog"], make_world().features[:1], "en")


def test_half_precision_is_half_the_size_and_nearly_the_same(folder: Path) -> None:
    from onnxruntime import InferenceSession

    whole = (folder / "text.onnx").read_bytes()
    half = reduced(whole, "half")
    assert len(half) < 0.65 * len(whole)
    given = {"ids": np.array([[4, 5, 6], [7, 8, 0]], dtype=np.int32), "lengths": np.array([3, 2])}
    found = [InferenceSession(data).run(None, given)[0] for data in (whole, half)]
    assert 1e-6 < np.abs(found[0] - found[1]).max() < 1e-2


def change(path: Path, **values: Any) -> None:
    facts = {**json.loads(path.read_text()), **values}
    facts.pop("checksum", None)
    path.write_text(json.dumps(facts))


def vouch(folder: Path) -> None:
    """As somebody would who changes files and their checksums alike."""
    facts = json.loads((folder / "manifest.json").read_text())
    for stored in (facts["readers"][0]["text"], facts["readers"][0]["tokeniser"]):
        stored["sha256"] = hashlib.sha256((folder / stored["name"]).read_bytes()).hexdigest()
    facts.pop("checksum", None)
    (folder / "manifest.json").write_text(json.dumps(facts))


@pytest.mark.parametrize("name", ["text.onnx", "tokeniser.json", "picture.onnx", "backbone.onnx"])
def test_a_changed_or_missing_file_is_named(copy: Path, photos: Path, name: str) -> None:
    path = copy / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(UserError, match=rf"{name}: damaged \(not the file that manifest.json describes\)"):
        OnnxModel.load(copy).encode_pictures([photos / "1.png"])
    path.unlink()
    with pytest.raises(UserError, match=rf"{name}: no such file; the exported model is not whole"):
        OnnxModel.load(copy).encode_pictures([photos / "1.png"])


def test_a_manifest_that_is_none_is_said_in_one_sentence(copy: Path, tmp_path: Path) -> None:
    path = copy / "manifest.json"
    change(path)
    whole = path.read_text()
    for text, sentence in (
        (whole[:-20], "not valid JSON"),
        ("[]", "not an exported model"),
        (json.dumps({"format": 1, "entries": {}}), "manifest.json is that of an index"),
        (whole.replace('"format": 1', '"format": 9'), "format 9, and this groundling reads 1"),
        (whole.replace('"dimensions"', '"dimension"'), 'setting "dimensions" is missing'),
        (whole.replace('"text.onnx"', '"../text.onnx"'), "readers.0.text.name"),
    ):
        path.write_text(text)
        with pytest.raises(UserError, match=sentence):
            OnnxModel.load(copy)
    with pytest.raises(UserError, match=r"no manifest\.json"):
        OnnxModel.load(tmp_path / "nowhere")


def test_one_bit_of_the_manifest_is_noticed_or_changes_nothing(copy: Path) -> None:
    path = copy / "manifest.json"
    whole, real = path.read_bytes(), manifests.read(copy)
    for place in range(0, len(whole), max(1, len(whole) // 200)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            assert manifests.read(copy) == real  # a space between two words of JSON
        except UserError as error:
            assert "\n" not in str(error)


def test_a_graph_that_is_none_or_reads_other_files_is_refused(copy: Path) -> None:
    path = copy / "text.onnx"
    graph = onnx.load(path)
    path.write_bytes(b"not a graph")
    vouch(copy)
    with pytest.raises(UserError, match=r"text.onnx: onnxruntime cannot read it"):
        OnnxModel.load(copy)
    onnx.save(graph, path, save_as_external_data=True, location="secret.bin", size_threshold=0)
    vouch(copy)
    with pytest.raises(UserError, match=r"text.onnx: keeps weights in other files"):
        OnnxModel.load(copy)


@pytest.mark.parametrize("saved", ["[]", "{}", '{"kind": "words"}', '{"kind": "spells"}', "nothing"])
def test_a_tokeniser_that_is_none_is_refused(copy: Path, saved: str) -> None:
    (copy / "tokeniser.json").write_text(saved)
    vouch(copy)
    with pytest.raises(UserError, match=r"tokeniser.json: not a tokeniser that this groundling knows"):
        OnnxModel.load(copy)


def test_what_is_there_is_never_written_over(
    run: Run, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (folder / "manifest.json").read_bytes()
    for taken in (folder, folder / "manifest.json"):
        with pytest.raises(UserError, match="is there already"):
            export_run(run.folder, taken)
    assert (folder / "manifest.json").read_bytes() == before
    with pytest.raises(SystemExit) as ended:
        main(["export", str(tmp_path), "--onnx", str(tmp_path / "new")])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def blind(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Trained on features that somebody else computed."""
    given = {"array": "features.npy", "names": "names.txt"}
    return run_that_sees(tmp_path_factory.mktemp("blind") / "run", KINDS["bag"], **given)


def test_graphs_that_disagree_with_pytorch_are_not_kept(
    blind: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bag.BagGraph, "forward", lambda one, ids, lengths: one.project(one.pieces(ids).sum(dim=1)))
    with pytest.raises(UserError, match=r"for text differs from PyTorch's by .*; nothing was written"):
        export_run(blind.folder, tmp_path / "wrong")
    assert not list(tmp_path.iterdir())


def test_a_model_in_half_precision_says_so_and_is_another_model(
    blind: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--quiet", "export", str(blind.folder), "--onnx", str(tmp_path / "half"), "--half", "--json"])
    assert ended.value.code == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["weights"], facts["agreement"]["tolerance"]) == ("half", 1e-2)
    assert facts["fingerprint"] == f"{run_fingerprint(blind, blind.recipe().features)}-half"
    codes = languages_for(ASKED)
    ours = OnnxModel.load(tmp_path / "half").encode_text(ASKED, codes)
    theirs = Model.load(blind.folder, "cpu").encode_text(ASKED, codes)
    assert 1e-6 < np.abs(ours - theirs).max() < 1e-2


KILLED = """
import sys, time
from pathlib import Path
from exported import small_backbone_known
from groundling.export import write
def wait(*_):
    Path(sys.argv[3]).touch()
    time.sleep(60)
write.measured = wait
with small_backbone_known():
    write.export_run(sys.argv[1], sys.argv[2])
"""


def test_a_killed_export_leaves_no_folder_and_can_be_made_again(
    blind: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, reached = tmp_path / "exported", tmp_path / "reached"
    here = Path(__file__).parent
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, blind.folder, target, reached],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (SOURCE, here, here.parent)))},
    )
    kill_9(child, reached.exists)
    assert not target.exists()
    with pytest.raises(SystemExit) as ended:
        main(["--quiet", "export", str(blind.folder), "--onnx", str(target), "--json"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["agreement"]["text"] < 1e-5
    exported = OnnxModel.load(target)
    assert exported.encode_text(["dog"], "en").shape == exported.encode_features(make_world().features[:1]).shape
    with pytest.raises(UserError, match="trained on a precomputed array"):
        exported.encode_pictures(["dog.png"])
