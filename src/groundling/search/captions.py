"""Captions to index: of a corpus, or the lines of a text file."""

from pathlib import Path

from groundling.corpus import catalogue
from groundling.corpus.formats.text_lines import whole_text
from groundling.errors import UserError
from groundling.text.language_detection import checked_language, detect_language


def read_captions(source: str, language: str | None = None, data: Path | None = None) -> list[tuple[str, str]]:
    """(text, language) of each. `language` is that of a text file, guessed line by line when left out."""
    path = Path(source).expanduser()
    if path.suffix == ".txt" and not path.is_dir():
        code = None if language is None else checked_language(language)
        lines = [line.strip() for line in whole_text(path).splitlines()]
        found = [(line, code or detect_language(line, [])) for line in lines if line]
    else:
        if language is not None:
            raise UserError("--language goes with a .txt file; a corpus knows the languages of its captions")
        corpus = catalogue.load(source, data=data)
        found = list(zip(corpus.texts, corpus.languages.tolist(), strict=True))
    if not found:
        raise UserError(f"{source}: no captions in it")
    return found
