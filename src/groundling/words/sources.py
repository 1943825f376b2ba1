"""Where a training gets its words from: vectors from files or captions, pairs from dictionaries, a map from both."""

import hashlib
import os
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from groundling.corpus import Corpus
from groundling.corpus.catalogue import DATA_VARIABLE
from groundling.errors import UserError
from groundling.files import cache_folder
from groundling.text.segmentation import normalise
from groundling.words import storage
from groundling.words.alignment import MapSettings, learn
from groundling.words.composition import compose
from groundling.words.dictionary import Pair, cover, identical, read_pairs, rows
from groundling.words.training import WordSettings, sentences, trained
from groundling.words.vectors import Matrix, WordVectors
from groundling.words.word_map import WordMap

MOST_WORDS = 200_000  # of a file: what the papers align with


def find_file(name: str, data: Path | None) -> Path:
    """A file as it is named, or below the data folder (`--data`, or $GROUNDLING_DATA)."""
    below = data or (Path(os.environ[DATA_VARIABLE]) if os.environ.get(DATA_VARIABLE) else None)
    tried = [Path(name).expanduser(), *([] if below is None else [below.expanduser() / name])]
    found = next((path for path in tried if path.is_file()), None)
    if found is None:
        raise UserError(f"{name}: no such file, neither here nor below the data folder (--data or {DATA_VARIABLE})")
    return found


def word_vectors(
    corpus: Corpus,
    language: str,
    settings: WordSettings,
    segmentation: str,
    file: Path | None = None,
    fold: bool = False,
) -> WordVectors:
    """From `file`, in lower case where captions are (`fold`), or trained on all training captions of the language."""
    if file is None:
        return trained(sentences(corpus, language, segmentation, settings.context), settings)
    vectors = _read(file, file.stat().st_mtime_ns, language if fold else None)
    if vectors.dimensions != settings.dimensions:
        raise UserError(
            f"{file}: has {vectors.dimensions} dimensions, and system.word_dimensions is {settings.dimensions}"
        )
    return vectors


@lru_cache(maxsize=2)
def _read(file: Path, changed: int, folded: str | None) -> WordVectors:
    """A table of trainings reads the same files dozens of times."""
    vectors = storage.read(file, MOST_WORDS)[0]
    return vectors if folded is None else vectors.folded(lambda word: normalise(word, folded))


def dictionary_pairs(
    dictionaries: list[Path] | Literal["identical"], source: WordVectors, target: WordVectors
) -> list[Pair]:
    """(source, target) pairs that both have vectors for; of two dictionaries those that meet in a third language."""
    if dictionaries == "identical":
        pairs = identical(source, target)
    else:
        pairs = read_pairs(dictionaries[0])[0]
        if len(dictionaries) == 2:
            pairs = compose(pairs, read_pairs(dictionaries[1])[0])
    found, coverage = cover(pairs, source, target)
    if len(found) < 2:
        if dictionaries == "identical":
            raise UserError(f"dictionary identical: {len(found)} words are written alike; name a file of word pairs")
        raise UserError(
            f"{' and '.join(map(str, dictionaries))}: {coverage.covered:,} of {coverage.pairs:,} pairs have vectors in "
            "both languages; is it a dictionary of these two, and in the same case?"
        )
    return found


def map_between(
    source: WordVectors, target: WordVectors, pairs: list[Pair], settings: MapSettings, device: torch.device
) -> Matrix:
    """M [d, d] from source to target by all these pairs, kept between runs.

    RCSLS looks at directions only and stretches as it goes; the map is made to keep the length of paired words, on
    average, which an encoder of the target language is used to.
    """
    numbers = rows(pairs, source, target)
    key = hashlib.sha256(settings.model_dump_json().encode())
    one, other = source.unit(), target.unit()
    for part in (one, other, numbers):
        key.update(np.ascontiguousarray(part).data)
    path = cache_folder() / "words" / f"map-{key.hexdigest()[:32]}.safetensors"
    if not path.exists():
        unit_source, unit_target, wanted = (torch.from_numpy(part).to(device) for part in (one, other, numbers))
        matrix, _ = learn(unit_source, unit_target, wanted, settings)
        lengths = np.linalg.norm(target.matrix[numbers[:, 1]], axis=1).mean()
        mapped = (unit_source[wanted[:, 0]] @ matrix.T).norm(dim=1).mean()
        scaled = matrix.cpu().numpy() * np.float32(lengths / float(mapped))
        WordMap(scaled, {"method": settings.method}).save(path)
    return WordMap.load(path).matrix
