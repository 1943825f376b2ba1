"""Sentences of others inside Markdown: what a reader of it sees is what they wrote."""

import html
import re

import markdown
from hypothesis import example, given
from hypothesis import strategies as st

from groundling.report.escape import escape_markdown, markdown_prose

WORDS = st.text(st.sampled_from("ab _*`\\[]<&>#.1é"), max_size=30)  # bars and tildes mean something in tables alone


def test_names_between_backticks_are_code_and_nothing_else_is() -> None:
    assert markdown_prose("with `length_pool: 1`: *all* lengths") == r"with `length_pool: 1`: \*all\* lengths"
    assert markdown_prose("`<b>` and <b>") == "`<b>` and &lt;b&gt;"
    assert markdown_prose("one ` alone") == r"one \` alone"
    assert markdown_prose("two\n  lines") == "two lines"


@given(WORDS)
@example("`a*b`*c*")
@example("a`b\\`c")
def test_a_reader_sees_every_letter(prose: str) -> None:
    page = markdown.markdown(f"x{markdown_prose(prose)}x")
    assert set(re.findall(r"</?(\w+)", page)) <= {"p", "code"}
    letters = html.unescape(re.sub(r"</?(?:p|code)>", "", page))
    assert seen(letters) == seen(f"x{prose}x")


def seen(text: str) -> str:
    return re.sub(r"[`\s]", "", text)


@given(WORDS.filter(lambda text: "`" not in text))
def test_without_backticks_it_is_the_same_as_any_value(prose: str) -> None:
    assert markdown_prose(prose) == escape_markdown(prose)
