"""Flickr8k's token file and lists of photos."""

from pathlib import Path

import pytest

from groundling.corpus.formats.flickr8k import read
from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """data/flickr8k with four photos, one of them in no list, as in the real files."""
    folder = tmp_path / "flickr8k"
    folder.mkdir()
    lines = ["b.jpg#0\tA bird .", "a.jpg#0\tA dog #1 .", "a.jpg#1\tSome\tdog .", "c.jpg#0\tA cat .", "d.jpg.1#0\tNo ."]
    (folder / "Flickr8k.token.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for split, names in {"train": "a.jpg\n", "dev": "b.jpg\n\n", "test": "c.jpg"}.items():
        (folder / f"Flickr_8k.{split}Images.txt").write_text(names, encoding="utf-8")
    return folder


def test_captions_follow_the_lists(folder: Path) -> None:
    corpus = read(folder.parent)
    assert corpus.pictures.tolist() == ["a.jpg", "b.jpg", "c.jpg"]
    assert corpus.splits.tolist() == ["train", "dev", "test"]
    assert corpus.texts == ["A dog #1 .", "Some\tdog .", "A bird .", "A cat ."]
    assert corpus.owners.tolist() == [0, 0, 1, 2]
    assert set(corpus.languages.tolist()) == {"en"}
    assert (corpus.root, corpus.info) == (None, CorpusInfo())


def test_the_published_folders_are_found(folder: Path) -> None:
    (folder / "Flickr8k_text").mkdir()
    for path in list(folder.glob("*.txt")):
        path.rename(folder / "Flickr8k_text" / path.name)
    (folder / "Flicker8k_Dataset").mkdir()
    (folder / "features.npy").touch()
    (folder / "images.tsv").touch()
    corpus = read(folder)  # the flickr8k folder itself will do
    assert corpus.root == (folder / "Flicker8k_Dataset").resolve()
    assert corpus.info.features.array == str((folder / "features.npy").resolve())


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("Flickr8k.token.txt", "a.jpg#0 A dog .", r'Flickr8k\.token\.txt:1: not a line like "name\.jpg#0<tab>caption"'),
        ("Flickr8k.token.txt", "a.jpg#0\tA dog .\na.jpg\tA dog .", r"Flickr8k\.token\.txt:2: not a line like"),
        ("Flickr8k.token.txt", "a.jpg#0\t ", r"Flickr8k\.token\.txt:1: the text is empty"),
        (
            "Flickr_8k.devImages.txt",
            "b.jpg\nx.jpg",
            r'devImages\.txt:2: Flickr8k\.token\.txt has no caption for "x\.jpg"',
        ),
        ("Flickr_8k.testImages.txt", "a.jpg", r'testImages\.txt:1: the photo "a\.jpg" was listed before'),
    ],
)
def test_a_broken_line_is_named(folder: Path, file: str, text: str, message: str) -> None:
    (folder / file).write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read(folder.parent)


def test_missing_files_are_named(folder: Path) -> None:
    (folder / "Flickr_8k.devImages.txt").unlink()
    with pytest.raises(UserError, match=r"Flickr_8k\.devImages\.txt: no such file"):
        read(folder.parent)
    (folder / "Flickr8k.token.txt").unlink()
    with pytest.raises(UserError, match=r"flickr8k/Flickr8k\.token\.txt: no such file"):
        read(folder.parent)
