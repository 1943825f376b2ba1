"""Rows of tables that are pretrained models: nothing is trained, the model is evaluated as it is.

What is left in the folder of such an entry is what a training would leave of itself: recipe.json, run.json and the
evaluation, which is bound to the model by its fingerprint.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np

from groundling import systems
from groundling.corpus import Corpus
from groundling.dataset import Dataset, load_corpus
from groundling.devices import pick_device
from groundling.errors import UserError
from groundling.evaluation.loading import LoadedModel
from groundling.evaluation.metrics import find
from groundling.evaluation.parameters import describe
from groundling.evaluation.request import EvaluationRequest
from groundling.evaluation.retrieval import check_queries
from groundling.evaluation.saved import evaluate_model
from groundling.experiments.question import Question, answer
from groundling.experiments.table_entries import TableEntry
from groundling.files import read_json, write_json
from groundling.model import Model, load
from groundling.run import Run
from groundling.run_facts import RunFacts
from groundling.settings import CorpusSettings, Recipe
from groundling.systems.pretrained import PretrainedSettings


def load_row(recipe: Recipe, device: str) -> Model:
    own = cast(PretrainedSettings, systems.make(recipe.system).settings)
    return load(own.model, own.text_model, device, own.prompt)


def corpus_under(settings: CorpusSettings, data: Path | None) -> Corpus:
    """The captions that settings name; no picture is looked at."""
    corpus = load_corpus(settings, data)
    return Dataset(corpus, np.zeros((len(corpus.pictures), 0), dtype=np.float32)).under(settings).corpus


def check_row(entry: TableEntry, data: Path | None) -> None:
    """What would keep the model from being evaluated is said before anything is trained."""
    recipe = entry.recipe
    load_row(recipe, "cpu")
    for metric in entry.metrics:
        if find(metric).task == "entailment":
            raise UserError(f"metrics: {metric} is no measure of a pretrained model, which finds pictures and captions")
    test = corpus_under(recipe.corpus, data).split("test")
    check_queries(test, "test", recipe.evaluation.captions, recipe.evaluation.folds)


def run_row(
    entry: TableEntry, out: Path, data: Path | None, device: str, asked: Sequence[Question], done: bool
) -> None:
    """Evaluate the model of an entry, unless that is `done`, and ask it what else is to be known."""
    recipe, run = entry.recipe, Run(out / entry.folder)
    model = load_row(recipe, device)
    if not done:
        shutil.rmtree(run.folder, ignore_errors=True)
        own = recipe.evaluation
        evaluate_model(
            model, EvaluationRequest(recipe.corpus, captions=own.captions, folds=own.folds), data, run.folder
        )
        run.save_recipe(recipe)
        counts = describe(model).counts
        facts = RunFacts(
            recipe.name,
            "pretrained",
            recipe.corpus.name,
            list(entry.group),
            parameters=counts.test_time,
            word_parameters=counts.for_words,
            trainable_parameters=0,
            device=str(pick_device(device)),
        )
        write_json(run.facts_file, facts.to_json())  # last: an entry that has it is done
    made = read_json(run.verified(run.evaluation_file))["made_from"]
    for question in asked:
        dataset = model.dataset(question.asked_of(recipe.corpus), data, ("dev", "test"))
        loaded = LoadedModel(model, dataset, data, device=pick_device(device))
        write_json(run.folder / question.file, {**answer(question, loaded), "made_from": made})
