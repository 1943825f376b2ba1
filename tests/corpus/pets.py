"""Four pictures with captions in two languages, some of them the same."""

from pathlib import Path

import numpy as np

from groundling.corpus import Corpus

CAPTIONS = [  # picture, language, text, origin
    ("a", "en", "A dog.", "human"),
    ("a", "en", "a DOG", "human"),
    ("a", "de", "Ein Hund.", "translation"),
    ("b", "en", "A dog!", "human"),
    ("b", "en", "A longer caption", "machine"),
    ("c", "en", "Ａ  longer “caption”", "human"),
    ("c", "de", "A dog.", "translation"),
    ("d", "en", "...", "human"),
]


def corpus(splits: str = "train train test dev", root: Path | None = None) -> Corpus:
    names = ["a", "b", "c", "d"]
    return Corpus(
        name="pets",
        pictures=np.array(names),
        splits=np.array(splits.split()),
        owners=np.array([names.index(row[0]) for row in CAPTIONS]),
        languages=np.array([row[1] for row in CAPTIONS]),
        texts=[row[2] for row in CAPTIONS],
        origins=np.array([row[3] for row in CAPTIONS]),
        root=root,
    )
