"""Plans as tables: of the parts of one, and of what to use from ten thousand pictures to a hundred million."""

from groundling.plan.estimate import SIZES, Part, Plan, Work, figures, plan, seconds
from groundling.report.formatted_table import Column, Table

CAPTIONS_EACH = 5  # of the pictures of the overview


def parts_table(made: Plan) -> Table:
    """A row for each part; the cost only where there are prices."""
    priced = any(part.cost is not None for part in made.parts)
    names = ["", "with", "memory", "disk", "core hours", "GPU hours", "hours", *(["cost"] if priced else []), "note"]
    rows = [_row(part, priced) for part in made.parts]
    work = made.work
    with_what = f"{work.cores} cores" + (f" and {work.gpus} GPUs" if work.gpus else "")
    title = f"{work.pictures:,} pictures, {work.captions:,} captions, {with_what}: {made.use}"
    return Table(title, [Column(name, text=True) for name in names], rows, notes=notes(made))


def notes(made: Plan) -> list[str]:
    machines = sorted({one.machine for one in made.constants})
    return [
        "A dash: not measured here, or nothing to speak of. Memory of an index is that of building it.",
        f"Computed from what was measured on {' and on '.join(machines)} (--json has each number and its command); "
        "your machine differs.",
    ]


def _row(part: Part, priced: bool) -> list[str]:
    cells = [part.what, part.how, size(part.memory), size(part.disk)]
    cells += [hours(part.core_hours), hours(part.gpu_hours), hours(part.hours)]
    return [*cells, *([hours(part.cost)] if priced else []), part.note]


def overview(gpus: int = 1, cores: int = 16) -> Table:
    """A row for each size, from ten thousand pictures to a hundred million, with five captions each."""
    names = [
        "pictures",
        "encode, hours",
        "cached features",
        "train, hours",
        "exact query",
        "disk of the index",
        "memory to build it",
        "use",
    ]
    rows = []
    for pictures in SIZES:
        made = plan(Work(pictures, CAPTIONS_EACH * pictures, gpus, cores))
        of = {part.what: part for part in made.parts}
        index = of["index, exact"]
        query = "–" if index.query is None else seconds(index.query)
        row = [f"{pictures:,}", hours(of["encode pictures"].hours), size(of["cache features"].disk)]
        used = next(part for part in of.values() if part.how in made.use)
        row += [hours(of["train"].hours), query, size(used.disk), size(used.memory), made.use]
        rows.append(row)
    return Table("", [Column(name, text=True) for name in names], rows)


def hours(value: float | None) -> str:
    if value is None:
        return "–"
    return "under 0.01" if value < 0.01 else figures(value)


def size(value: float | None) -> str:
    """Bytes, for people.

    >>> size(2.05e9), size(5.2e11)
    ('2 GB', '520 GB')
    """
    if value is None:
        return "–"
    for unit, one in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if value >= one:
            return f"{figures(value / one)} {unit}"
    return f"{figures(value / 1e3)} kB"
