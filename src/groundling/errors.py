"""The one exception that is a user's mistake: the command line prints its sentence and exits with code 2."""

import difflib
from collections.abc import Iterable
from pathlib import Path

FEW = 20  # names that still make a sentence
ALIKE = 0.7  # of two names, from which one may be meant by the other; below that it is a guess that helps nobody


class UserError(Exception):
    """A mistake the user can mend. The message says where it is, what it is, and the next step, in one sentence."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` (did you mean "x"?)`; where nothing is near, the list of what there is, if it is short enough to help."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=ALIKE)
    if near:
        return f' (did you mean "{near[0]}"?)'
    return f" (there is: {', '.join(known)})" if 0 < len(known) <= FEW else ""


def path_meant(path: Path) -> str:
    """` (did you mean "x"?)` for a path that is not there, where something beside it has nearly that name."""
    try:
        beside = [other.name for other in path.expanduser().parent.iterdir()]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, beside, n=1, cutoff=ALIKE)
    return f' (did you mean "{path.with_name(near[0])}"?)' if near else ""
