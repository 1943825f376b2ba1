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
        return print_json(result)
    sizes, size = result["parameters"], result["bytes"]
    print(
        f"{out}: {sizes['compact']:,} parameters, {sizes['compact, for words']:,} of them for words "
        f"({sizes['trained']:,} were trained); {size['after'] / 1e6:.1f} MB instead of {size['before'] / 1e6:.1f}"
    )
