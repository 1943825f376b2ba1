"""What `groundling demo` left, made searchable: all emoji, and their names in fifteen languages as captions."""

from pathlib import Path

from groundling.checksums import sha256
from groundling.corpus import Corpus
from groundling.dataset import load_corpus
from groundling.errors import UserError
from groundling.model import Model, Vectors, load
from groundling.run import Run
from groundling.search import Index, index_captions, index_pictures, manifest

PICTURES, CAPTIONS = "pictures.index", "captions.index"


def demo_indexes(folder: Path, device: str = "auto") -> tuple[Path, Path]:
    """The indexes of the pictures and the captions of a demo, inside its run; built where they are not there yet.

    A demo that is made anew begins with an empty folder, so that they never belong to another model.
    """
    run = Run(folder)
    if not run.recipe_file.exists() or not run.weights_file.exists():
        raise UserError(f"no index was named, and there is no demo in {folder}; run `groundling demo` first")
    pictures, captions = folder / PICTURES, folder / CAPTIONS
    if _whole(pictures) and _whole(captions):
        return pictures, captions
    corpus = load_corpus(run.recipe().corpus)  # draws the emoji that are missing
    if corpus.root is None:
        raise UserError(f"{folder}: this run is not of the demo; build an index with `groundling index` and serve that")
    there = (pictures / manifest.FILE).exists()
    known = {} if there else _known(corpus, load(str(folder), device=device))
    index_pictures(corpus.root, pictures, str(folder), update=there, device=device, known=known)
    index_captions(names(corpus), captions, str(folder), update=(captions / manifest.FILE).exists(), device=device)
    return pictures, captions


def names(corpus: Corpus) -> list[tuple[str, str]]:
    """The first caption of each picture in each language, which of an emoji is its name; the others are keywords.

    They describe a picture worse than the name does, and to read all of them would make the first start wait.
    """
    first: dict[tuple[int, str], str] = {}
    for owner, code, text in zip(corpus.owners.tolist(), corpus.languages.tolist(), corpus.texts, strict=True):
        first.setdefault((owner, code), text)
    return [(text, code) for (_, code), text in first.items()]


def _known(corpus: Corpus, model: Model) -> dict[str, Vectors]:
    """The vector of each picture by its content, made of the features that training has computed and kept."""
    paths = [(corpus.root or Path()) / name for name in corpus.pictures.tolist()]
    return {sha256(path): vector for path, vector in zip(paths, model.encode_pictures(paths), strict=True)}


def _whole(place: Path) -> bool:
    """Whether an index is finished and its pictures are still there: a cache may be emptied."""
    if not (place / manifest.FILE).exists():
        return False
    root = Index.open(place).root
    return root is None or (root.is_dir() and any(root.iterdir()))
