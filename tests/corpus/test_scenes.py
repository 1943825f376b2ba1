"""The scenes corpus as a whole: balance, what is held out, pictures that survive an interruption."""

import hashlib
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from groundling.corpus import Corpus, storage
from groundling.corpus.builtin import scenes
from groundling.corpus.builtin.grammars import GRAMMARS
from groundling.corpus.builtin.scenes_drawing import SIZE, picture
from groundling.corpus.builtin.scenes_sampling import HELD_OUT
from groundling.corpus.builtin.scenes_sampling import scenes as sample
from groundling.corpus.builtin.scenes_world import COLOURS, KINDS, SIZES, Item
from groundling.corpus.entailment import LABELS
from groundling.errors import UserError
from groundling.evaluation.text_only import text_only
from power_cut import kill_9


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return scenes.build(tmp_path_factory.mktemp("scenes"), number=300)


def test_every_text_has_every_label_equally_often_in_its_split(corpus: Corpus) -> None:
    """So no function of the words, however clever, is right in more or less than a third of the cases."""
    assert corpus.statements is not None
    splits = corpus.splits[corpus.statements.owners]
    counts: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    rows = zip(splits, corpus.statements.languages, corpus.statements.texts, corpus.statements.labels, strict=True)
    for split, language, text, label in rows:
        counts[split, language, text][label] += 1
    assert {split for split, _, _ in counts} == {"train", "dev", "test"}
    for labels in counts.values():
        assert labels["contradiction"] == labels["neutral"] == labels["entailment"] > 0


def test_words_alone_are_right_in_one_of_three_cases(corpus: Corpus) -> None:
    found = text_only(corpus)
    assert set(found) == set(GRAMMARS)
    for row in found.values():
        assert row.majority == pytest.approx(1 / 3) and row.words == pytest.approx(1 / 3)


def test_hardly_a_picture_favours_a_label(corpus: Corpus) -> None:
    """Someone who knew the labels of every picture, but read no statement, would do little better than chance."""
    assert corpus.statements is not None
    counts = np.zeros((len(corpus.pictures), len(LABELS)))
    np.add.at(counts, (corpus.statements.owners, corpus.statements.classes()), 1)
    assert counts.max(axis=1).sum() / counts.sum() < 0.4


def test_translations_share_picture_label_and_id(corpus: Corpus) -> None:
    assert corpus.statements is not None
    groups: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    rows = zip(corpus.statements.ids, corpus.statements.owners, corpus.statements.labels, strict=True)
    for (name, owner, label), language in zip(rows, corpus.statements.languages, strict=True):
        groups[name].append((int(owner), str(label), str(language)))
    for group in groups.values():
        assert len({(owner, label) for owner, label, _ in group}) == 1
        assert [language for _, _, language in group] == list(GRAMMARS)


def test_no_statement_is_made_twice_of_one_picture(corpus: Corpus) -> None:
    assert corpus.statements is not None
    said = list(zip(corpus.statements.owners.tolist(), corpus.statements.texts, strict=True))
    assert len(set(said)) == len(said)


def test_every_picture_has_one_caption_per_language(corpus: Corpus) -> None:
    assert (corpus.splits == "train").sum() == 240 and (corpus.splits == "test").sum() == 30
    assert Counter(corpus.languages.tolist()) == dict.fromkeys(GRAMMARS, 300)
    assert corpus.is_first().all()


# ---- what is held out


def combinations(split: str) -> set[tuple[str, str]]:
    return {(item.colour, item.kind) for scene in sample(split, 600, 0) for item in scene if item.colour and item.kind}


def test_dev_and_test_show_combinations_that_train_does_not() -> None:
    train = combinations("train")
    assert not train & (HELD_OUT["dev"] | HELD_OUT["test"]) and not HELD_OUT["dev"] & HELD_OUT["test"]
    assert {colour for colour, _ in train} == set(COLOURS) and {kind for _, kind in train} == set(KINDS)
    for split, other in (("dev", "test"), ("test", "dev")):
        assert combinations(split) >= HELD_OUT[split] and not combinations(split) & HELD_OUT[other]
        for scene in sample(split, 200, 0):
            assert any((item.colour, item.kind) in HELD_OUT[split] for item in scene)


def test_every_scene_hides_something_and_shows_something() -> None:
    for split in ("train", "dev", "test"):
        for scene in sample(split, 300, 2):
            assert 1 <= len(scene) <= 4 and len({item.cell for item in scene}) == len(scene)
            assert any(None in (item.colour, item.kind) for item in scene)
            assert any(not item.box for item in scene) and sum(item.box for item in scene) <= 1


def test_a_seed_is_a_corpus_and_fewer_scenes_are_the_beginning_of_more() -> None:
    assert sample("train", 50, 4) == sample("train", 80, 4)[:50]
    assert sample("train", 50, 4) != sample("train", 50, 5)
    assert len(set(sample("train", 500, 4))) == 500


def test_seed_zero_does_not_move() -> None:
    """Drawn pictures are kept between runs: a change here needs a new VERSION, and makes numbers in the docs stale."""
    captions = [GRAMMARS["en"].describe(scene) for split in ("train", "dev", "test") for scene in sample(split, 100, 0)]
    digest = hashlib.sha256("\n".join(captions).encode()).hexdigest()[:16]
    assert (scenes.VERSION, digest) == (1, "bfe408c8dc978527")


# ---- the pictures


def test_each_look_is_its_own() -> None:
    """Kind, colour, size and what is hidden are all to be seen; else labels would not follow from the pixels."""
    looks = [Item(4, size, colour, kind) for size in SIZES for colour in (*COLOURS, None) for kind in (*KINDS, None)]
    looks = [look for look in looks if look.colour or look.kind] + [Item(4, None, None, None, box=True)]
    middle = slice(SIZE // 3 - 6, 2 * SIZE // 3 + 6)
    arrays = [np.asarray(picture((look,), "x"), dtype=np.int16)[middle, middle] for look in looks]
    for at, one in enumerate(arrays):
        for other in arrays[at + 1 :]:
            assert (np.abs(one - other).max(axis=2) > 40).sum() >= 12  # pixels that clearly differ


@pytest.mark.parametrize("cell", range(9))
def test_things_stand_in_their_cell(cell: int) -> None:
    shaded, box = Item(cell, "big", None, "tree"), Item(cell, None, None, None, box=True)
    for look in (shaded, Item(cell, "small", "blue", None), box):
        for name in ("a", "b", "c"):
            pixels = np.asarray(picture((look,), name))
            rows, columns = np.nonzero((pixels != pixels[-1 if cell < 6 else 0, -1 if cell % 3 < 2 else 0]).any(axis=2))
            assert abs(rows.mean() - (cell // 3 + 0.5) * SIZE / 3) < 8
            assert abs(columns.mean() - (cell % 3 + 0.5) * SIZE / 3) < 8


def test_pictures_are_square_rgb_files_where_the_corpus_says(corpus: Corpus) -> None:
    for row in (0, 250, 299):
        path = corpus.path(row)
        assert path is not None
        with Image.open(path) as image:
            assert (image.mode, image.size, image.format) == ("RGB", (SIZE, SIZE), "PNG")


def test_a_corpus_comes_back_from_its_folder_with_its_statements(corpus: Corpus, tmp_path: Path) -> None:
    storage.save(corpus, tmp_path)
    loaded = storage.load(tmp_path)
    assert loaded.statements is not None and corpus.statements is not None
    for column in ("owners", "languages", "labels", "ids"):
        assert getattr(loaded.statements, column).tolist() == getattr(corpus.statements, column).tolist()
    assert loaded.statements.texts == corpus.statements.texts


@pytest.mark.parametrize("number", [0, 99, 100_001])
def test_numbers_that_cannot_be_made_are_refused(number: int, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="ask for 100 to 100,000"):
        scenes.build(tmp_path, number=number)
    assert not list(tmp_path.iterdir())


def test_killed_build_leaves_whole_pictures_and_goes_on(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib; from groundling.corpus.builtin import scenes;scenes.build(pathlib.Path(sys.argv[1]), 600)"
    )
    build = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)])
    kill_9(build, lambda: len(list(tmp_path.rglob("*.png"))) >= 30)
    left = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.png")}
    assert 30 <= len(left) < 600
    for path in left:
        with Image.open(path) as image:
            image.load()  # raises on a torn file
    corpus = scenes.build(tmp_path, 600)
    assert corpus.root is not None
    assert all((corpus.root / name).is_file() for name in corpus.pictures.tolist())
    assert all(path.stat().st_mtime_ns == before for path, before in left.items()), "what was there is not drawn again"
