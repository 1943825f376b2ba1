"""The numbers of a table are of the same test captions, wherever each of them comes from."""

from collections.abc import Iterable
from pathlib import Path

from groundling.errors import UserError
from groundling.experiments.entry_data import entry_dataset
from groundling.experiments.finished import Results, shortened
from groundling.experiments.table_entries import TableEntry


def check_together(entries: Iterable[TableEntry], results: Results) -> None:
    """Numbers of one corpus whose test captions have changed between two trainings belong into no table together."""
    seen: dict[tuple[str, str], tuple[str, str]] = {}
    for entry in entries:
        for code, digest in _told(entry, results).items():
            first, other = seen.setdefault((_tested_on(entry), code), (digest, entry.key))
            if first != digest:
                raise UserError(
                    f"corpus {entry.recipe.corpus.name}: {entry.key} and {other} were tested on different captions in "
                    f"{code}; train one of them again (remove its folder, or leave the file that tells of it out)"
                )


def check_against_data(entries: Iterable[TableEntry], known: Results, data: Path | None) -> None:
    """What is known was tested on the captions that are here now, and on which others are going to be tested."""
    here: dict[str, dict[str, str]] = {}
    for entry in entries:
        asked = _told(entry, known)
        if not asked:
            continue
        key = _tested_on(entry)
        if key not in here:
            here[key] = _asked_here(entry, data)
        changed = sorted(code for code, digest in asked.items() if here[key].get(code, digest) != digest)
        if changed:
            raise UserError(
                f"corpus {entry.recipe.corpus.name}: its test captions in {', '.join(changed)} are not those that "
                f"{entry.key} was tested on; leave the file that tells of it out of --known"
            )


def _told(entry: TableEntry, results: Results) -> dict[str, str]:
    """Language → the hash of what an entry was tested on; of questions nobody notes it."""
    return dict(results[entry.key].asked) if entry.key in results and entry.ask is None else {}


def _tested_on(entry: TableEntry) -> str:
    """What decides which captions there are to test on. The other settings of a corpus are about training."""
    corpus = entry.recipe.corpus.model_dump_json(include={"name", "split_by", "captions_from", "test_on"})
    return f"{_judges(entry)} {corpus} {entry.recipe.evaluation.model_dump_json()}"


def _judges(entry: TableEntry) -> bool:
    from groundling import systems

    return not entry.pretrained and systems.of(entry.recipe).task == "entailment"


def _asked_here(entry: TableEntry, data: Path | None) -> dict[str, str]:
    from groundling.evaluation.provenance import corpus_hashes
    from groundling.evaluation.retrieval import check_queries

    whole = entry.recipe.corpus.model_copy(update={"languages": None})
    everything = entry.recipe.model_copy(update={"corpus": whole})
    dataset = entry_dataset(TableEntry(entry.row, entry.group, everything), data)
    if _judges(entry):
        corpus = dataset.judged().split("test").corpus
        return shortened(corpus_hashes(corpus, None if corpus.statements is None else corpus.statements.labels))
    asked, corpus = entry.recipe.evaluation, dataset.split("test").corpus
    return shortened(corpus_hashes(check_queries(corpus, "test", asked.captions, asked.folds)))
