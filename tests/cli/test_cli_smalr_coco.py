"""COCO in ten languages, from the released files to the point where SMALR's Table 1 could be trained."""

import gzip
from pathlib import Path

import commands
import numpy as np
import pytest
from commands import assert_one_sentence, call

from coco_files import name_of, write_lists, write_three
from groundling.corpus import catalogue
from groundling.translation.translation_table import write

own_ground = commands.own_ground  # each test in a folder of its own

TEN = ["en", "de", "fr", "cs", "zh", "ja", "ar", "af", "ko", "ru"]
NUMBERS = range(1, 41)
WORDS = {"en": "dog", "zh": "狗", "ja": "犬"}


def caption(code: str, number: int, at: int) -> str:
    return f"{WORDS.get(code, f'dog{code}')} {number} {at}"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Five captions in English and Japanese, one in Chinese; the last half lacks one of the two."""
    folder = tmp_path / "data"
    english, chinese, japanese = (
        {number: [caption(code, number, at) for at in range(count)] for number in numbers}
        for code, count, numbers in (
            ("en", 5, NUMBERS),
            ("zh", 1, range(1, 31)),
            ("ja", 5, [*range(1, 21), *range(31, 36)]),
        )
    )
    write_three(folder, english, chinese, japanese)
    write_lists(folder, val=[str(number) for number in range(1, 6)], test=[str(number) for number in range(6, 11)])
    np.save(folder / "coco" / "features.npy", np.random.default_rng(0).standard_normal((len(NUMBERS), 4)))
    (folder / "coco" / "names.txt").write_text("".join(f"{name_of(number)}\n" for number in NUMBERS))
    lines = [
        (source, target, caption(source, number, at), f"{caption(target, number, at)} 7")
        for source in WORDS
        for target in TEN
        for number in NUMBERS
        for at in range(5)
        if source != target
    ]
    write(tmp_path / "table.tsv", lines)
    return folder


def test_from_the_released_files_to_table_1(data: Path) -> None:
    assert_one_sentence(call("reproduce", "smalr/table1", "--prepare", "--data", data), "translate coco-three --to")
    for out, more in (("coco", []), ("coco-both", ["--test-too"])):
        options = ["--to", ",".join(TEN), "--source", "table.tsv", "--out", data / "smalr" / out, "--data", data]
        told = call("corpus", "translate", "coco-three", *options, *more)
        assert told.code == 0, told.err
    corpus = catalogue.load("smalr-coco", data)
    by = list(zip(corpus.owners.tolist(), corpus.languages.tolist(), corpus.origins.tolist(), strict=True))
    for row, split in enumerate(corpus.splits.tolist()):
        counts = {code: sum((owner, language) == (row, code) for owner, language, _ in by) for code in TEN}
        people = {"en": 5, "zh": 1, "ja": 5}
        assert counts == dict.fromkeys(TEN, 5) | ({} if split == "train" else people)
        if split != "train":  # tested on what people wrote, where people did
            assert {kind for owner, code, kind in by if owner == row and code in people} == {"human"}
    both = catalogue.load("smalr-coco-both", data)
    assert len(both) == len(corpus) + 10 * 3 * 5  # en, zh and ja of ten held-out pictures, as a machine says it
    prepare = ["reproduce", "smalr/table1", "smalr/table17-coco", "--prepare", "--seed", 0]
    prepare += ["--data", data, "--source", "table.tsv"]
    assert_one_sentence(call(*prepare), "fasttext/cc.")
    for code in TEN:
        path = data / "fasttext" / f"cc.{code}.300.vec.gz"
        path.parent.mkdir(exist_ok=True)
        word = WORDS.get(code, f"dog{code}")
        path.write_bytes(gzip.compress(f"2 300\n{word}{' 0.1' * 300}\n1{' 0.2' * 300}\n".encode()))
    told = call(*prepare)
    assert told.code == 0, told.err
    assert "Ready:" in told.out
