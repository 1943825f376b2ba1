"""The list of commands."""

from typing import Annotated

import typer

import groundling
from groundling.cli import (
    align,
    calibrate,
    check,
    compact,
    compare,
    corpus,
    demo,
    evaluate,
    export,
    features,
    index,
    models,
    parameters,
    plan,
    recipes,
    reproduce,
    search,
    serve,
    show,
    teach,
    train,
    words,
)
from groundling.progress import show as show_progress
from groundling.registry import add_plugin

app = typer.Typer(
    help="Teach an image–text model your language: train, compare and use compact multilingual image–text models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"groundling {groundling.__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")] = False,
    plugin: Annotated[
        list[str] | None,
        typer.Option(
            help="A Python module that registers systems, losses or encoders of your own; $GROUNDLING_PLUGINS, too."
        ),
    ] = None,
) -> None:
    show_progress(not quiet)
    for module in plugin or ():
        add_plugin(module)


app.command("demo")(demo.demo)
app.add_typer(corpus.app, name="corpus", help="List, build and inspect corpora of pictures and captions.")
app.command("features")(features.features)
app.command("train")(train.train)
app.command("evaluate", cls=evaluate.EvaluateCommand)(evaluate.evaluate)
app.command("teach")(teach.teach)
app.command("compare")(compare.compare)
app.command("show")(show.show)
app.command("models")(models.models)
app.command("index")(index.index)
app.command("search")(search.search)
app.command("serve")(serve.serve)
app.command("check")(check.check)
app.command("export")(export.export)
app.command("parameters")(parameters.parameters)
app.command("plan")(plan.plan)
app.command("calibrate")(calibrate.calibrate)
app.command("compact")(compact.compact)
app.command("reproduce")(reproduce.reproduce)
app.command("recipes", cls=recipes.RecipesCommand)(recipes.recipes)
app.command("align")(align.align)
app.add_typer(words.app, name="words", help="Train, look at, reduce and convert word vectors; latent tokens.")
