"""A page to look at: pictures with the captions found for them, captions with the pictures found for them.

Like Figures 1 to 4 of Wehrmann et al. 2019 (supplement), for any language, drawn at random.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from groundling.report.document import document
from groundling.report.escape import escape
from groundling.report.languages import language_name
from groundling.report.retrieval_tables import recall_table
from groundling.report.sheet import sheet_parts

SIDE = 160  # pixels of a picture


def qualitative_page(
    sheet: Sequence[Mapping[str, Any]], evaluation: Mapping[str, Any], about: Mapping[str, Any]
) -> str:
    """One HTML file from `evaluation.examples_by_language`, the recalls of the same languages, and what else to say.

    `about` holds the `run`, its `system`, the `seed`, the languages that were `untrained`, and whether pictures are
    `told` by their captions, as there are no files of them.
    """
    asked, described = sheet_parts(sheet, SIDE)
    head = (
        f'<header><p class="kind">groundling show</p><h1>{escape(_title(evaluation, about))}</h1>'
        f'<p class="lead">{escape(_drawn(sheet, evaluation, about))}</p>'
        + "".join(f'<p class="note">{escape(note)}</p>' for note in _notes(evaluation, about))
        + "</header>"
    )
    sections = {
        "Picture → words": f'<div class="large">{described}</div>' if described else "",
        "Words → pictures": f'<div class="large">{asked}</div>' if asked else "",
        "All queries of the split": recall_table(evaluation).html(),
    }
    return document(_title(evaluation, about), head, sections)


def _title(evaluation: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    return f"What {about['system']} finds on {evaluation['corpus']}"


def _drawn(sheet: Sequence[Mapping[str, Any]], evaluation: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    pictures = sum("captions" in entry for entry in sheet)
    counts = [(pictures, "picture"), (len(sheet) - pictures, "caption")]
    shown = " and ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in counts if count)
    codes = list(dict.fromkeys(entry["language"] for entry in sheet))
    among = f"in {language_name(codes[0])}" if len(codes) == 1 else f"in {len(codes)} languages, by turns"
    return (
        f"{shown} {among}, drawn at random (seed {about['seed']}) from the split {evaluation['split']}, not chosen: "
        "another seed draws others."
    )


def _notes(evaluation: Mapping[str, Any], about: Mapping[str, Any]) -> list[str]:
    among = "its fold" if evaluation.get("folds", 1) > 1 else "the whole split"
    notes = [
        "A picture is followed by the five captions of one language that the model finds nearest to it, ✓ where they "
        f"are captions of that picture. A caption is followed by the five nearest pictures of {among}, the "
        "right one framed; where it is not among them it comes last, with a dashed frame. The rank is that of the "
        "first right answer; a tie counts against the model."
    ]
    if about["untrained"]:
        names = ", ".join(language_name(code) for code in about["untrained"])
        notes.append(f"Not trained on: {names}.")
    if about["told"]:
        notes.append("There are no files of the pictures: each is shown by its name and the first of its captions.")
    return notes
