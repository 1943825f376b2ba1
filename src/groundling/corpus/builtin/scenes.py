"""Drawn scenes with exact captions and statements in ten languages, made on this machine without a download.

Pictures of one to four things, some of them partly hidden, each described in full, and each with statements that are
true of it, false of it, or not to be told from it. docs/data/scenes.md says what that means here and has the counts.
"""

from pathlib import Path
from random import Random

import numpy as np

from groundling.corpus.builtin import scenes_sampling, scenes_statements
from groundling.corpus.builtin.emoji_drawing import is_drawn
from groundling.corpus.builtin.grammars import GRAMMARS
from groundling.corpus.builtin.scenes_drawing import SIZE, draw
from groundling.corpus.builtin.scenes_statements import Made
from groundling.corpus.builtin.scenes_world import Scene
from groundling.corpus.corpus import SPLITS, Corpus
from groundling.corpus.entailment import LABELS, Entailments
from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError
from groundling.progress import bar

VERSION = 1  # one more whenever a seed would give other pictures: drawn ones are kept between runs
SHARES = {"train": 8, "dev": 1, "test": 1}
FEWEST, MOST = 100, 100_000


def build(folder: Path, number: int = 10_000, seed: int = 0) -> Corpus:
    """Scenes with captions and statements; pictures that `folder` holds already are not drawn again."""
    if not FEWEST <= number <= MOST:
        raise UserError(f"scenes: {number:,} pictures cannot be made; ask for {FEWEST:,} to {MOST:,}")
    world = {split: scenes_sampling.scenes(split, number * share // 10, seed) for split, share in SHARES.items()}
    pictures = [(picture_name(split, at), scene) for split in SPLITS for at, scene in enumerate(world[split])]
    root = folder / f"{VERSION}-{seed}"
    draw_missing(pictures, root)
    made: list[Made] = []
    first = 0
    for split in SPLITS:
        random = Random(f"statements {seed} {split}")
        made += [one._replace(scene=first + one.scene) for one in scenes_statements.draw(world[split], random)]
        first += len(world[split])
    names = [name for name, _ in pictures]
    return Corpus(
        name="scenes",
        pictures=np.array(names),
        splits=np.repeat(SPLITS, [len(world[split]) for split in SPLITS]),
        owners=np.repeat(np.arange(len(pictures), dtype=np.int64), len(GRAMMARS)),
        languages=np.tile(list(GRAMMARS), len(pictures)),
        texts=[grammar.describe(scene) for _, scene in pictures for grammar in GRAMMARS.values()],
        origins=np.full(len(pictures) * len(GRAMMARS), "machine"),
        root=root,
        info=CorpusInfo(parallel="first", seed=seed, version=VERSION),
        statements=said(made, names),
    )


def picture_name(split: str, place: int) -> str:
    return f"{split}/{place:05}.png"


def draw_missing(pictures: list[tuple[str, Scene]], root: Path) -> None:
    """Files appear whole or not at all, so a build that was cut short goes on where it stopped."""
    missing = [(name, scene) for name, scene in pictures if not is_drawn(root / name, SIZE)]
    with bar("Drawing scenes", len(pictures), len(pictures) - len(missing)) as progress:
        for name, scene in missing:
            draw(scene, root / name, name)
            progress.advance()


def said(made: list[Made], names: list[str]) -> Entailments:
    """Every statement in every language; its id is its picture's name and its number there."""
    places: dict[int, int] = {}
    ids = []
    for one in made:
        places[one.scene] = places.get(one.scene, 0) + 1
        ids.append(f"{names[one.scene].removesuffix('.png')}#{places[one.scene]}")
    return Entailments(
        owners=np.repeat(np.array([one.scene for one in made], dtype=np.int64), len(GRAMMARS)),
        languages=np.tile(list(GRAMMARS), len(made)),
        texts=[grammar.say(one.statement) for one in made for grammar in GRAMMARS.values()],
        labels=np.repeat(np.array([LABELS[one.label] for one in made]), len(GRAMMARS)),
        ids=np.repeat(np.array(ids), len(GRAMMARS)),
    )
