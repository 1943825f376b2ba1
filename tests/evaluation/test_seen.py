"""Training pictures asked about as test pictures are."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from conftest import make_recipe, make_world
from groundling.dataset import Dataset
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.evaluation.seen import draw_different, evaluate_seen
from groundling.model.trained import TrainedModel
from groundling.training import train


def twice(dataset: Dataset) -> Dataset:
    """Every picture once more, under another name and with the same captions."""
    own, size = dataset.corpus, len(dataset.corpus.pictures)
    corpus = replace(
        own,
        pictures=np.concatenate([own.pictures, np.char.add("again-", own.pictures)]),
        splits=np.tile(own.splits, 2),
        owners=np.concatenate([own.owners, own.owners + size]),
        languages=np.tile(own.languages, 2),
        texts=own.texts * 2,
        origins=np.tile(own.origins, 2),
    )
    return Dataset(corpus, np.tile(dataset.features, (2, 1)))


def test_no_two_pictures_with_the_same_captions_are_drawn() -> None:
    corpus = twice(make_world()).corpus
    said = [tuple(sorted(text for text, own in zip(corpus.texts, corpus.owners, strict=True) if own == row))
            for row in range(len(corpus.pictures))]  # fmt: skip
    for count in (7, 10_000):
        keep = draw_different(corpus, count, seed=0)
        drawn = [said[row] for row in np.flatnonzero(keep)]
        assert len(set(drawn)) == len(drawn) == min(count, len(set(said)))
    assert not np.array_equal(draw_different(corpus, 7, 0), draw_different(corpus, 7, 1))


def test_what_was_seen_is_known_better(tmp_path: Path) -> None:
    world = make_world()
    run = train(make_recipe(), world, tmp_path / "run", device="cpu")
    model = TrainedModel.load(run.folder, "cpu")
    seen = evaluate_seen(model, world, 25)
    assert seen is not None and seen.result.pictures == 25 and seen.result.split == "train"
    assert set(seen.corpus.pictures) <= set(world.split("train").corpus.pictures)
    unseen = evaluate_retrieval(model, world)
    assert seen.result.mean.value("mR") >= unseen.result.mean.value("mR")
    alone = evaluate_seen(model, world.split("test"), 25)
    assert alone is None
