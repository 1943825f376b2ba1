"""groundling teach"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundling.cli.output import AsJson, Data, Device, language_code, print_json, print_table

if TYPE_CHECKING:
    from groundling.evaluation.translation_retrieval import Matching
    from groundling.training.taught_result import Abilities, TaughtResult

#: Task → metric of the test split → its label in the table.
SHOWN = {
    "entailment": {"accuracy": "statements of {corpus}, % judged right"},
    "retrieval": {
        "mR": "{corpus}: mR",
        "text_to_image.R@1": "text→picture R@1",
        "text_to_image.R@10": "text→picture R@10",
        "image_to_text.R@1": "picture→text R@1",
        "image_to_text.R@10": "picture→text R@10",
    },
}
MANY = 500  # held-out pairs from which a share needs no interval


def teach(
    model: Annotated[
        str,
        typer.Argument(help="The teacher: the folder of a run; a pretrained model by folder, hub name or short name."),
    ],
    language: Annotated[str, typer.Option(help="The code of the new language, e.g. ko; several with commas: ko,ja.")],
    pairs: Annotated[
        Path | None,
        typer.Option(
            help="A file of sentence pairs: .tsv (a sentence that the model knows, a tab, the same in the new "
            "language), .csv, .jsonl, .parquet, .tmx, each but .parquet also .gz; or x of Moses' x.en and x.ko.",
        ),
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(
            help="Instead of --pairs: the captions of a corpus's training pictures, translations where it has any."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The new run's folder; MODEL+LANGUAGE when left out.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", help="The language of the known sentences; the file's header says when left out."),
    ] = None,
    student: Annotated[
        str,
        typer.Option(
            help="Who reads the new language: words (new words only), encoder (and a reader of their own), characters, "
            "use, hub:NAME or hub:FOLDER; of a pretrained model own (its text side tuned, old languages held; needs "
            "the extra tune) or own:full.",
        ),
    ] = "encoder",
    text_model: Annotated[
        str | None, typer.Option(help="For a pretrained teacher: another model's text side, by folder or hub name.")
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(help="Show before and after on this corpus's test split; the run's own when left out, if it can."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also a language that the run knows: the student reads it from then on.")
    ] = False,
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="The most steps; by the number of pairs when left out. Ends when nothing is gained."),
    ] = None,
    batch_size: Annotated[int, typer.Option(min=2, help="Pairs in a step.")] = 128,
    learning_rate: Annotated[
        float | None,
        typer.Option(
            help="At its highest; when left out 0.001, of hub: students 0.00004, of own 0.0002, of own:full 0.00001."
        ),
    ] = None,
    minimum_count: Annotated[int, typer.Option(min=1, help="Rarer words are not learned.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is drawn.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a teaching that was cut off.")] = False,
    data: Data = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Add languages to a model from pairs of sentences, without any picture.

    The new run reads all the languages of the old one, exactly as before (nearly so with --student own), and the new
    ones; it can be evaluated, searched with, checked with, and taught again. It needs the model that taught it no more.
    """
    from groundling.cli.output import warn
    from groundling.devices import pick_device
    from groundling.errors import UserError
    from groundling.training.teaching import Lesson, taught_folder
    from groundling.training.teaching import teach as run_lesson

    if (pairs is None) == (corpus is None):
        raise UserError("say what to learn from: --pairs FILE.tsv, or --corpus NAME")
    if learning_rate is not None and not learning_rate > 0:
        raise UserError("--learning-rate: a number above 0 is needed")
    pick_device(device)
    new = [language_code(code, "--language: ") for code in language.split(",")]
    known = None if source is None else language_code(source, "--from: ")
    if known in new:
        raise UserError(f"--from: the known language cannot be the new one, {known}")
    lesson = Lesson(
        model,
        tuple(dict.fromkeys(new)),
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
        text_model,
    )
    result = run_lesson(lesson, out or taught_folder(lesson), data, device, resume, warn)
    if as_json:
        return print_json(result.to_json())
    _show(result)


def _show(result: "TaughtResult") -> None:
    for code in result.taught:
        _show_language(result, code)
    print(f"{result.run}: reads {', '.join(result.languages)}")
    if result.corpus is None:  # a pretrained model, which knows of no corpus
        print(f"Next: groundling index PHOTOS --model {result.run}")
    elif not result.not_tested:  # else there is nothing that it could be evaluated on
        print(f"Next: groundling evaluate {result.run}")


def _show_language(result: "TaughtResult", code: str) -> None:
    from groundling.report.formatted_table import Column, Table
    from groundling.report.languages import language_name

    before, after, counts = result.before[code], result.after[code], result.pairs
    columns = [Column("", text=True), Column("before"), Column("after")]
    notes = [
        f"Learned from {counts['train']:,} sentences with a known one beside each; {counts['dev']:,} others stopped "
        "the training.",
        *_intervals(after.matching),
    ]
    if result.not_tested:
        notes.append(f"Matching only: {result.not_tested}. Another corpus can be named with --test.")
    if result.old_cosine is None:
        notes.append("The old languages are encoded as before, bit for bit.")
    else:
        near = result.old_cosine
        notes.append(f"The old languages have moved: their mean cosine with what they were is {near:.4f}.")
    title = f"{language_name(code)}, taught by {result.teacher} ({result.student})"
    print_table(Table(title, columns, _rows(before, after, result.task), notes))


def _intervals(matching: "Matching | None") -> list[str]:
    """How much is known after so few pairs."""
    if matching is None or matching.pairs >= MANY:
        return []
    (low, high), (first, last) = matching.to_known_interval, matching.from_known_interval
    return [
        f"From {matching.pairs} held-out pairs: with 95% confidence new → known is between {low:.0f} and "
        f"{high:.0f}, known → new between {first:.0f} and {last:.0f}."
    ]


def _rows(before: "Abilities", after: "Abilities", task: str) -> list[list[str | float | None]]:
    """A label, and what the model could do before and after; None where it could not read the language at all."""
    rows: list[list[str | float | None]] = []
    both = (before, after)
    if after.test is not None:
        tested = [None if one.test is None else one.test.numbers() for one in both]
        for metric, label in SHOWN[task].items():
            numbers = [None if values is None else values[metric] for values in tested]
            rows.append([label.format(corpus=after.corpus), *numbers])
    if after.matching is not None:
        among = f"the right one of {after.matching.meanings:,} first, %"
        for way, label in (("to_known", "new sentence → known"), ("from_known", "known sentence → new")):
            shares = [None if one.matching is None else getattr(one.matching, way) for one in both]
            rows.append([f"{label}: {among}", *shares])
    return rows
