"""Whatever happens to its end, a journal is read up to the last whole record, and goes on from there."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import UserError
from groundling.search.entries import Entry
from groundling.search.journal import Journal

ABOUT = {"model": "m"}
VECTORS = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
NAMES = ["a.png", "ü/犬.png", "c", "d", "e"]


def written(path: Path) -> list[int]:
    """Five records; where each of them, and what comes before, ends."""
    ends = []
    with Journal(path, ABOUT, 3) as journal:
        ends.append(path.stat().st_size)
        for name, vector in zip(NAMES, VECTORS, strict=True):
            kept = journal.add(Entry(name, "0"), vector)
            np.testing.assert_array_equal(kept, vector)  # read back at once, from the file
            ends.append(path.stat().st_size)
    return ends


def names(path: Path) -> list[str]:
    with Journal(path, ABOUT, 3) as journal:
        for (entry, vector), name, expected in zip(journal.records, NAMES, VECTORS, strict=False):
            assert entry == Entry(name, "0")
            np.testing.assert_array_equal(vector, expected)
        return [entry.name for entry, _ in journal.records]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_cut_anywhere_or_changed_anywhere_it_keeps_what_is_before(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.bin"
        ends = written(path)
        content = bytearray(path.read_bytes())
        place = data.draw(st.integers(0, len(content) - 1))
        if data.draw(st.booleans()):
            path.write_bytes(content[:place])
        else:
            content[place] ^= data.draw(st.integers(1, 255))
            path.write_bytes(content)
        whole = max(sum(end <= place for end in ends) - 1, 0)
        assert names(path) == NAMES[:whole]
        with Journal(path, ABOUT, 3) as journal:  # and what is added next is read back
            journal.add(Entry(NAMES[whole] if whole < 5 else "f", "0"), VECTORS[min(whole, 4)])
        assert len(names(path)) == whole + 1


def test_a_journal_of_another_model_is_not_gone_on_with(tmp_path: Path) -> None:
    written(tmp_path / "journal.bin")
    before = (tmp_path / "journal.bin").read_bytes()
    with pytest.raises(UserError, match="unfinished build with another model"):
        Journal(tmp_path / "journal.bin", {"model": "other"}, 3)
    assert (tmp_path / "journal.bin").read_bytes() == before


def test_a_journal_with_nothing_in_it_leaves_no_file(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.bin", ABOUT, 3):
        pass
    assert list(tmp_path.iterdir()) == []
