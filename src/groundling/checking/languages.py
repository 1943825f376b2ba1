"""Which language of the model a text is in. A text in another one is not judged: the answer would be made up."""

from collections.abc import Sequence

from groundling.checking.problem import NotChecked
from groundling.corpus.formats.checks import BadRow, language_code, short
from groundling.errors import did_you_mean
from groundling.report.languages import language_name
from groundling.text.language_detection import UNTOLD, base_language, detect_language, foreign_language, has_letters


def language_of(text: str, given: str | None, languages: Sequence[str]) -> tuple[str, bool]:
    """The language, and whether it was detected; `languages` are the model's, none where they are not known.

    Raises NotChecked for a language that the model was not trained on.
    """
    if given is not None and given.strip():
        return _named(given, languages), False
    foreign = foreign_language(text, languages)
    if foreign:
        seems = "is in another script" if foreign == UNTOLD else f"looks like {language_name(foreign)}"
        raise NotChecked(f"the text {seems}, and the model {_knows(languages)}")
    found = detect_language(text, languages) if has_letters(text) else ""
    if not found:
        raise NotChecked("nothing in the text tells its language; name the language")
    return found, True


def _named(given: str, languages: Sequence[str]) -> str:
    """A code that somebody wrote. The model's "de" serves a "de-AT", and its only "pt-BR" a "pt"."""
    try:
        code = language_code(given)
    except BadRow as problem:
        raise NotChecked(str(problem)) from None
    if not languages or code in languages:
        return code
    relatives = [known for known in languages if base_language(known) == base_language(code)]
    if len(relatives) != 1:
        hint = did_you_mean(code, languages) if not relatives and len(languages) > 20 else ""
        raise NotChecked(f'language "{short(code)}" is unknown to the model, which {_knows(languages)}{hint}')
    return relatives[0]


def _knows(languages: Sequence[str]) -> str:
    few = languages if len(languages) <= 20 else [*languages[:20], "…"]
    return f"was trained on {', '.join(few)}"
