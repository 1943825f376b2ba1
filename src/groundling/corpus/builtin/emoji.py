"""The embedded corpus: emoji by two artists, named in fifteen languages, drawn on this machine without a download.

A *concept* is one emoji, whoever draws it. Its captions are its name and keywords; docs/data/emoji.md has the counts.
"""

from pathlib import Path

import numpy as np

from groundling.corpus.builtin.emoji_drawing import draw_concepts, picture_name
from groundling.corpus.builtin.emoji_names import Concept, read_concepts
from groundling.corpus.builtin.emoji_splits import Placed, by_artist, by_concept
from groundling.corpus.corpus import Corpus
from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError, did_you_mean

WAYS_TO_SPLIT = {"concept": by_concept, "artist": by_artist}
NAMES = {"concept": "emoji", "artist": "emoji-artist"}

NOTICE = """\
Twemoji: graphics copyright Twitter, Inc and other contributors, CC-BY 4.0, https://creativecommons.org/licenses/by/4.0/
OpenMoji: all emojis designed by OpenMoji, CC BY-SA 4.0, https://creativecommons.org/licenses/by-sa/4.0/
Names and keywords: Unicode CLDR, copyright Unicode, Inc., Unicode-3.0, https://www.unicode.org/license.txt"""


def build(folder: Path, split: str = "concept", seed: int = 0, size: int = 144) -> Corpus:
    """Draw the pictures that `folder` does not hold yet, `size` pixels square, and caption them.

    split "concept": dev and test show concepts that training has never seen.
    split "artist": dev and test show concepts that training knows, by an artist it has never seen.
    """
    if split not in WAYS_TO_SPLIT:
        raise UserError(f'emoji: no way to split called "{split}"{did_you_mean(split, WAYS_TO_SPLIT)}')
    if size < 1:
        raise UserError(f"emoji: pictures of {size} pixels cannot be drawn; give a size of 1 or more")
    concepts = read_concepts()
    placed = WAYS_TO_SPLIT[split]([concept.key for concept in concepts], seed)
    draw_concepts([(picture.artist, picture.key) for picture in placed], folder, size)
    info = CorpusInfo(queries="first", parallel="first", split=split, seed=seed, notice=NOTICE)
    return caption(NAMES[split], concepts, placed, folder, info)


def caption(name: str, concepts: list[Concept], placed: list[Placed], folder: Path, info: CorpusInfo) -> Corpus:
    """Every picture with all captions of its concept."""
    texts_of: dict[str, list[str]] = {}
    languages_of: dict[str, list[str]] = {}
    for concept in concepts:
        texts_of[concept.key] = [text for texts in concept.captions.values() for text in texts]
        languages_of[concept.key] = [language for language, texts in concept.captions.items() for _ in texts]
    texts = [text for picture in placed for text in texts_of[picture.key]]
    counts = [len(texts_of[picture.key]) for picture in placed]
    return Corpus(
        name=name,
        pictures=np.array([picture_name(picture.artist, picture.key) for picture in placed]),
        splits=np.array([picture.split for picture in placed]),
        owners=np.repeat(np.arange(len(placed), dtype=np.int64), counts),
        languages=np.array([language for picture in placed for language in languages_of[picture.key]]),
        texts=texts,
        origins=np.full(len(texts), "human"),
        root=folder,
        info=info,
    )
