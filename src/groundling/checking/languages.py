"""Which language of the model a text is in. A text that it cannot read is not judged: the answer would be made up."""

from groundling.checking.problem import NotChecked
from groundling.corpus.formats.checks import BadRow
from groundling.errors import UserError
from groundling.model import Model
from groundling.model.reading import TextReading
from groundling.report.text_reading import notice
from groundling.text.language_detection import has_letters, language_of_model


def reading_of(model: Model, text: str, given: str | None) -> TextReading:
    """How the model reads a text. Raises NotChecked for a language, or for words, that it does not know."""
    code = None
    try:
        if given is not None and given.strip():
            code = language_of_model(given, model.languages)
        reading = model.read(text, code)
    except (BadRow, UserError) as problem:
        raise NotChecked(str(problem)) from None
    if reading.guess:
        raise NotChecked(notice(reading, "the text", "what it says would be a guess"))
    if not reading.language or (reading.detected and not has_letters(text)):
        raise NotChecked("nothing in the text tells its language; name the language")
    return reading
