"""Amounts as people read them: two figures that count, and a unit."""


def share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %"


def figures(value: float) -> str:
    """Two figures that count, for people.

    >>> [figures(value) for value in (0.01234, 1.26, 34567.0)]
    ['0.012', '1.3', '35,000']
    """
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def seconds(value: float) -> str:
    return f"{figures(1000 * value)} ms" if value < 1 else f"{figures(value)} s"


def hours(value: float | None) -> str:
    """Hours, or what they cost."""
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
