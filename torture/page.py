"""docs/reliability.md: its block of figures, made from the JSON that a torture has left."""

from collections.abc import Callable, Sequence
from typing import Any

from torture.results import Row, markdown

BEGIN, END = "<!-- figures: make reliability -->", "<!-- end of figures -->"
BUSY = 1.0  # load average for each core from which it is told that others used the machine


def filled(text: str, found: dict[str, Any]) -> str:
    """The page with the figures of `found` between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{block(found)}\n{END}{after}"


def block(found: dict[str, Any]) -> str:
    rows, made = [Row(**row) for row in found["rows"]], found["made"]
    tried, held = sum(row.tried for row in rows), sum(row.held for row in rows)
    load = max(made["load_before"] / made["cores"], 0)
    others = " Other programs used the machine, so that times are longer than they need be." if load > BUSY else ""
    about = (
        f"{made['minutes']:g} minutes on {made['cores']} cores, groundling {made['groundling']}, Python "
        f"{made['python']}, seed {made['seed']}; load average {made['load_before']:g} before and "
        f"{made['load_after']:g} after.{others} {held:,} of {tried:,} trials held."
    )
    return "\n\n".join([about, "## Then and now", compared(rows), "## All of it", markdown(rows)])


def compared(rows: Sequence[Row]) -> str:
    """What broke when it was first attacked, beside the same now; what was not tried this time is left open."""
    by_name = {f"{row.part}: {row.name}": row for row in rows}
    lines = ["| attack | then | now |", "|---|---|---|"]
    for attack, then, name, now in THEN:
        row = by_name.get(name)
        lines.append(f"| {attack} | {then} | {'not tried' if row is None else now(row)} |")
    for part, attack, then in PARTS:
        of_part = [row for row in rows if row.part == part]
        held, tried = sum(row.held for row in of_part), sum(row.tried for row in of_part)
        lines.append(f"| {attack} | {then} | {f'{held:,} of {tried:,} held' if tried else 'not tried'} |")
    return "\n".join(lines)


def health(row: Row) -> str:
    waits, status, seconds = (row.figures[name] for name in ("slowest_health_s", "status", "seconds"))
    return f"{1000 * waits:.0f} ms; the upload is answered {status:.0f} in {seconds:.2f} s"


def kept(row: Row) -> str:
    return f"{row.figures['most_mb']:.0f} MB at most, {max(0, row.figures['kept_mb']):.0f} MB kept"


def ratio(row: Row) -> str:
    return f"{row.figures['ratio']:.2f} ({row.figures['p99_calm_ms']:.0f} → {row.figures['p99_attacked_ms']:.0f} ms)"


# Attack, what came of it then, the row that has it now, and what to tell of it.
THEN: list[tuple[str, str, str, Callable[[Row], str]]] = [
    ("a JPEG of 475,000 Exif segments: `/health` waits", "209 s", "bombs: exif segments", health),
    ("10 MB of 0xFF in a JPEG: `/health` waits", "14 s", "bombs: fill", health),
    ("empty JPEG comments: `/health` waits", "6 s", "bombs: comments", health),
    ("empty PNG chunks: `/health` waits", "6 s", "bombs: empty chunks", health),
    ("a JPEG of repeated scans", "47 s of decoding", "bombs: repeated scans", health),
    ("a PNG of 1 × 49,000,000 pixels", "1.1 GB", "bombs: a tall line", health),
    (
        "`index` of two PNGs of 13,300²",
        "9.8 GB",
        "memory: index of two pictures of 177 million pixels",
        lambda row: row.note,
    ),
    ("eight uploads of 49 megapixels", "2.7 GB kept", "memory: eight uploads of 49 million pixels", kept),
    ("150 clients that do not read", "0.8 GB", "memory: 150 clients that do not read", kept),
    (
        "an index opened while it is updated",
        "20 of 15,294 opens failed",
        "updates: index opened while it is updated",
        lambda row: f"{row.tried - row.held:,} of {row.tried:,} failed",
    ),
    (
        "32 clients, one attacker: the others' p99 grows by",
        "only 504 for pictures",
        "clients: 32, one attacker among them",
        ratio,
    ),
    (
        "128 clients, one attacker: the others' p99 grows by",
        "only 504 for pictures",
        "clients: 128, one attacker among them",
        ratio,
    ),
]
PARTS = [
    ("mutated files", "damaged and hostile files of every kind", "3 of 90 indexes, 10 of 16 weights passed"),
    ("kill −9", "commands killed at any moment, and called again", "67 kills held; 531 MB of `.part` files left"),
    ("full disk", "commands on a full disk", "tracebacks"),
    ("two at once", "two processes into one folder", "both ended well, and mixed"),
]
