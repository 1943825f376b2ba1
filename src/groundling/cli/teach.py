"""groundling teach"""

from pathlib import Path
from typing import Annotated, Any

import typer

from groundling.cli.output import AsJson, Data, Device, print_json, print_table


def teach(
    run: Annotated[Path, typer.Argument(help="The folder of a trained run: the teacher.")],
    language: Annotated[str, typer.Option(help="The code of the new language, e.g. ko.")],
    pairs: Annotated[
        Path | None,
        typer.Option(help="A .tsv file: a sentence in a language the run knows, a tab, the same in the new language."),
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(
            help="Instead of --pairs: the captions of a corpus's training pictures, translations where it has any."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The new run's folder; RUN+LANGUAGE when left out.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", help="The language of the known sentences; the file's header says when left out."),
    ] = None,
    student: Annotated[
        str,
        typer.Option(
            help="Who reads the new language: words (new words only), encoder (and a reader of their own), characters, "
            "use, hub:NAME or hub:FOLDER.",
        ),
    ] = "encoder",
    test: Annotated[
        str | None,
        typer.Option(help="Show before and after on this corpus's test split; the run's own when left out, if it can."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also a language that the run knows: the student reads it from then on.")
    ] = False,
    steps: Annotated[int, typer.Option(min=1, help="The most steps; it ends earlier when nothing is gained.")] = 3000,
    batch_size: Annotated[int, typer.Option(min=2, help="Pairs in a step.")] = 128,
    learning_rate: Annotated[
        float | None, typer.Option(help="At its highest; 0.001 when left out, 0.00004 for hub: students.")
    ] = None,
    minimum_count: Annotated[int, typer.Option(min=1, help="Rarer words are not learned.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is drawn.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a teaching that was cut off.")] = False,
    data: Data = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Add a language to a trained model from pairs of sentences, without any picture.

    The new run reads all the languages of the old one, exactly as before, and the new one; it can be evaluated,
    searched with, checked with, and taught again.
    """
    from groundling.corpus.formats.checks import BadRow, language_code
    from groundling.devices import pick_device
    from groundling.errors import UserError
    from groundling.training.teaching import Lesson
    from groundling.training.teaching import teach as run_lesson

    if (pairs is None) == (corpus is None):
        raise UserError("say what to learn from: --pairs FILE.tsv, or --corpus NAME")
    if learning_rate is not None and not learning_rate > 0:
        raise UserError("--learning-rate: a number above 0 is needed")
    pick_device(device)
    codes = []
    for option, code in (("--language", language), ("--from", source)):
        try:
            codes.append(None if code is None else language_code(code))
        except BadRow as problem:
            raise UserError(f"{option}: {problem}") from None
    new, known = str(codes[0]), codes[1]
    if new == known:
        raise UserError(f"--from: the known language cannot be the new one, {new}")
    folder = out or run.with_name(f"{run.name}+{new}")
    lesson = Lesson(
        run,
        new,
        f"corpus:{corpus}" if corpus is not None else str(pairs),
        known,
        student,
        again,
        steps,
        batch_size,
        learning_rate,
        minimum_count,
        seed,
        test,
    )
    result = run_lesson(lesson, folder, data, device, resume)
    if as_json:
        return print_json(result)
    _show(result)


def _show(result: dict[str, Any]) -> None:
    from groundling.report.formatted_table import Column, Table
    from groundling.report.languages import language_name

    name, before, after = language_name(result["language"]), result["before"], result["after"]
    counts = result["pairs"]
    columns = [Column("", text=True), Column("before"), Column("after")]
    rows: list[list[Any]] = []
    for label, path in _lines(result):
        rows.append([label, _number(before, path), _number(after, path)])
    notes = [
        f"Learned from {counts['train']:,} sentences with a known one beside each; {counts['dev']:,} others stopped "
        "the training.",
    ]
    if result.get("not_tested"):
        notes.append(f"Matching only: {result['not_tested']}. Another corpus can be named with --test.")
    same = "are" if result["old_languages_unchanged"] else "are NOT"
    notes.append(f"The old languages {same} encoded as before, bit for bit.")
    print_table(Table(f"{name}, taught by {result['teacher']} ({result['student']})", columns, rows, notes))
    print(f"{result['run']}: reads {', '.join(result['languages'])}")
    if not result.get("not_tested"):  # else there is nothing that it could be evaluated on
        print(f"Next: groundling evaluate {result['run']}")


def _lines(result: dict[str, Any]) -> list[tuple[str, tuple[str, ...]]]:
    """What is shown, and where it stands in the result."""
    matching = result["after"]["matching"]
    among = f"the right one of {matching['meanings']:,} first, %"
    lines: list[tuple[str, tuple[str, ...]]] = [
        (f"new sentence → known: {among}", ("matching", "to_known")),
        (f"known sentence → new: {among}", ("matching", "from_known")),
    ]
    tested = result["after"].get("test")
    if tested is not None and result["task"] == "entailment":
        lines.insert(0, (f"statements of {tested['corpus']}, % judged right", ("test", "accuracy")))
    elif tested is not None:
        found = [("text→picture R@1", "text_to_image", "R@1"), ("text→picture R@10", "text_to_image", "R@10")]
        found += [("picture→text R@1", "image_to_text", "R@1"), ("picture→text R@10", "image_to_text", "R@10")]
        tail = lines
        lines = [(f"{tested['corpus']}: mR", ("test", "mR"))]
        lines += [(label, ("test", direction, recall)) for label, direction, recall in found]
        lines += tail
    return lines


def _number(found: Any, path: tuple[str, ...]) -> float | None:
    """None where the model could not read the language at all."""
    for key in path:
        found = None if found is None else found.get(key)
    return None if found is None else float(found)
