"""Runs that began as a pretrained pair, tuned or taught: what leaves by any door has the run's own vectors."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_immich import Service

import groundling
from groundling.corpus import Corpus, save
from groundling.errors import UserError
from groundling.export import OnnxModel, samples
from groundling.export import precision as precision_of_weights
from groundling.export.targets import export_model
from groundling.model import Model
from pretrained_folders import save_pair
from tiny_networks import save_bert

pytest.importorskip("transformers")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

ENGLISH, GERMAN = ["dog", "cat", "house", "boat", "sun"], ["hund", "katze", "haus", "boot", "sonne"]
WORDS = [*ENGLISH, *GERMAN]
ASKED = ["dog cat", "", "hund", "DOG", "house boat sun " * 9, "etwas anderes, 小犬"]
TEACHING = {"ours": "encoder", "of the hub": "hub:bert", "lora of its own": "own", "all of its own": "own:full"}
TUNING: dict[str, dict[str, Any]] = {
    "linear": {"text": {"adapter": "linear"}, "picture": {"adapter": "linear"}},
    "lora": {"text": {"adapter": "lora", "rank": 2}, "picture": {"adapter": "lora", "rank": 2}},
    "full": {"text": {"adapter": "full"}, "picture": {"adapter": "full"}},
}


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pair, a BERT, sentence pairs and a corpus of a few pictures; what was taught or tuned comes beside them."""
    folder = tmp_path_factory.mktemp("pairs")
    save_pair(folder / "pair", "CLIP", WORDS)
    (folder / "pair" / "README.md").write_text("---\nlicense: mit\n---\n# A tiny pair\n")
    settings = save_bert(folder / "bert", WORDS) / "tokenizer_config.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "model_max_length": 40}))  # its positions
    draw = np.random.default_rng(0)
    chosen = [draw.integers(0, 5, 3) for _ in range(120)]
    lines = [f"{' '.join(ENGLISH[n] for n in row)}\t{' '.join(GERMAN[n] for n in row)}" for row in chosen]
    (folder / "pairs.tsv").write_text("en\tde\n" + "\n".join(lines))
    (folder / "drawings").mkdir()
    rows = []
    for number, data in enumerate(samples.files() * 6):
        (folder / "drawings" / f"{number}.png").write_bytes(data)
        split = "train" if number < 12 else "dev" if number < 18 else "test"
        rows.append({"picture": f"{number}.png", "language": "en", "text": ENGLISH[number % 5], "split": split})
    save(Corpus.of(rows, folder / "drawings", "drawings"), folder / "corpus")
    return folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))


def run_of(ground: Path, kind: str) -> Path:
    """A run of this kind, made once; the pair itself is not looked at any more."""
    folder = ground / kind.replace(" ", "-")
    if folder.exists():
        return folder
    if "lora" in kind:
        pytest.importorskip("peft")
    if kind in TEACHING:
        student = TEACHING[kind].replace("bert", str(ground / "bert"))
        options: dict[str, Any] = {"steps": 2, "learning_rate": 0.05, "device": "cpu", "show_progress": False}
        groundling.teach(ground / "pair", "de", ground / "pairs.tsv", folder, student=student, **options)
        return folder
    training = {"batch_size": 6, "learning_rate": 0.05, "maximum_steps": 2, "validate_every": 2}
    system = {"name": "tuned", "start": str(ground / "pair"), **TUNING[kind]}
    groundling.train(
        corpus=ground / "corpus", system=system, out=folder, training=training, device="cpu", show_progress=False
    )
    return folder


@pytest.mark.parametrize("kind", [*TEACHING, *TUNING])
def test_onnxruntime_alone_has_the_vectors_of_the_run(kind: str, ground: Path, tmp_path: Path) -> None:
    run = run_of(ground, kind)
    manifest = export_model(str(run), onnx=tmp_path / "onnx").manifest
    model, exported = Model.load(run, "cpu"), OnnxModel.load(tmp_path / "onnx")
    files = samples.files()
    for code in ("en", "de"):
        ours, theirs = exported.encode_text(ASKED, code), model.encode_text(ASKED, code)
        assert np.abs(ours - theirs).max() < 1e-5
        assert np.abs(theirs - theirs[0]).max() > 1e-3  # or equality would mean nothing
    seen = exported.encode_pictures(files)
    assert np.abs(seen - model.encode_pictures(files)).max() < 1e-5
    pair = Model.load(ground / "pair", "cpu")
    changed = np.abs(pair.encode_text(ASKED, "de") - model.encode_text(ASKED, "de")).max()
    assert changed > 1e-4  # of the run, not of the pair that it began as
    assert (exported.picture_fingerprint == pair.picture_fingerprint) is (kind in TEACHING)
    assert manifest is not None and manifest.languages == model.languages
    assert (manifest.fingerprint, exported.kind) == (model.fingerprint, "run")
    assert f"{ground / 'pair'}, licence: mit." in (tmp_path / "onnx" / "README.md").read_text()
    if kind == "ours":
        code = "import sys; from groundling.model import load; load(sys.argv[1]).encode_text(['hund'], 'de')\n"
        alone = f"{code}assert not {{'torch', 'transformers'}} & set(sys.modules)"
        subprocess.run([sys.executable, "-c", alone, tmp_path / "onnx"], check=True)


@pytest.mark.parametrize("precision", ["half", "int8"])
def test_fewer_bits_keep_so_much_recall(
    precision: Any, ground: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precision_of_weights, "SMALL", 16)  # of so small a model all else would stay as it is
    run = shutil.copytree(run_of(ground, "linear"), tmp_path / "run")
    mean = groundling.evaluate(run, device="cpu").value("en", "mR")
    manifest = export_model(str(run), onnx=tmp_path / "onnx", precision=precision).manifest
    assert manifest is not None and manifest.recall is not None
    assert manifest.recall.pytorch == pytest.approx(mean, abs=0.01)
    assert 1e-6 < manifest.agreement.text < {"half": 1e-2, "int8": 1e-1}[precision]
    exported = OnnxModel.load(tmp_path / "onnx")
    cosines = (exported.encode_text(ASKED, "en") * Model.load(run, "cpu").encode_text(ASKED, "en")).sum(axis=1)
    assert cosines.min() > 0.99


@pytest.mark.parametrize("kind", ["lora of its own", "full"])
def test_immich_reads_a_run_with_one_reader(kind: str, ground: Path, tmp_path: Path) -> None:
    run = run_of(ground, kind)
    export_model(str(run), immich=tmp_path / "immich")
    model, service, files = Model.load(run, "cpu"), Service(tmp_path / "immich"), samples.files()
    texts = np.stack([service.text(text) for text in ASKED])[:, : model.dimensions]
    assert np.abs(texts - model.encode_text(ASKED, "en")).max() < 1e-5
    seen = np.stack([service.picture(data) for data in files])[:, : model.dimensions]
    assert np.abs(seen - model.encode_pictures(files)).max() < 1e-4


def test_immich_cannot_know_which_of_two_readers_to_ask(ground: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has another reader for languages that it was taught later"):
        export_model(str(run_of(ground, "ours")), immich=tmp_path / "immich")
    assert not (tmp_path / "immich").exists()


@pytest.mark.parametrize("kind", ["of the hub", "all of its own"])
def test_sentence_transformers_loads_it_with_text_and_pictures(kind: str, ground: Path, tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    run = run_of(ground, kind)
    export_model(str(run), sentence_transformers=tmp_path / "st")
    loaded = library.SentenceTransformer(str(tmp_path / "st"), device="cpu", trust_remote_code=True)
    model = Model.load(run, "cpu")
    texts = ["dog cat", "hund katze", "house boat"]
    assert np.abs(loaded.encode(texts) - model.encode_text(texts)).max() < 1e-5
    modules = json.loads((tmp_path / "st" / "modules.json").read_text())
    assert [module["type"].rsplit(".", 1)[1] for module in modules] == ["GroundlingModule"]
