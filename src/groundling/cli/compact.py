"""groundling compact"""

from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.output import AsJson, print_json


def compact(
    run: Annotated[Path, typer.Argument(help="The folder of a trained run.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the smaller run; must not be there yet.")],
    as_json: AsJson = False,
) -> None:
    """A smaller run that gives the same scores: only what retrieval needs, with linear maps folded where that is less.

    For embn, par_embn, mule, la, hem and smalr. The smaller run can be used, evaluated and indexed, not trained on.
    """
    from groundling.training.compact import compact as fold

    result = fold(run, out)
    if as_json:
        return print_json(result.to_json())
    print(
        f"{out}: {result.compact:,} parameters, {result.for_words:,} of them for words ({result.trained:,} were "
        f"trained); {result.bytes_after / 1e6:.1f} MB instead of {result.bytes_before / 1e6:.1f}"
    )
