"""How a model reads a text, in a sentence for whoever wrote it."""

from groundling.model.reading import TextReading
from groundling.report.languages import language_name, listed_languages
from groundling.text.language_detection import SHOWN, UNTOLD

WORDS_SHOWN = 5


def notice(reading: TextReading, what: str = "the query", consequence: str = "the results are a guess") -> str:
    """ "the query looks like Spanish (es), and the model reads English and German: the results are a guess".

    "" where there is nothing to say: the model reads the language, and knows every word.
    """
    if reading.foreign:
        seems = "is in another script" if reading.foreign == UNTOLD else f"looks like {language_name(reading.foreign)}"
        left = len(reading.languages) - SHOWN
        ours = listed_languages(reading.languages[:SHOWN]) + (f" and {left} more" if left > 0 else "")
        return f"{what} {seems}, and the model reads {ours}: {consequence}"
    if not reading.unknown:
        return ""
    unknown = list(dict.fromkeys(reading.unknown))
    listed = ", ".join(f'"{word}"' for word in unknown[:WORDS_SHOWN])
    more = f" and {len(unknown) - WORDS_SHOWN} more" if len(unknown) > WORDS_SHOWN else ""
    return f"the model does not know {listed}{more}{f': {consequence}' if reading.guess else ''}"
