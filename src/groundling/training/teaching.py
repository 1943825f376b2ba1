"""A language is added to a trained model from sentence pairs alone (`groundling teach`).

A thin shell around the training of system clseave: the recipe is made from the teacher's, the loop is the one that all
systems share, and what comes out is a run like any other.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from groundling import systems
from groundling.corpus import Corpus, sentence_pairs
from groundling.dataset import Dataset, load_corpus
from groundling.errors import UserError
from groundling.evaluation.split import evaluate_split
from groundling.evaluation.translation_retrieval import match_pairs
from groundling.files import write_json
from groundling.model.trained import TrainedModel
from groundling.settings import CorpusSettings, Recipe, TrainingSettings, check
from groundling.training.contexts import load_start
from groundling.training.loop import train

RATE, ENCODER_RATE = 1e-3, 4e-5  # the learning rate of our own students, and the paper's for mBERT
EVERY = 100  # steps between two validations


@dataclass(frozen=True)
class Lesson:
    """What is to be taught, and how.

    Attributes:
        run: the folder of the teacher's run.
        language: the new one.
        pairs: a .tsv file, or corpus:NAME.
        known: the language of the first sentences of a pair; None where it can be told.
        student: see `ClseaveSettings`.
        again: whether the teacher may know the language already.
        minimum_count: how often a word must be there to be learned.
        test: the corpus whose test captions, or statements, in the new language show what was learned; None for the
            teacher's own corpus, if that has any.
    """

    run: Path
    language: str
    pairs: str
    known: str | None = None
    student: str = "encoder"
    again: bool = False
    steps: int = 3000
    batch_size: int = 128
    learning_rate: float | None = None
    minimum_count: int = 2
    seed: int = 0
    test: str | None = None


def teach(
    lesson: Lesson, out: Path, data: Path | None = None, device: str = "auto", resume: bool = False
) -> dict[str, Any]:
    """Trains the student into the run `out`; returns what it could do before and after, and writes it to taught.json.

    Everything that can be wrong with the pairs or the test is told before the run is begun.
    """
    teacher = TrainedModel.load(lesson.run, device)
    tested, why = _test_set(lesson, teacher.recipe, teacher.judges, data)
    recipe = lesson_recipe(lesson, teacher.recipe, in_corpus=tested is not None and lesson.test is None)
    nothing = Dataset(
        _empty(), np.zeros((0, 0), dtype=np.float32), data=data, unknown_backbone=teacher.feature_settings is None
    )
    start = load_start(lesson.run, device)
    pairs = systems.of(recipe).taught_by(start.system).material(nothing, start).corpus
    if lesson.known is not None and lesson.known not in start.languages:
        raise UserError(f'the teacher does not know "{lesson.known}" (it knows {", ".join(start.languages)})')
    run = train(recipe, nothing, out, resume=resume, device=device, start=lesson.run)
    model = TrainedModel.load(run.folder, device)
    held_out = next(part for part in (pairs.split("test"), pairs.split("dev")) if len(part))
    known = held_out.keep_captions(held_out.languages != lesson.language)
    result: dict[str, Any] = {
        "run": str(out),
        "teacher": str(lesson.run),
        "language": lesson.language,
        "languages": list(getattr(model.tokeniser, "reads", [])),
        "student": lesson.student,
        "pairs": {part: _pairs(pairs.split(part), lesson.language) for part in ("train", "dev", "test")},
        "task": model.system.task,
        "before": _abilities(teacher, teacher, held_out, tested, lesson),
        "after": _abilities(model, teacher, held_out, tested, lesson),
        "old_languages_unchanged": _same(teacher, model, known),
        **({"not_tested": why} if why else {}),
    }
    with run.rewriting(out / "taught.json"):
        write_json(out / "taught.json", result)
    return result


def lesson_recipe(lesson: Lesson, teacher: Recipe, in_corpus: bool) -> Recipe:
    """The teacher's recipe with the student in its place; `in_corpus`: the corpus can test the new language, too."""
    languages = teacher.corpus.languages
    if languages is not None and in_corpus and lesson.language not in languages:
        languages = [*languages, lesson.language]
    rate = lesson.learning_rate or (ENCODER_RATE if lesson.student.startswith("hub:") else RATE)
    training = TrainingSettings(
        batch_size=lesson.batch_size,
        learning_rate=rate,
        optimiser="adamw",
        weight_decay=0.01,
        warm_up=0.1,
        decay_to=0.05,
        maximum_steps=lesson.steps,
        validate_every=min(EVERY, lesson.steps),
        precision=teacher.training.precision,
        seed=lesson.seed,
    )
    file = None if lesson.pairs.startswith("corpus:") else Path(lesson.pairs).expanduser().resolve()
    system = {
        "name": "clseave",
        "student": lesson.student,
        "pairs": lesson.pairs if file is None else str(file),
        "fingerprint": None if file is None else sentence_pairs.fingerprint(file),
        "language": lesson.language,
        "known": lesson.known,
        "again": lesson.again,
    }
    values = teacher.model_dump(exclude={"system", "training", "start", "teachers", "title"})
    changed = {
        "name": f"{teacher.name}+{lesson.language}",
        "corpus": {**values["corpus"], "languages": languages, "text_only": []},
        "text": {**values["text"], "minimum_count": lesson.minimum_count},
        "system": system,
        "training": training.model_dump(),
        "start": str(lesson.run.resolve()),
    }
    return check(Recipe, {**values, **changed}, "teach")


def _test_set(lesson: Lesson, teacher: Recipe, judges: bool, data: Path | None) -> tuple[Dataset | None, str]:
    """What the new language is tested on; nothing, and why, where the teacher's own corpus has nothing in it."""
    settings = teacher.corpus.model_copy(update={"languages": None})
    if lesson.test is not None:
        settings = CorpusSettings(name=lesson.test)
    try:
        corpus = load_corpus(settings, data).split("test")
    except UserError as error:
        if lesson.test is not None:
            raise
        return None, str(error)
    there = corpus.all_languages()
    if judges:
        there = [] if corpus.statements is None else corpus.statements.all_languages()
    if lesson.language not in there:
        what = "statements" if judges else "captions"
        sentence = f'corpus {corpus.name} has no test {what} in "{lesson.language}"'
        if lesson.test is not None:
            raise UserError(f"{sentence} (there is: {', '.join(sorted(there)) or 'nothing'})")
        return None, sentence
    wanted = settings.model_copy(update={"languages": [lesson.language]})
    return Dataset.load(wanted, teacher.features, data, splits=("test",)), ""


def _abilities(
    model: TrainedModel, teacher: TrainedModel, held_out: Corpus, tested: Dataset | None, lesson: Lesson
) -> dict[str, Any]:
    """What a model can do with the new language: match it with known ones, and find pictures or judge statements."""
    matching = match_pairs(model, teacher, held_out, lesson.language)
    found: dict[str, Any] = {"matching": matching and asdict(matching)}
    if tested is not None:
        try:
            result = evaluate_split(model, tested).result.to_json()
        except UserError:  # it has no words of this language at all
            return found
        found["test"] = {**result["languages"][lesson.language], "corpus": result["corpus"]}
    return found


def _same(teacher: TrainedModel, model: TrainedModel, known: Corpus) -> bool:
    """Whether known sentences are encoded as before, bit for bit."""
    languages = known.languages.tolist()
    return np.array_equal(teacher.encode_text(known.texts, languages), model.encode_text(known.texts, languages))


def _pairs(part: Corpus, language: str) -> int:
    return int((part.languages == language).sum())


def _empty() -> Corpus:
    names, rows = np.array([], dtype=str), np.array([], dtype=np.int64)
    return Corpus("pairs", names, names, rows, names, [], names)
