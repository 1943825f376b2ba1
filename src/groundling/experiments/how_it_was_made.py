"""How a table was made: its command, and the commits, devices and time of its trainings and of what they build on."""

from collections.abc import Collection, Sequence

from groundling.experiments.finished import Earlier, Results, folder_of
from groundling.experiments.record import EITHER
from groundling.experiments.table_entries import TableEntry, builds_on
from groundling.run_facts import RunFacts

Told = dict[str, str | int | None]  # None: there is nothing to tell


def how_it_was_made(command: str, results: Results, entries: Sequence[TableEntry]) -> dict[str, str | int]:
    """What a table tells of its `entries`, as far as they have results.

    A judge or a teacher that is trained first, and is no entry itself, is not among the table's trainings. It is told
    of below them.
    """
    runs = {folder_of(key): found.run for key, found in results.items()}
    known = {folder_of(key) for key, found in results.items() if found.known}
    wanted = len({entry.folder for entry in entries})
    earlier = _earlier([entry for entry in entries if entry.key in results], results, runs.keys())
    made: Told = {
        "command": command,
        **_where(list(runs.values())),
        "trainings": len(runs) if len(runs) == wanted else f"{len(runs)} of {wanted}; the others were not finished",
        "known from earlier JSON": len(known) or None,
        **_took(list(runs.values())),
    }
    if earlier:
        own = {**_where(earlier), **_took(earlier)}
        made |= {"trainings that these build on": len(earlier)} | {f"their {key}": value for key, value in own.items()}
    return {key: value for key, value in made.items() if value is not None}


def _earlier(entries: Sequence[TableEntry], results: Results, own: Collection[str]) -> list[Earlier]:
    """The trainings that entries build on and that are none of the table's `own`. Of one of which nothing is
    noted there is an empty one."""
    noted: dict[str, set[Earlier]] = {}
    for entry in entries:
        told = results[entry.key].builds_on
        for folder in (one.folder for one in builds_on(entry) if one.folder not in own):
            noted.setdefault(folder, set()).update([told[folder]] if folder in told else [])
    return [one for found in noted.values() for one in found or {Earlier()}]


def _where(runs: Sequence[RunFacts | Earlier]) -> Told:
    def all_of(told: Sequence[str | None]) -> str:
        return ", ".join(sorted({part for each in told for part in (each or "not noted").split(EITHER)}))

    return {
        "commit": all_of([run.commit for run in runs]),
        "device": all_of([run.device for run in runs]),
        "precision": all_of([run.precision for run in runs]),
    }


def _took(runs: Sequence[RunFacts | Earlier]) -> Told:
    return {
        "steps": _added_up([run.steps for run in runs]),
        "seconds of training": _added_up([run.seconds for run in runs]),
    }


def _added_up(numbers: Sequence[float | None]) -> str | int | None:
    known = [number for number in numbers if number]
    total, unknown = round(sum(known)), len(numbers) - len(known)
    if not total:
        return None
    return f"{total}, without {unknown} of {len(numbers)} trainings that have none noted" if unknown else total
