"""A page to look at: pictures with the captions found for them, captions with the pictures found for them.

Like Figures 1 to 4 of Wehrmann et al. 2019 (supplement), for any language, drawn at random.
"""

from groundling.evaluation.examples import pictures_of
from groundling.evaluation.show import ShownRun
from groundling.report.html import Header, Page, Section
from groundling.report.languages import language_name
from groundling.report.picture_sheet import picture_blocks
from groundling.report.retrieval_tables import recall_table

SIDE = 240  # pixels of a picture


def qualitative_page(shown: ShownRun) -> str:
    asked, described = picture_blocks(shown.examples, SIDE, headings=False, large=True)
    title = f"What {shown.system} finds on {shown.result.corpus}"
    sections = [
        Section("Picture → words", described),
        Section("Words → pictures", asked),
        *_together(shown),
        Section("All queries of the split", [recall_table(shown.result)]),
    ]
    return Page(Header("groundling show", title, _drawn(shown), _notes(shown)), sections).html()


def _together(shown: ShownRun) -> list[Section]:
    """Captions alone, and each again with its translations, as in Figures 5 and 6 of SMALR (Burns et al. 2020)."""
    if shown.together_result is None:
        return []
    blocks, _ = picture_blocks(shown.together, SIDE, headings=False, large=True)
    return [
        Section("Words → pictures, alone and with their translations", blocks),
        Section("All queries of the split with their translations", [recall_table(shown.together_result)]),
    ]


def _drawn(shown: ShownRun) -> str:
    pictures = len(pictures_of(shown.examples))
    counts = [(pictures, "picture"), (len(shown.examples) - pictures, "caption")]
    some = " and ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in counts if count)
    codes = list(dict.fromkeys(entry.language for entry in shown.examples))
    among = f"in {language_name(codes[0])}" if len(codes) == 1 else f"in {len(codes)} languages, by turns"
    return (
        f"{some} {among}, drawn at random (seed {shown.seed}) from the split {shown.result.split}, not chosen: "
        "another seed draws others."
    )


def _notes(shown: ShownRun) -> list[str]:
    among = "its fold" if shown.result.folds > 1 else "the whole split"
    notes = [
        "A picture is followed by the five captions of one language that the model finds nearest to it, ✓ where they "
        f"are captions of that picture. A caption is followed by the five nearest pictures of {among}, the "
        "right one framed; where it is not among them it comes last, with a dashed frame. The rank is that of the "
        "first right answer; a tie counts against the model."
    ]
    if shown.untrained:
        notes.append(f"Not trained on: {', '.join(map(language_name, shown.untrained))}.")
    if shown.told:
        notes.append("There are no files of the pictures: each is shown by its name and the first of its captions.")
    return notes
