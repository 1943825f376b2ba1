"""What students learn from: sentence pairs of a file or of a corpus, as the settings of their systems name them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, Field, model_validator

from groundling.batches import TrainingData
from groundling.corpus import Corpus, conditions, sentence_pairs
from groundling.corpus.pairs import PairStore
from groundling.corpus.pairs.row import Wanted
from groundling.corpus.pairs.source import CorpusPairs, PairSource
from groundling.corpus.sentence_pairs import Meaning
from groundling.dataset import Dataset, load_corpus
from groundling.errors import UserError
from groundling.settings import CorpusSettings, notice
from groundling.systems.plan import Context, Start
from groundling.text import Tokeniser
from groundling.translation.parallel import translation_rows


class PairSettings(BaseModel):
    """A system that learns from sentence pairs has these among its own settings."""

    pairs: str | None = Field(
        None,
        description="sentence pairs to learn from: a file (.tsv, .csv, .jsonl, .parquet, .tmx, or Moses' x.en and "
        "x.ko), or corpus:NAME; the recipe's corpus when left out",
    )
    fingerprint: str | None = Field(
        None, description="of what the file holds, so that a training does not go on with another one"
    )
    languages: list[str] = Field(
        [], description="the new languages; of a corpus all that the teacher does not know when left out"
    )
    known: str | None = Field(None, description="the language of the known sentences, where the file does not say it")
    again: bool = Field(False, description="also languages that the teacher knows: it will no longer read them itself")

    @model_validator(mode="before")
    @classmethod
    def _one_language(cls, values: Any) -> Any:
        """`language` was the only one."""
        if not isinstance(values, dict) or "language" not in values:
            return values
        notice("system.language", "system.languages")
        one = values["language"]
        return {**{key: value for key, value in values.items() if key != "language"}, "languages": [one] if one else []}


def student_data(
    own: PairSettings,
    dataset: Dataset,
    start: Start,
    task: str,
    check: Callable[[Sequence[str]], None],
    corpus_of: Callable[[PairStore], Corpus],
) -> Dataset:
    """Sentences of new languages with known ones that mean the same, in the place of captions and pictures.

    Args:
        task: what the teacher does; one that judges is taught by statements.
        check: raises where the student cannot learn one of these languages.
        corpus_of: what stands for the corpus of pairs that lie in a store.
    """
    knows = list(start.languages) or ([] if own.known is None else [own.known])
    if own.pairs is not None and not own.pairs.startswith("corpus:"):
        _check_new(own, own.languages, knows, check)
        path = Path(own.pairs).expanduser()
        store = PairStore.open(path, Wanted(tuple(own.languages), own.known, tuple(knows)))
        _check_new(own, store.new, knows, check)
        if own.fingerprint not in (None, store.fingerprint):
            raise UserError(f"{path}: has changed since this training began; begin another one")
        return _unseen(dataset, corpus_of(store), store)
    if own.pairs is not None:
        corpus = whole = load_corpus(CorpusSettings(name=own.pairs.removeprefix("corpus:")), dataset.data)
    else:
        corpus, whole = dataset.corpus, dataset.corpus if dataset.whole is None else dataset.whole
    if task == "entailment":
        corpus, whole = corpus.judged(), whole.judged()
    present = corpus.all_languages()
    for code in own.languages:
        if code not in present:
            raise UserError(f'corpus {corpus.name} has nothing in "{code}" (there is: {", ".join(present)})')
    if not knows:
        raise UserError("system.known: nobody knows the languages of this teacher; say which are known (--from)")
    new = own.languages or [code for code in present if code not in knows]
    if not new:
        raise UserError(
            f"the teacher knows every language of the corpus ({', '.join(knows)}); name the one to learn in "
            "system.languages"
        )
    _check_new(own, new, knows, check)
    known = [own.known] if own.known is not None else [code for code in knows if code not in new]
    if task == "entailment":
        shared = whole.keep_pictures(np.isin(whole.pictures, corpus.pictures))
        meanings = sentence_pairs.of_statements(shared, known, new)
    else:
        beside = conditions.add(corpus.only(new), whole.only(known))
        meanings = [one for code in new for one in _captions(beside, known, code)]
    if not meanings:
        raise UserError(
            f"corpus {corpus.name} has nothing in {', '.join(new)} beside something in a language that the teacher "
            f"knows ({', '.join(knows)})"
        )
    said = sentence_pairs.as_corpus(corpus.name, meanings)
    return _unseen(dataset, said, CorpusPairs(said, new))


def pairs_of(context: Context) -> PairSource:
    assert context.train.pairs is not None  # noqa: S101 (see `student_data`)
    return context.train.pairs


def sample(context: Context, tokeniser: Tokeniser) -> TrainingData:
    """A sentence in each language: all that reads for a model reads one of them."""
    source = pairs_of(context)
    pairs = source.split("dev")
    first = int(pairs.partner(np.zeros(1, dtype=np.int64))[0])
    said = [(pairs.known_languages[first], pairs.known[first]), *((code, pairs.new[0]) for code in source.new)]
    few = sentence_pairs.as_corpus("sample", [Meaning("one", "train", tuple(said))])
    return TrainingData.build(few, np.zeros((1, 0), dtype=np.float32), tokeniser, context.device)


def _check_new(
    own: PairSettings, new: Sequence[str], knows: Sequence[str], check: Callable[[Sequence[str]], None]
) -> None:
    old = [code for code in new if code in knows]
    if old and not own.again:
        raise UserError(
            f'the teacher knows "{old[0]}" already; to have a student read it instead, say --again (system.again)'
        )
    check(new)


def _captions(corpus: Corpus, known: list[str], new: str) -> list[Meaning]:
    """Translations where the corpus has any in this language, comparable captions otherwise."""
    rows = translation_rows(corpus, known)
    mine = np.flatnonzero((corpus.languages == new) & (rows >= 0).any(axis=1))
    if not len(mine):
        return sentence_pairs.of_captions(corpus, known, [new])
    meanings = []
    for row in mine.tolist():
        said = [(str(corpus.languages[other]), corpus.texts[other]) for other in rows[row].tolist() if other >= 0]
        name, split = str(corpus.pictures[corpus.owners[row]]), str(corpus.splits[corpus.owners[row]])
        meanings.append(sentence_pairs.meaning(name, split, said, (new, [corpus.texts[row]])))
    return meanings


def _unseen(dataset: Dataset, corpus: Corpus, pairs: PairSource) -> Dataset:
    """Sentences that stand for themselves: their "pictures" have no features."""
    return Dataset(corpus, np.zeros((len(corpus.pictures), 0), dtype=np.float32), data=dataset.data, pairs=pairs)
