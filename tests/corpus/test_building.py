"""Corpora built row by row are those that are read into memory; a killed build leaves none, or the one before."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from caption_tables import draw_picture, write_table

from groundling.corpus import Corpus, load
from groundling.corpus.building import HasStatements, build
from groundling.corpus.formats import caption_table
from groundling.corpus.formats.sources import source_of
from groundling.corpus.inspect import describe
from groundling.corpus.leaks import leaks
from groundling.corpus.storage import load as load_folder
from groundling.corpus.storage import save
from groundling.errors import UserError


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table is a large one, and shards are small."""
    monkeypatch.setattr("groundling.corpus.formats.sources.LARGE", 1)
    monkeypatch.setattr("groundling.corpus.sharded.SHARD", 20)
    monkeypatch.setattr("groundling.corpus.sharded.GROUP", 7)


def a_table(folder: Path, seed: int, kind: str = "jsonl") -> Path:
    """Rows of every kind: many captions of a picture, splits that disagree, pictures that are broken or not there."""
    draw = random.Random(seed)
    folder.mkdir()
    for number in range(12):
        draw_picture(folder / f"p/{number}.png", number)
    (folder / "p/3.png").write_bytes(b"broken")
    rows = [
        {
            "picture": f"p/{draw.randrange(13)}.png",
            "language": draw.choice(["en", "de", "zh"]),
            "text": draw.choice(["a dog", "A dog!", f"row {row}", " "]),
            "split": draw.choice(["", "", "", "train", "dev"]),
            "origin": draw.choice(["human", "machine"]),
        }
        for row in range(100)
    ]
    write_table(folder / f"captions.{kind}", rows)
    return folder / f"captions.{kind}"


def columns(corpus: Corpus) -> dict[str, list[object]]:
    names = ("pictures", "splits", "owners", "languages", "origins")
    return {"texts": list(corpus.texts), **{name: getattr(corpus, name).tolist() for name in names}}


@pytest.mark.parametrize(("seed", "kind"), [(0, "jsonl"), (1, "csv"), (2, "parquet")])
def test_the_stream_is_the_table(tmp_path: Path, seed: int, kind: str) -> None:
    table = a_table(tmp_path / "photos", seed, kind)
    expected, listed = caption_table.read(table)
    source = source_of([str(table.parent)])
    assert source is not None
    report = build(source, tmp_path / "corpus")
    corpus = load_folder(tmp_path / "corpus")
    assert columns(corpus) == columns(expected)
    assert (corpus.name, corpus.root) == (expected.name, expected.root)
    assert corpus.info.skipped == expected.info.skipped
    assert (report.rows, report.bad_rows, report.hashed) == (listed.rows, listed.bad_rows, listed.hashed)
    assert describe(corpus) == describe(expected)
    assert leaks(corpus) == leaks(expected)
    assert len(list((tmp_path / "corpus").glob("shards-1/captions-*.parquet"))) > 1
    part, same = corpus.split("train"), expected.split("train")
    assert columns(part) == columns(same)
    assert columns(part.only(["de"])) == columns(same.only(["de"]))
    assert [part.texts[at] for at in (0, -1, 3)] == [same.texts[at] for at in (0, -1, 3)]
    assert part.texts[2:9] == same.texts[2:9]


def test_several_tables_in_several_folders(tmp_path: Path) -> None:
    for name in ("one", "two"):
        draw_picture(tmp_path / name / "a.png", len(name))
        row = {"picture": "a.png", "language": "en", "text": name, "split": "train", "origin": "human"}
        write_table(tmp_path / name / "t.jsonl", [row])
    source = source_of([str(tmp_path / "{one,two}/t.jsonl")])
    assert source is not None
    build(source, tmp_path / "corpus")
    corpus = load_folder(tmp_path / "corpus")
    assert corpus.pictures.tolist() == ["one/a.png", "two/a.png"]
    assert corpus.path(1) == tmp_path / "two/a.png"


def test_tables_with_statements_are_left_to_memory(tmp_path: Path) -> None:
    draw_picture(tmp_path / "a.png")
    row = {"picture": "a.png", "language": "en", "text": "A dog.", "label": "entailment"}
    write_table(tmp_path / "captions.jsonl", [row])
    source = source_of([str(tmp_path)])
    assert source is not None
    with pytest.raises(HasStatements):
        build(source, tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()


def test_pictures_need_not_be_looked_at(tmp_path: Path) -> None:
    row = {"picture": "not/there.png", "language": "en", "text": "A dog.", "split": "train", "origin": "human"}
    write_table(tmp_path / "t.jsonl", [row])
    source = source_of([str(tmp_path / "t.jsonl")])
    assert source is not None
    with pytest.raises(UserError, match=r't\.jsonl:1: no picture named "not/there\.png"'):
        build(source, tmp_path / "corpus", check="exist")
    build(source, tmp_path / "corpus", check="none")
    assert load_folder(tmp_path / "corpus").pictures.tolist() == ["not/there.png"]


def test_a_corpus_is_replaced_whole(tmp_path: Path) -> None:
    """Shards by shards, a small corpus by shards, and shards by a small corpus: nothing of the old one is left."""
    first, second = (source_of([str(a_table(tmp_path / str(seed), seed))]) for seed in (0, 1))
    assert first is not None and second is not None
    out = tmp_path / "corpus"
    build(first, out)
    build(second, out)
    assert sorted(path.name for path in out.iterdir()) == ["corpus.json", "shards-2"]
    small = caption_table.read(tmp_path / "0")[0]
    save(small, out)
    assert columns(load(str(out))) == columns(small)
    assert sorted(path.name for path in out.iterdir()) == ["captions.parquet", "corpus.json", "pictures.parquet"]
    build(second, out)
    assert sorted(path.name for path in out.iterdir()) == ["corpus.json", "shards-1"]


def test_damaged_shards_are_named(tmp_path: Path) -> None:
    source = source_of([str(a_table(tmp_path / "photos", 0))])
    assert source is not None
    build(source, tmp_path / "corpus")
    shard = tmp_path / "corpus/shards-1/captions-00001.parquet"
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-9] + b"damaged!!")
    with pytest.raises(UserError, match=r"captions-00001\.parquet: not the file that corpus\.json describes"):
        load_folder(tmp_path / "corpus")
    shard.unlink()
    with pytest.raises(UserError, match=r"captions-00001\.parquet: no such file; build the corpus again"):
        load_folder(tmp_path / "corpus")


BUILD = """
import sys
from pathlib import Path
from groundling.corpus.building import build
from groundling.corpus.formats import sources
sources.LARGE = 1
print("begun", flush=True)
while True:
    build(sources.source_of([sys.argv[1]]), Path(sys.argv[2]), check="none")
    print("built", flush=True)
"""


def test_a_killed_build_leaves_a_whole_corpus_or_none(tmp_path: Path) -> None:
    rows = [
        {"picture": f"{row}.png", "language": "en", "text": f"row {row}", "split": "train", "origin": "human"}
        for row in range(20_000)
    ]
    write_table(tmp_path / "t.jsonl", rows)
    out = tmp_path / "corpus"
    for attempt, until in enumerate(["begun", "built", "built"]):
        child = subprocess.Popen(
            [sys.executable, "-c", BUILD, str(tmp_path / "t.jsonl"), str(out)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        while child.stdout.readline().strip() != until:
            pass
        _wait_for_a_half_written_one(out, child)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        if attempt:
            assert len(load_folder(out)) == 20_000
        else:
            with pytest.raises(UserError, match=r"building was cut short; build it again|no such folder"):
                load_folder(out)
    source = source_of([str(tmp_path / "t.jsonl")])
    assert source is not None
    build(source, out, check="none")
    assert np.array_equal(load_folder(out).owners, np.arange(20_000))
    assert sum(path.name.startswith("shards-") for path in out.iterdir()) == 1
    assert not [path for path in out.iterdir() if path.name.endswith(".part")]


def _wait_for_a_half_written_one(out: Path, child: "subprocess.Popen[str]") -> None:
    while child.poll() is None:
        if any(path.stat().st_size for path in out.glob(".shards-*.part/rows.arrow")):
            return
        time.sleep(0.001)
