"""The one exception that is a user's mistake: the command line prints its sentence and exits with code 2."""

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """A mistake the user can mend. The message says where it is, what it is, and the next step, in one sentence."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` (did you mean "x"?)`, or the list of what there is when nothing is near."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f' (did you mean "{near[0]}"?)'
    shown = ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
    return f" (there is: {shown})" if known else ""
