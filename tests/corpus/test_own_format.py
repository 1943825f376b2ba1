"""A data set of one's own: a function that reads it, and one line."""

from pathlib import Path

import pytest
from PIL import Image

from groundling.corpus import CORPORA, Corpus, Entry, load, names
from groundling.errors import UserError


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CORPORA, "_own", dict(CORPORA._own))


def read(data: Path) -> Corpus:
    """One line for each picture: its name, a bar, its caption."""
    lines = (data / "bars" / "captions.txt").read_text(encoding="utf-8").splitlines()
    rows = [dict(zip(("picture", "text"), line.split("|"), strict=True), language="en") for line in lines]
    return Corpus.of(rows, data / "bars", "bars")


def test_files_below_the_data_folder(tmp_path: Path) -> None:
    CORPORA.register("bars", Entry("pictures and captions, a bar between them", "bars", read))
    (tmp_path / "bars").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "bars" / "dark.png")
    (tmp_path / "bars" / "captions.txt").write_text("dark.png|a dark picture\n", encoding="utf-8")
    assert load("bars", data=tmp_path).texts == ["a dark picture"]
    assert names()[-1] == ("bars", "pictures and captions, a bar between them", "bars/")
    with pytest.raises(UserError, match="no such folder; --data or GROUNDLING_DATA names the one that holds bars/"):
        load("bars", data=tmp_path / "elsewhere")


def test_a_corpus_that_is_made_here_has_a_folder_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path))

    def make(folder: Path) -> Corpus:
        folder.mkdir()
        Image.new("RGB", (8, 8), "red").save(folder / "red.png")
        return Corpus.of([{"picture": "red.png", "language": "en", "text": "red"}], folder, "made")

    CORPORA.register("made", Entry("one red picture", "", make))
    assert load("made").path(0) == (tmp_path / "made" / "red.png").resolve()
    with pytest.raises(UserError, match='"made" comes with its own splits'):
        load("made", split="artist")
