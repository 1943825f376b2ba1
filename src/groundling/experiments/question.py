"""What a table asks of a trained model beside its own test queries, without training it again.

A query together with its translations (CLC-A and CLC-C), a translated query ("Trans. to En"), or only the sentences of
one origin (Table 17), all of Burns et al. 2020. Answers lie in the folder of the training, so that each is given once.
"""

import hashlib
import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from groundling.corpus.catalogue import DATA_VARIABLE
from groundling.errors import UserError
from groundling.evaluation.request import requested_corpus
from groundling.settings import CorpusSettings, Settings

if TYPE_CHECKING:
    from groundling.corpus import Corpus
    from groundling.evaluation.loading import LoadedModel

KINDS = ("consistency", "translate_to", "origin")


class Question(Settings):
    """One of `consistency`, `translate_to` and `origin`."""

    consistency: Literal["average", "learned"] | None = Field(
        None, description="each query together with its translations: the mean of their scores, or a mix learned on dev"
    )
    translate_to: str | None = Field(
        None, description="queries of every column translated to this language, for a model that was trained on it"
    )
    origin: Literal["human", "translation", "machine"] | None = Field(
        None, description="only sentences of this origin: people's, their translations, or a machine's"
    )
    source: str | None = Field(None, description="where translations come from; the table's `translations` if unset")
    corpus: str | None = Field(None, description="another corpus, whose test split is asked instead")

    @model_validator(mode="after")
    def _one(self) -> "Question":
        asked = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(asked) != 1:
            raise ValueError(f"ask exactly one of {', '.join(KINDS)}")
        if asked == ["origin"] and self.source is not None:
            raise ValueError("a question about origins has no source of translations")
        return self

    def with_source(self, source: str) -> "Question":
        """The same question with its source of translations written out."""
        return self if self.origin else self.model_copy(update={"source": self.source or source})

    def asked_from(self, source: str) -> "Question":
        """The same question with translations from elsewhere."""
        return self if self.origin else self.model_copy(update={"source": source})

    @property
    def file(self) -> str:
        """The name of the file that holds the answer."""
        kind = next(kind for kind in KINDS if getattr(self, kind) is not None)
        words = f"{kind.replace('_', '-')}-{getattr(self, kind)}"
        return f"asked-{words}-{hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:10]}.json"

    def asked_of(self, settings: CorpusSettings) -> CorpusSettings:
        """The corpus that is asked, of a model that was trained on `settings`."""
        return requested_corpus(settings, self.corpus, every_language=bool(self.translate_to))


def answer(question: Question, loaded: "LoadedModel") -> dict[str, Any]:
    """An evaluation as JSON. `loaded` has the corpus that `Question.asked_of` names."""
    source = find_source(question.source or "own", loaded.data)
    if question.consistency:
        from groundling.evaluation.consistency.evaluate import ask_together

        return ask_together(loaded, question.consistency, source).to_json()
    if question.translate_to:
        from groundling.evaluation.translated_queries import ask_translated

        return ask_translated(loaded, question.translate_to, source).to_json()
    from groundling.evaluation.origins import ask_by_origin

    found = ask_by_origin(loaded)
    check_origin(question, found.origins, found.corpus)
    return {**found.origins[question.origin or ""].to_json(), "skipped": list(found.skipped)}


def check_origin(question: Question, origins: Collection[str], corpus: str) -> None:
    """There must be captions of the origin that is asked for."""
    if question.origin not in origins:
        there = ", ".join(origins) or "no captions at all"
        raise UserError(f"corpus {corpus} has no test captions of origin {question.origin}, only {there}")


def check_question(
    question: Question, test: "Corpus", dev: "Corpus", data: Path | None, device: str, captions: str | None = None
) -> None:
    """What would keep the question from being answered is said before anything is trained.

    Translations that a model makes are made here, once, for they are kept. `captions` says which of them ask.
    """
    if question.origin:
        check_origin(question, dict.fromkeys(test.origins.tolist()), test.name)
        return
    from groundling.evaluation.query_translations import find_translations
    from groundling.evaluation.translated_queries import ENOUGH

    source = find_source(question.source or "own", data)
    languages = [question.translate_to] if question.translate_to else sorted(test.all_languages())
    enough = ENOUGH if question.translate_to else 0.0
    for part, name in ((test, "test"), *([(dev, "dev")] if question.consistency == "learned" else [])):
        found = find_translations(part, languages, source, data, device)
        told: dict[str, list[bool]] = {}
        for texts, code, asks in zip(found.texts, part.languages.tolist(), part.is_query(captions), strict=True):
            if asks and languages != [code]:
                others = (text for text, language in zip(texts, languages, strict=True) if language != code)
                told.setdefault(code, []).append(any(text is not None for text in others))
        shares = [sum(each) / len(each) for each in told.values()]
        if not any(share > 0 and share >= enough for share in shares):
            most = f"less than {enough:.0%} of the {name} captions" if enough else f"no {name} caption"
            raise UserError(
                f"{found.source}: {most} of corpus {part.name} {'have' if enough else 'has'} a translation there; "
                "give another --source"
            )


def find_source(source: str, data: Path | None) -> str:
    """A table of translations may lie below the data folder; other sources are as they are named."""
    below = data or (Path(os.environ[DATA_VARIABLE]) if os.environ.get(DATA_VARIABLE) else None)
    if below is not None and not Path(source).expanduser().exists() and (below.expanduser() / source).is_file():
        return str(below.expanduser() / source)
    return source
