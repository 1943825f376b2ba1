"""Text from outside (captions, file names, settings) made safe to stand inside HTML, SVG and Markdown."""

import html
import re

# Control characters, lone surrogates and non-characters: XML forbids them and UTF-8 cannot hold some of them.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_MARKDOWN = re.compile(r"[\\`*\[\]|~]|(?<!\w)_|_(?!\w)")  # an underscore inside a word means itself


def clean(value: object) -> str:
    """The value as text, without the characters that no document may hold."""
    return _FORBIDDEN.sub("", str(value))


def escape(value: object) -> str:
    """Safe as HTML or SVG text and inside a quoted attribute."""
    return html.escape(clean(value), quote=True)


def escape_markdown(value: object) -> str:
    """One line of Markdown that shows the value as it is, also inside a table cell."""
    return _escaped(" ".join(clean(value).split()))


def markdown_prose(value: object) -> str:
    """The same for a sentence in which somebody has put names between backticks: these become code."""
    parts = re.split(r"`(\s*[^`\s][^`]*)`", " ".join(clean(value).split()))
    return "".join(code(part) if position % 2 else _escaped(part) for position, part in enumerate(parts))


def _escaped(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\g<0>", text)


def code(value: object) -> str:
    """Inline code of Markdown: between as many backticks as the value does not hold itself."""
    text = " ".join(clean(value).split())
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"`{text}`"
