"""Plans as tables: of the parts of one, and of what to use from ten thousand pictures to a hundred million."""

from dataclasses import replace

from groundling.plan.amounts import hours, seconds, size
from groundling.plan.estimate import SIZES, Plan, plan
from groundling.plan.work import Part, Work
from groundling.report.formatted_table import Column, Table

CAPTIONS_EACH = 5  # of the pictures of the overview


def parts_table(made: Plan) -> Table:
    """A row for each part; the cost only where there are prices."""
    priced = any(part.cost is not None for part in made.parts)
    names = ["", "with", "memory", "disk", "core hours", "GPU hours", "hours", *(["cost"] if priced else []), "note"]
    rows = [_row(part, priced) for part in made.parts]
    work = made.work
    with_what = f"{work.cores} cores" + (f" and {work.gpus} GPU{'s' * (work.gpus > 1)}" if work.gpus else "")
    title = f"{work.pictures:,} pictures, {work.captions:,} captions, {with_what}: {made.use}"
    return Table(title, [Column(name, text=True) for name in names], rows, notes=notes(made))


def notes(made: Plan) -> list[str]:
    machines = sorted({one.machine for one in made.constants})
    priced = [part.what for part in made.done if part.cost is not None]
    cost = f"At your prices {hours(total_cost(made))} for all of: {'; '.join(priced)}."
    journal = next(size(part.journal) for part in made.done if part.journal is not None)
    return [
        *([cost] if priced else []),
        f"Disk of an index is that of its vectors, lists and table of names; until it is built, {journal} of vectors "
        "wait in a journal beside it.",
        "A dash: not measured here, or nothing to speak of. Memory of an index is that of building it.",
        f"Computed from what was measured on {' and on '.join(machines)} (--json has each number and its command); "
        "your machine differs.",
    ]


def _row(part: Part, priced: bool) -> list[str]:
    cells = [part.what, part.how, size(part.memory), size(part.disk)]
    cells += [hours(part.core_hours), hours(part.gpu_hours), hours(part.hours)]
    return [*cells, *([hours(part.cost)] if priced else []), part.note]


def overview(work: Work) -> Table:
    """A row for each size, from ten thousand pictures to a hundred million, with five captions each; all else as in
    `work`, and the cost only where there are prices."""
    plans = sizes(work)
    priced = any(part.cost is not None for made in plans for part in made.parts)
    names = [
        "pictures",
        "encode, hours",
        "cached features",
        "train, hours",
        "exact query",
        "disk of the index",
        "its journal",
        "memory to build it",
        *(["cost"] if priced else []),
        "use",
    ]
    return Table("", [Column(name, text=True) for name in names], [_overview_row(made, priced) for made in plans])


def sizes(work: Work) -> list[Plan]:
    return [plan(replace(work, pictures=count, captions=CAPTIONS_EACH * count)) for count in SIZES]


def _overview_row(made: Plan, priced: bool) -> list[str]:
    of = {part.what: part for part in made.parts}
    query, training = of["index, exact"].query, of["train"]
    used = next(part for part in made.done if part.what.startswith("index"))
    trained = "does not fit a GPU" if training.hours is None else hours(training.hours)
    row = [f"{made.work.pictures:,}", hours(of["encode pictures"].hours), size(of["cache features"].disk), trained]
    row += ["–" if query is None else seconds(query), size(used.disk), size(used.journal), size(used.memory)]
    cost = hours(total_cost(made)) + (" without training" if training.cost is None else "")
    return [*row, *([cost] if priced else []), made.use]


def total_cost(made: Plan) -> float:
    return sum(part.cost for part in made.done if part.cost is not None)
