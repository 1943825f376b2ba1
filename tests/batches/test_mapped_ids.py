"""Captions that stay in files are trained on as those in memory are."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from conftest import make_recipe
from groundling.batches import TrainingData
from groundling.batches.mapped_ids import MappedIds, text_numbers
from groundling.corpus import Corpus
from groundling.corpus.building import build
from groundling.corpus.formats.sources import source_of
from groundling.corpus.parquet_texts import ParquetTexts
from groundling.corpus.storage import load
from groundling.dataset import Dataset
from groundling.encoders.tokenisers.characters import CharacterTokeniser
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.model.trained import TrainedModel
from groundling.settings import TextSettings
from groundling.text import Tokeniser
from groundling.training import train

CPU = torch.device("cpu")


@pytest.fixture
def stored(world: Dataset, tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    """The tiny world in small shards."""
    monkeypatch.setattr("groundling.corpus.formats.sources.LARGE", 1)
    monkeypatch.setattr("groundling.corpus.sharded.SHARD", 100)
    monkeypatch.setattr("groundling.corpus.sharded.GROUP", 16)
    corpus = world.corpus
    with (tmp_path / "world.jsonl").open("w") as file:
        for owner, code, text in zip(corpus.owners.tolist(), corpus.languages.tolist(), corpus.texts, strict=True):
            row = {"picture": str(corpus.pictures[owner]), "language": code, "text": text}
            file.write(json.dumps({**row, "split": str(corpus.splits[owner])}) + "\n")
    source = source_of([str(tmp_path / "world.jsonl")])
    assert source is not None
    build(source, tmp_path / "stored", check="none")
    made = load(tmp_path / "stored")
    assert isinstance(made.texts, ParquetTexts) and made.pictures.tolist() == corpus.pictures.tolist()
    return replace(made, name=corpus.name, root=None)


@pytest.mark.parametrize("kind", [WordTokeniser, CharacterTokeniser])
def test_entries_are_those_of_the_tokeniser(world: Dataset, stored: Corpus, kind: type[WordTokeniser]) -> None:
    there, here = stored.split("train"), world.corpus.split("train")
    settings = TextSettings(minimum_count=1)
    tokeniser: Tokeniser = kind.build(here.texts, here.languages.tolist(), settings)
    features = world.features[world.corpus.splits == "train"]
    one, other = (TrainingData.build(corpus, features, tokeniser, CPU) for corpus in (there, here))
    mapped: object = one.ids
    assert isinstance(mapped, MappedIds) and mapped.shape == tuple(other.ids.shape)
    assert np.array_equal(one.lengths, other.lengths) and torch.equal(one.device_lengths, other.device_lengths)
    rows = torch.tensor([5, 0, 399, 17])
    longest = int(other.lengths[rows.numpy()].max())
    for mine, theirs in zip(one.captions(rows, longest), other.captions(rows, longest), strict=True):
        assert torch.equal(mine, theirs)
    everything = torch.arange(len(here))
    assert torch.equal(one.alike(everything, everything), other.alike(everything, everything))
    part, same = one.part(rows.sort().values.numpy()), other.part(rows.sort().values.numpy())
    assert torch.equal(part.captions(torch.arange(4), longest)[0], same.captions(torch.arange(4), longest)[0])
    if one.spellings is None:
        assert torch.equal(one.ids.cpu(), other.ids) and torch.equal(one.ids.on(CPU), other.ids)
        assert torch.equal(one.ids[rows], other.ids[rows])


def test_captions_are_cut_once(stored: Corpus, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokeniser = WordTokeniser.build(stored.texts, stored.languages.tolist(), TextSettings(minimum_count=1))
    features = np.zeros((len(stored.pictures), 1), dtype=np.float32)
    first = TrainingData.build(stored, features, tokeniser, CPU)
    kept = sorted((own_cache / "tokens").rglob("*.npy"))
    assert [path.name for path in kept] == ["ends.npy", "flat.npy"]
    assert isinstance(first.ids.tokens.flat, np.memmap)

    def never(*_: object) -> None:
        raise AssertionError("cut again")

    monkeypatch.setattr(WordTokeniser, "encode", never)
    again = TrainingData.build(stored, features, tokeniser, CPU)
    assert torch.equal(again.ids.cpu(), first.ids.cpu())
    with pytest.raises(AssertionError, match="cut again"):  # other captions are other files
        TrainingData.build(stored.split("dev"), features[:25], tokeniser, CPU)


def test_numbers_of_texts() -> None:
    assert text_numbers(["a", "b", "a", "", "b"]).tolist() == [0, 1, 0, 2, 1]


def test_a_training_from_files_is_the_one_from_memory(world: Dataset, stored: Corpus, tmp_path: Path) -> None:
    recipe = make_recipe(training={"maximum_steps": 12, "validate_every": 6})
    train(recipe, world, tmp_path / "memory", device="cpu")
    train(recipe, replace(world, corpus=stored), tmp_path / "files", device="cpu")
    one, other = (
        TrainedModel.load(tmp_path / name, "cpu").encode_text(["dog tree", "katze haus"], ["en", "de"])
        for name in ("memory", "files")
    )
    assert np.array_equal(one, other)
