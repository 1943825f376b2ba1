"""Languages are added to a model from sentence pairs alone (`groundling teach`).

A thin shell around the training of a student: the recipe is made from the teacher's, the loop is the one that all
systems share, and what comes out is a run like any other.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundling import systems
from groundling.corpus import sentence_pairs
from groundling.corpus.pairs import SentencePairs
from groundling.corpus.pairs.source import PairSource
from groundling.dataset import Dataset, load_corpus
from groundling.errors import UserError
from groundling.evaluation.split import evaluate_split
from groundling.evaluation.translation_retrieval import match_pairs
from groundling.files import write_json
from groundling.model.protocol import Model
from groundling.model.trained import TrainedModel
from groundling.run import Run
from groundling.settings import CorpusSettings, Recipe, TrainingSettings, check
from groundling.systems import Start
from groundling.systems.plan import NO_CORPUS
from groundling.training import pair_checks
from groundling.training.estimate import spoken
from groundling.training.loop import train
from groundling.training.taught_result import Abilities, TaughtResult

#: Learning rates: of our own students, the paper's for mBERT, and gentle ones for a text side that is tuned itself.
RATES = {"": 1e-3, "hub:": 4e-5, "own": 2e-4, "own:full": 1e-5}
#: What is trained of the teacher's own text side, by the name of the student.
OWN = {"own": "lora", "own:full": "full"}
EVERY = 100  # steps between two validations
PASSES = 30  # through the pairs, where nobody says how many steps
FEWEST_STEPS, MOST_STEPS = 300, 20_000

LONG = 600  # seconds from which a quicker setting is offered

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Lesson:
    """What is to be taught, and how.

    Attributes:
        model: the teacher: the folder of a run, or a pretrained model by folder or hub name.
        languages: the new ones.
        pairs: a file of sentence pairs, or corpus:NAME.
        known: the language of the known sentences; None where it can be told.
        student: see `ClseaveSettings`; or own: the text side of a pretrained teacher, tuned by low-rank changes
            (own:full: all of it).
        again: whether the teacher may know a language already.
        steps: the most; None: as many as the number of pairs asks for.
        minimum_count: how often a word must be there to be learned.
        test: the corpus whose test captions, or statements, in the new languages show what was learned; None for the
            teacher's own corpus, if that has any.
        text: the folder or hub name of a text side of its own, for a pretrained teacher.
    """

    model: str
    languages: tuple[str, ...]
    pairs: str
    known: str | None = None
    student: str = "encoder"
    again: bool = False
    steps: int | None = None
    batch_size: int = 128
    learning_rate: float | None = None
    minimum_count: int = 2
    seed: int = 0
    test: str | None = None
    text: str | None = None


def teach(
    lesson: Lesson,
    out: Path,
    data: Path | None = None,
    device: str = "auto",
    resume: bool = False,
    tell: Tell | None = None,
) -> TaughtResult:
    """Trains the student into the run `out`; returns what it could do before and after, and writes it to taught.json.

    Everything that can be wrong with the pairs or the test is told before the run is begun; `tell` is told what was
    left out of the pairs and how long it will take.
    """
    teacher = Model.load(lesson.model, device, lesson.text)
    start = teacher.as_start()
    tested, why = _test_set(lesson, teacher, start, data)
    recipe = lesson_recipe(lesson, start, in_corpus=tested is not None and lesson.test is None)
    nothing = Dataset(
        sentence_pairs.as_corpus("pairs", []), np.zeros((0, 0), dtype=np.float32), data=data,
        unknown_backbone=Run(Path(lesson.model)).unknown_backbone_file.exists(),
    )  # fmt: skip
    pairs = systems.of(recipe).taught_by(start.system).material(nothing, start).pairs
    assert pairs is not None  # noqa: S101 (of a student)
    if lesson.known is not None and start.languages and lesson.known not in start.languages:
        raise UserError(f'the teacher does not know "{lesson.known}" (it knows {", ".join(start.languages)})')
    recipe = with_steps(recipe, lesson, pairs)
    tell = tell or (lambda _: None)
    for sentence in [] if Run(out).recipe_file.exists() else pair_checks.sentences(pairs):
        tell(sentence)
    foretell = _Foretell(tell, recipe.training.maximum_steps)
    start_at = Path(lesson.model)
    run = train(recipe, nothing, out, resume, device, start=start_at, begin=start, foretell=foretell)
    model = TrainedModel.load(run.folder, device)
    held_out = next(part for part in (pairs.split("test"), pairs.split("dev")) if len(part))
    before, after = (
        {code: _abilities(who, teacher, held_out, tested, code) for code in lesson.languages}
        for who in (teacher, model)
    )
    result = TaughtResult(
        run=str(out),
        teacher=lesson.model,
        taught=lesson.languages,
        languages=list(getattr(model.tokeniser, "reads", None) or model.languages),
        student=lesson.student,
        pairs={part: len(pairs.split(part)) for part in ("train", "dev", "test")},
        task=model.system.task,
        corpus=None if model.corpus is None else model.corpus.name,
        before=before,
        after=after,
        old_cosine=_likeness(teacher, model, held_out),
        not_tested=why,
    )
    with run.rewriting(out / "taught.json"):
        write_json(out / "taught.json", result.to_json())
    return result


def taught_folder(lesson: Lesson) -> Path:
    """Where a run goes for which nobody names a folder: beside its teacher, or below runs/ for one from the hub."""
    folder, codes = Path(lesson.model).expanduser(), "+".join(lesson.languages)
    return folder.with_name(f"{folder.name}+{codes}") if folder.is_dir() else Path("runs") / f"{folder.name}+{codes}"


def with_steps(recipe: Recipe, lesson: Lesson, pairs: PairSource) -> Recipe:
    """As many steps as the lesson says, or as `PASSES` through the pairs take, within limits. The recipe then also says
    which pairs these are, so that no training goes on with others."""
    usual = int(np.clip(PASSES * len(pairs.split("train")) / lesson.batch_size, FEWEST_STEPS, MOST_STEPS))
    steps = usual if lesson.steps is None else lesson.steps
    training = recipe.training.model_copy(update={"maximum_steps": steps, "validate_every": min(EVERY, steps)})
    return recipe.model_copy(
        update={"training": training, "system": {**recipe.system, "fingerprint": pairs.fingerprint}}
    )


def lesson_recipe(lesson: Lesson, start: Start, in_corpus: bool) -> Recipe:
    """The teacher's recipe with the student in its place; `in_corpus`: the corpus can test the new languages, too."""
    teacher = start.recipe
    languages = teacher.corpus.languages
    if languages is not None and in_corpus:
        languages = [*languages, *(code for code in lesson.languages if code not in languages)]
    if lesson.student.startswith("own:") and lesson.student not in OWN:
        raise UserError(
            f'--student "{lesson.student}": a text side is tuned by low-rank changes (own) or all of it (own:full)'
        )
    own = max((name for name in RATES if lesson.student.startswith(name)), key=len)
    rate = lesson.learning_rate or RATES[own]
    training = TrainingSettings(
        batch_size=lesson.batch_size,
        learning_rate=rate,
        optimiser="adamw",
        weight_decay=0.01,
        warm_up=0.1,
        decay_to=0.05,
        precision=teacher.training.precision,
        seed=lesson.seed,
    )
    file = None if lesson.pairs.startswith("corpus:") else Path(lesson.pairs).expanduser().resolve()
    tuned = OWN.get(lesson.student)
    system = {
        **({"name": "clseave", "student": lesson.student} if tuned is None else {"name": "tuned_text"}),
        **({} if tuned is None else {"text": {"adapter": tuned}}),
        "pairs": lesson.pairs if file is None else str(file),
        "languages": list(lesson.languages),
        "known": lesson.known,
        "again": lesson.again,
    }
    values = teacher.model_dump(exclude={"system", "training", "start", "teachers", "title"})
    corpus = {**values["corpus"], "languages": languages, "text_only": []}
    if teacher.corpus.name == NO_CORPUS and lesson.test is not None:  # what it is asked about from now on
        corpus = {"name": lesson.test}
    folder = Path(lesson.model).expanduser()
    changed = {
        "name": f"{teacher.name}+{'+'.join(lesson.languages)}",
        "corpus": corpus,
        "text": {**values["text"], "minimum_count": lesson.minimum_count},
        "system": system,
        "training": training.model_dump(),
        "start": str(folder.resolve()) if folder.is_dir() else lesson.model,
    }
    return check(Recipe, {**values, **changed}, "teach")


@dataclass(frozen=True)
class _Foretell:
    tell: Tell
    steps: int

    def __call__(self, seconds: float) -> None:
        quicker = f"; --steps {self.steps // 10} would be quicker" if seconds > LONG else ""
        self.tell(f"at most {self.steps:,} steps, which take {spoken(seconds)} here{quicker}")


def _test_set(lesson: Lesson, teacher: Model, start: Start, data: Path | None) -> tuple[Dataset | None, str]:
    """What the new languages are tested on; nothing, and why, where the teacher's own corpus has nothing in them."""
    settings = start.recipe.corpus.model_copy(update={"languages": None})
    if settings.name == NO_CORPUS and lesson.test is None:
        return None, "the model was trained on no corpus that is known here"
    if lesson.test is not None:
        settings = CorpusSettings(name=lesson.test)
    try:
        corpus = load_corpus(settings, data).split("test")
    except UserError as error:
        if lesson.test is not None:
            raise
        return None, str(error)
    there = corpus.all_languages()
    if teacher.judges:
        there = [] if corpus.statements is None else corpus.statements.all_languages()
    missing = [code for code in lesson.languages if code not in there]
    if missing:
        what = "statements" if teacher.judges else "captions"
        sentence = f'corpus {corpus.name} has no test {what} in "{missing[0]}"'
        if lesson.test is not None:
            raise UserError(f"{sentence} (there is: {', '.join(sorted(there)) or 'nothing'})")
        return None, sentence
    wanted = settings.model_copy(update={"languages": list(lesson.languages)})
    return teacher.dataset(wanted, data, splits=("test",)), ""


def _abilities(
    model: Model, teacher: Model, held_out: SentencePairs, tested: Dataset | None, language: str
) -> Abilities:
    """What a model can do with a new language: match it with known ones, and find pictures or judge statements."""
    matching = match_pairs(model, teacher, held_out, language)
    if tested is None:
        return Abilities(matching)
    try:
        result = evaluate_split(model, tested.only([language])).result
    except UserError:  # it has no words of this language at all
        return Abilities(matching)
    return Abilities(matching, result.languages[language], result.corpus)


def _likeness(teacher: Model, model: Model, held_out: SentencePairs) -> float | None:
    """The mean cosine of known sentences as they were and as they are; None where they are the same, bit for bit."""
    rows = np.unique(held_out.partner(np.arange(len(held_out)))).tolist()
    texts, codes = [held_out.known[row] for row in rows], [held_out.known_languages[row] for row in rows]
    before, after = teacher.encode_text(texts, codes), model.encode_text(texts, codes)
    return None if np.array_equal(before, after) else float((before * after).sum(axis=1).mean())
