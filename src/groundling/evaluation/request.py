"""What a model is asked: about which corpus, and how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundling.dataset import load_corpus
from groundling.errors import UserError, did_you_mean
from groundling.progress import notice
from groundling.settings import CorpusSettings

if TYPE_CHECKING:
    from groundling.model import Model


@dataclass(frozen=True)
class EvaluationRequest:
    """A question to a model.

    Attributes:
        corpus: by name, or with settings of its own; the model's own where None.
        split: train, dev or test.
        captions, folds: which captions ask ("first" or "all"), and in how many equal parts of the pictures; the model's
            recipe says where None, then the corpus.
        languages: only these of the model's; where None, its own, as far as another corpus has them.
    """

    corpus: str | CorpusSettings | None = None
    split: str = "test"
    captions: str | None = None
    folds: int | None = None
    languages: tuple[str, ...] | None = None

    def corpus_for(self, model: "Model") -> CorpusSettings:
        """The settings of the corpus that is asked about."""
        if isinstance(self.corpus, CorpusSettings):
            return self.corpus
        if model.corpus is not None:
            return requested_corpus(model.corpus, self.corpus, self.languages)
        if self.corpus is None:
            raise UserError(f"{model.name}: name the corpus to ask it about with --corpus")
        return requested_corpus(CorpusSettings(name=self.corpus), languages=self.languages)

    def in_shared_languages(self, model: "Model", data: Path | None) -> "EvaluationRequest":
        """The same question, in those languages of a run's recipe that another corpus has; one line says which."""
        for code in self.languages or ():
            if model.languages and code not in model.languages:
                read = f'{model.name} was not trained on "{code}"{did_you_mean(code, model.languages)}'
                raise UserError(f"{read}; what it makes of it all the same: --unseen-language {code}")
        settings = self.corpus_for(model)
        if self.languages or settings.languages is None or not isinstance(self.corpus, str):
            return self
        present = load_corpus(settings, data).all_languages()
        shared = tuple(code for code in settings.languages if code in present)
        missing = ", ".join(code for code in settings.languages if code not in present)
        if not shared:
            raise UserError(f"corpus {settings.name} has none of the languages of {model.name} ({missing})")
        if missing:
            notice(f"corpus {settings.name} has no captions in {missing}; {model.name} is asked in {', '.join(shared)}")
        return replace(self, languages=shared if missing else None)

    def is_own(self, model: "Model") -> bool:
        """Whether it is the question that a run is tested by, whose answer is kept in its folder."""
        folds = (None, model.evaluation.folds)
        return model.run is not None and self in [EvaluationRequest(folds=number) for number in folds]

    def to_json(self, model: "Model") -> dict[str, object]:
        """All that is needed to ask the model again."""
        corpus = self.corpus_for(model).model_dump(mode="json", exclude_defaults=True)
        how = {"split": self.split, "captions": self.captions, "folds": self.folds, "prompt": model.prompt}
        folder = Path(model.name).expanduser()
        name = str(folder.resolve()) if folder.is_dir() else model.name
        found = {"model": name, "text_model": model.text_name, "corpus": corpus, **how}
        return {key: value for key, value in found.items() if value is not None}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "EvaluationRequest":
        return EvaluationRequest(
            CorpusSettings(**data["corpus"]), data["split"], data.get("captions"), data.get("folds")
        )


def requested_corpus(
    own: CorpusSettings,
    corpus: str | None = None,
    languages: Sequence[str] | None = None,
    every_language: bool = False,
) -> CorpusSettings:
    """The settings of the corpus that a run is asked about, where `own` are those that it was trained on.

    Args:
        corpus: another corpus than its own.
        languages: other languages than its own.
        every_language: all languages that the corpus has.
    """
    if every_language or languages is not None:
        own = own.model_copy(update={"languages": None if languages is None else list(dict.fromkeys(languages))})
    return own if corpus is None else own.model_copy(update={"name": corpus, "split_by": None})
