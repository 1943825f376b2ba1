"""groundling evaluate"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from groundling.cli.output import (
    ANY_MODEL,
    AsJson,
    Data,
    Device,
    Prompt,
    TextModel,
    print_json,
    print_table,
    warn_of_skipped,
)

if TYPE_CHECKING:
    from groundling.evaluation.results import Result
    from groundling.evaluation.unseen import UnseenResult
    from groundling.model import Model


class EvaluateCommand(TyperCommand):
    """Says below its help which metrics there are, also those of other packages."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        from groundling.evaluation.metrics import METRICS

        with formatter.section("Metrics"):
            formatter.write_dl([(name, metric.about) for name, metric in METRICS.items()])


def evaluate(
    model: Annotated[str | None, typer.Argument(metavar="MODEL", help=ANY_MODEL)] = None,
    split: Annotated[str, typer.Option(help="train, dev or test.")] = "test",
    captions: Annotated[
        str | None, typer.Option(help="Which captions are queries: first or all; the corpus knows when left out.")
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Average over so many equal parts of the pictures, each ranked by itself (COCO 1K: 5; 5K: 1); the "
            "recipe says when left out.",
        ),
    ] = None,
    corpus: Annotated[
        str | None, typer.Option(help="The corpus to evaluate on; another one than the run's own, where it is a run.")
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(
            help="Only captions in this language of the model (repeatable); all that it and the corpus have when left "
            "out."
        ),
    ] = None,
    text_model: TextModel = None,
    prompt: Prompt = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Where the answer is kept, with the rank of every query for `groundling compare`; "
            "runs/MODEL-on-CORPUS when left out. A run keeps the answer to its own question itself.",
        ),
    ] = None,
    unseen_language: Annotated[
        list[str] | None,
        typer.Option(
            help="Instead of the run's own languages, score captions of its corpus in this one (repeatable), which it "
            "was never trained on, and say what it can know of it."
        ),
    ] = None,
    consistency: Annotated[
        str | None,
        typer.Option(
            metavar="average|learned",
            help="Ask each query together with its translations: the mean of their scores, or a mix learned on dev.",
        ),
    ] = None,
    translate_to: Annotated[
        str | None,
        typer.Option(
            metavar="LANGUAGE", help="Translate the captions of all languages of the corpus to this one and ask in it."
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="Where translations come from: a table (.tsv), hub:NAME, ctranslate2:NAME or a model's folder, "
            "corpus:NAME; own: those in the corpus (the default); comparable: captions of the same picture, as an "
            "upper bound.",
        ),
    ] = None,
    by_origin: Annotated[
        bool, typer.Option("--by-origin", help="People's captions, their translations and a machine's, each apart.")
    ] = False,
    vectors: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="P.npy C.npy", help="Score anybody's vectors of pictures and of captions instead of a run."
        ),
    ] = None,
    owners: Annotated[
        Path | None, typer.Option(help="With --vectors: the row of each caption's picture, O.npy.")
    ] = None,
    data: Data = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Exact retrieval results in both directions, by language. Of a model that judges statements: accuracy, loss,
    confusions and calibration, with what is right without a look at the pictures.

    Writes ranks.safetensors (predictions.safetensors), evaluation.json, report.html and report.md: of a run's own test
    split, queries and folds into its folder, of other models into that of --out. Other questions are only answered.
    """
    from groundling.errors import UserError

    questions = {
        "--unseen-language": unseen_language,
        "--consistency": consistency,
        "--translate-to": translate_to,
        "--by-origin": by_origin,
    }
    asked = [name for name, value in questions.items() if value]
    if vectors is not None and asked:
        raise UserError(f"{asked[0]} goes with a model, not with --vectors")
    if out is not None and (asked or vectors is not None):
        raise UserError(f"--out: what is answered to {asked[0] if asked else '--vectors'} is printed, not kept")
    if len(asked) > 1:
        raise UserError(f"{asked[0]} and {asked[1]} are two questions; ask one at a time")
    if language and (asked or vectors is not None):
        raise UserError(f"--language does not go with {asked[0] if asked else '--vectors'}")
    if source is not None and not (consistency or translate_to):
        raise UserError("--source goes with --consistency or --translate-to")
    if consistency not in (None, "average", "learned"):
        raise UserError(f'--consistency: "{consistency}" is not average or learned')
    if vectors is not None and model is None:
        if owners is None:
            raise UserError("--vectors needs --owners O.npy, the row of each caption's picture")
        from groundling.evaluation.vectors import evaluate_vectors
        from groundling.report.retrieval_tables import score_table

        scores = evaluate_vectors(vectors[0], vectors[1], owners, folds or 1)
        if as_json:
            return print_json({**scores.to_json(), **({"folds": folds} if folds and folds > 1 else {})})
        return print_table(score_table({"": scores}, "vectors", folds or 1, scores.pictures))
    if model is None or vectors is not None:
        raise UserError("give either a model or --vectors P.npy C.npy --owners O.npy")
    if owners is not None:
        raise UserError("--owners goes with --vectors")
    if split not in ("train", "dev", "test"):
        raise UserError(f'--split: "{split}" is not train, dev or test')
    if captions not in (None, "first", "all"):
        raise UserError(f'--captions: "{captions}" is not first or all')
    if unseen_language:
        from groundling.evaluation.unseen import evaluate_unseen

        result = evaluate_unseen(Path(model), unseen_language, split, captions, corpus, data, device, folds)
        return print_json(result.to_json()) if as_json else _show_unseen(result)
    from groundling.evaluation.request import EvaluationRequest

    question = EvaluationRequest(corpus, split, captions, folds, tuple(language) if language else None)
    if consistency or translate_to or by_origin:
        from groundling.cli import evaluate_translations
        from groundling.evaluation.loading import load_model

        loaded = load_model(model, question, data, device, translate_to is not None, text_model, prompt)
        return evaluate_translations.ask(loaded, consistency, translate_to, source, as_json)
    from groundling.evaluation.saved import evaluate_model
    from groundling.model import load
    from groundling.report.run_report import write_report

    evaluation = evaluate_model(load(model, text_model, device, prompt), question, data, out)
    page = write_report(evaluation) if evaluation.saved else None
    if as_json:
        return print_json({**evaluation.result.to_json(), "made": _made(evaluation.model, device)})
    warn_of_skipped(evaluation.result.skipped)
    show_result(evaluation.result)
    if page:
        print(f"Report: {page}")


def _made(model: "Model", device: str) -> dict[str, str | None]:
    """Where the numbers come from, for whoever publishes them; of a run also where it was trained."""
    from groundling.devices import pick_device
    from groundling.training.facts import command, commit, device_name

    told = {"command": command(), "commit": commit(), "device": device_name(pick_device(device))}
    if model.run is None or not model.run.finished:
        return told
    facts = model.run.facts()
    trained = f"{facts.device}, {facts.precision}, {facts.steps:,} steps"
    return {**told, "trained": facts.command, "trained at": facts.commit, "trained on": trained}


def show_result(result: "Result") -> None:
    from groundling.report.entailment_tables import accuracy_table, calibration_table, confusion_table
    from groundling.report.retrieval_tables import recall_table

    tables = {"entailment": (accuracy_table, calibration_table, confusion_table), "retrieval": (recall_table,)}
    for table in tables[result.task]:
        print_table(table(result))  # type: ignore[operator]


def _show_unseen(answer: "UnseenResult") -> None:
    from groundling.report.formatted_table import Column, Table
    from groundling.report.languages import language_name

    warn_of_skipped(answer.result.skipped)
    show_result(answer.result)
    columns = [Column("language", text=True), Column("scripts", text=True), Column("letters known")]
    columns += [Column("words known"), Column("", text=True)]
    rows = [
        [
            language_name(code),
            ", ".join(name for name, share in found.scripts.items() if share >= 5),
            found.letters_known,
            found.words_known,
            found.kind,
        ]
        for code, found in answer.known.items()
    ]
    expected = {found.kind: found.expect for found in answer.known.values()}
    notes = [f"To expect of a {kind}: {expect}." for kind, expect in expected.items()]
    notes.append("Known: running letters and words of the captions that the model has met in training, in percent.")
    notes.append(f"The run was trained on {', '.join(answer.trained_languages)}.")
    print_table(Table("What the model can know of these languages", columns, rows, notes))
