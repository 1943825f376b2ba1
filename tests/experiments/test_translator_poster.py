"""The poster's own setting as a table (translator-poster/de-fr): what is known of it, typed here a second time."""

import math

import pytest

from groundling import systems
from groundling.experiments.table_entries import TableEntry, start_of, table_entries
from groundling.experiments.table_settings import TableSettings
from groundling.objectives import SumOfHinges
from groundling.recipes import read_table
from groundling.settings import check
from groundling.systems.translator import TranslatorSettings

NAME = "translator-poster/de-fr"
SIZES = (50, 100, 200, 500, 1000, 2000, 5527)
STARTS = {"FS": "scratch", "FS + pictures": "pictures", "T1": "encoder", "T2": "aligned", "T2 SVD": "aligned"}
SOURCE_CAPTIONS = 5 * 5527  # German, of F8K-7's training photos


@pytest.fixture(scope="module")
def table() -> TableSettings:
    return check(TableSettings, read_table(NAME), NAME)


@pytest.fixture(scope="module")
def entries(table: TableSettings) -> list[TableEntry]:
    return list(table_entries(table, [0]))


def own_settings(entry: TableEntry) -> TranslatorSettings:
    found = systems.of(entry.recipe).settings
    assert isinstance(found, TranslatorSettings)
    return found


def test_every_training_and_its_source_have_the_posters_settings(entries: list[TableEntry]) -> None:
    sources = [source for source in map(start_of, entries) if source is not None]
    assert len(sources) == len(SIZES) * (len(STARTS) - 1)  # all but FS start from one
    assert {own_settings(source).start for source in sources} == {"scratch"}
    for entry in (*entries, *sources):
        settings, training = own_settings(entry), entry.recipe.training
        assert settings.word_dimensions == 300
        assert settings.vectors == {"de": "fasttext/cc.de.300.bin", "fr": "fasttext/cc.fr.300.bin"}
        assert settings.fold_case and settings.subwords and not settings.freeze
        assert settings.objective == SumOfHinges(margin=0.2)
        assert (training.optimiser, training.learning_rate, training.batch_size) == ("adam", 5e-4, 96)
        assert training.maximum_steps == 20 * math.ceil(SOURCE_CAPTIONS / 96)  # 20 epochs of the source
        assert entry.recipe.corpus.name == "f8k7"


@pytest.mark.parametrize(("line", "start"), STARTS.items())
def test_each_way_to_begin_has_a_row_for_each_size(
    table: TableSettings, entries: list[TableEntry], line: str, start: str
) -> None:
    rows = {row.name: row.at for row in table.rows if row.line == line}
    assert rows == {f"{line} {size}": size for size in SIZES}
    for entry in entries:
        if entry.row in rows:
            settings, source, size = own_settings(entry), start_of(entry), rows[entry.row]
            assert settings.start == start
            assert entry.recipe.corpus.languages == ["fr"]
            assert entry.recipe.corpus.training_pictures == (None if size == 5527 else size)  # 5,527 are all
            assert source is None if start == "scratch" else source and source.recipe.corpus.languages == ["de"]
            if start == "aligned":
                assert settings.alignment.method == ("procrustes" if line == "T2 SVD" else "rcsls")
                assert settings.max_words == 200_000 and settings.dictionary is not None
