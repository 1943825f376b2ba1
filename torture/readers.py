"""Everything that reads files of others, each with a whole file of its kind: what is mutated, and how it is read.

Where a manifest vouches for files, it is made to vouch for the mutated ones, too: otherwise checksums would refuse all
of them, and nothing behind them would be tried.
"""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from groundling.errors import UserError
from groundling.files import with_checksum
from torture import bombs
from torture.workshop import Workshop


@dataclass(frozen=True)
class Reader:
    """Attributes:
    file: below the folder that `prepare` has made; it is replaced by a mutated one.
    read: reads it, given the folder.
    vouch: makes what vouches for the file vouch for it as it is now.
    """

    file: str
    read: Callable[[Path], object]
    vouch: Callable[[Path], None] = lambda folder: None


def prepare(shop: Workshop, folder: Path) -> None:
    """A whole file of each kind."""
    shutil.copytree(shop.folder / "shapes", folder / "table")
    for name in ("corpus", "run", "index", "onnx"):
        if (shop.folder / name).exists():
            shutil.copytree(shop.folder / name, folder / name)
    for name in ("run/checksums.json", "onnx/checksums.json"):
        (folder / name).unlink(missing_ok=True)
    rows = [line.split(",") for line in (folder / "table" / "captions.csv").read_text(encoding="utf-8").splitlines()]
    jsonl = folder / "jsonl"
    shutil.copytree(folder / "table" / "png", jsonl / "png")
    shutil.copy(shop.folder / "captions.jsonl", jsonl / "captions.jsonl")
    parquet(folder, jsonl)
    known = [f"{row[2]} number {number}" for number, row in enumerate(rows[1:])]
    (folder / "pairs.tsv").write_text("en\tde\n" + "".join(f"{one}\t{one[::-1]}\n" for one in known))
    units = "".join(TMX_UNIT.format(en=one, de=one[::-1]) for one in known)
    (folder / "pairs.tmx").write_text(TMX.format(units=units), encoding="utf-8")
    lines = [json.dumps({"en": one, "de": one[::-1]}) for one in known]
    (folder / "pairs.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "recipe.yaml").write_text((shop.folder / "recipe.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    words(folder)
    np.save(folder / "features.npy", np.random.default_rng(0).standard_normal((48, 8)).astype(np.float32))
    (folder / "names.txt").write_text("".join(f"{number}.png\n" for number in range(48)))
    for name, kind in PICTURES.items():
        (folder / name).write_bytes(bombs.photograph(kind=kind, **({"progressive": True} if name == "b.jpg" else {})))


PICTURES = {
    "a.jpg": "JPEG",
    "b.jpg": "JPEG",
    "a.png": "PNG",
    "a.webp": "WEBP",
    "a.gif": "GIF",
    "a.tiff": "TIFF",
    "a.bmp": "BMP",
}
TMX = '<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body>{units}</body></tmx>'
TMX_UNIT = '<tu><tuv xml:lang="en"><seg>{en}</seg></tuv><tuv xml:lang="de"><seg>{de}</seg></tuv></tu>'


def parquet(folder: Path, jsonl: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = folder / "parquet"
    shutil.copytree(jsonl / "png", place / "png")
    rows = [json.loads(line) for line in (jsonl / "captions.jsonl").read_text(encoding="utf-8").splitlines()]
    pq.write_table(pa.Table.from_pylist(rows), place / "captions.parquet")


def words(folder: Path) -> None:
    from groundling.words import Subwords, WordVectors, storage

    chance = np.random.default_rng(0)
    names = tuple(f"word{number}" for number in range(60))
    subwords = Subwords(chance.standard_normal((30, 8)).astype(np.float32), 2, 3, 30)
    vectors = WordVectors(names, chance.standard_normal((60, 8)).astype(np.float32), subwords)
    for name in ("words.vec", "words.safetensors"):
        storage.write(folder / name, vectors)
    (folder / "dictionary.txt").write_text("".join(f"{one} @ {one[::-1]}\n" for one in names))


def table(folder: Path) -> object:
    from groundling.corpus import catalogue

    return catalogue.load(str(folder))


def corpus(folder: Path) -> object:
    from groundling.corpus import storage

    return storage.load(folder / "corpus")


def pairs(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        from groundling.corpus.pairs import PairStore
        from groundling.corpus.pairs.row import Wanted

        return PairStore.open(folder / name, Wanted(("de",), "en", ("en",))).split("train")

    return read


def recipe(folder: Path) -> object:
    from groundling import recipes

    return recipes.resolve(str(folder / "recipe.yaml"), {})


def run(folder: Path) -> object:
    from groundling.model.trained import TrainedModel

    return TrainedModel.load(folder / "run", "cpu").encode_text(["a red square"], "en")


def results(folder: Path) -> object:
    from groundling.evaluation.compare import compare
    from groundling.run import Run

    return compare(Run(folder / "run"), Run(folder / "run"))


def index(folder: Path) -> object:
    from groundling.search import Index

    opened = Index.open(folder / "index")
    return opened.nearest(np.ones((1, opened.manifest.model.dimensions), dtype=np.float32), 5)


def onnx(folder: Path) -> object:
    from groundling.export import OnnxModel

    return OnnxModel.load(folder / "onnx").encode_text(["a red square"], "en")


def word_vectors(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        from groundling.words import storage

        return storage.read(folder / name, 1000)

    return read


def dictionary(folder: Path) -> object:
    from groundling.words.dictionary import read_pairs

    return read_pairs(folder / "dictionary.txt")


def array(folder: Path) -> object:
    from groundling.vision.features import load_precomputed

    features, _ = load_precomputed(folder / "features.npy", folder / "names.txt")
    return np.asarray(features).sum()


def picture(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        from groundling.decoding.structure import PictureError
        from groundling.decoding.workers import shared
        from groundling.vision.preprocessing import Preprocessing

        try:
            return shared().array((folder / name).read_bytes(), Preprocessing(32))
        except PictureError as error:
            raise UserError(str(error)) from None

    return read


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def manifest_of(path: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    values.pop("checksum", None)
    return values


def vouch_corpus(folder: Path) -> None:
    path = folder / "corpus" / "corpus.json"
    card = manifest_of(path)
    card["sha256"] = {name: digest(path.parent / name) for name in card["sha256"]}
    path.write_text(json.dumps(with_checksum(card)), encoding="utf-8")


def vouch_index(folder: Path) -> None:
    path = folder / "index" / "manifest.json"
    manifest = manifest_of(path)
    for part in ("entries", "vectors"):
        manifest[part]["sha256"] = digest(path.parent / manifest[part]["name"])
    path.write_text(json.dumps(with_checksum(manifest)), encoding="utf-8")


def vouch_onnx(folder: Path) -> None:
    path = folder / "onnx" / "manifest.json"
    manifest = manifest_of(path)
    for reader in manifest["readers"]:
        for part in ("tokeniser", "text"):
            reader[part]["sha256"] = digest(path.parent / reader[part]["name"])
    path.write_text(json.dumps(with_checksum(manifest)), encoding="utf-8")


def no_checksum(name: str) -> Callable[[Path], None]:
    """What a file says of itself is taken out of it, where it is still JSON."""

    def vouch(folder: Path) -> None:
        path = folder / name
        try:
            values = json.loads(path.read_bytes())
            values.pop("checksum", None)
            path.write_text(json.dumps(values), encoding="utf-8", errors="surrogatepass")
        except (ValueError, AttributeError, RecursionError):
            pass

    return vouch


def readers(folder: Path) -> dict[str, Reader]:
    """Name → reader, of what is there."""
    made = {
        "captions.csv": Reader("table/captions.csv", lambda folder: table(folder / "table")),
        "captions.jsonl": Reader("jsonl/captions.jsonl", lambda folder: table(folder / "jsonl")),
        "captions.parquet": Reader("parquet/captions.parquet", lambda folder: table(folder / "parquet")),
        "corpus: card": Reader("corpus/corpus.json", corpus, no_checksum("corpus/corpus.json")),
        "corpus: table": Reader("corpus/captions.parquet", corpus, vouch_corpus),
        "sentence pairs, TSV": Reader("pairs.tsv", pairs("pairs.tsv")),
        "sentence pairs, JSONL": Reader("pairs.jsonl", pairs("pairs.jsonl")),
        "sentence pairs, TMX": Reader("pairs.tmx", pairs("pairs.tmx")),
        "recipe": Reader("recipe.yaml", recipe),
        "word vectors, text": Reader("words.vec", word_vectors("words.vec")),
        "word vectors, safetensors": Reader("words.safetensors", word_vectors("words.safetensors")),
        "dictionary": Reader("dictionary.txt", dictionary),
        "features": Reader("features.npy", array),
        "run: recipe": Reader("run/recipe.json", run),
        "run: tokeniser": Reader("run/tokeniser.json", run),
        "run: weights": Reader("run/best.safetensors", run),
        "run: facts": Reader("run/run.json", run),
        "run: results": Reader("run/evaluation.json", results),
        "run: ranks": Reader("run/ranks.safetensors", results),
        "index: manifest": Reader("index/manifest.json", index, no_checksum("index/manifest.json")),
        "onnx: manifest": Reader("onnx/manifest.json", onnx, no_checksum("onnx/manifest.json")),
        "onnx: tokeniser": Reader("onnx/tokeniser.json", onnx, vouch_onnx),
        "onnx: graph": Reader("onnx/text.onnx", onnx, vouch_onnx),
        **{f"picture: {name}": Reader(name, picture(name)) for name in PICTURES},
    }
    for part in ("entries", "vectors"):
        for path in (folder / "index").glob(f"{part}-*"):
            made[f"index: {part}"] = Reader(f"index/{path.name}", index, vouch_index)
    return {name: reader for name, reader in made.items() if (folder / reader.file).exists()}
