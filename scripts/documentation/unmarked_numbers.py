"""Numbers beside a link to a result, or on a page of results or of a paper, that no mark ties to its JSON.

    python scripts/documentation/unmarked_numbers.py   # names each, and exits with 1 where there are any

Looked at are numbers with a decimal point, and percent or points without one, in a paragraph, an item of a list or a
row of a table that leads to docs/results, in a table right below a paragraph that does, and everywhere in README and in
the pages of docs/results and docs/papers. Left out are code, the 95% of intervals, published numbers ("published +1.3",
a column whose heading says so), marked ones (see `result_numbers`), what a line says has no JSON (`<!-- no JSON -->` in
it, for a table in its heading) and what `NOT_RESULTS` names.
"""

import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import result_numbers

DECIMAL = r"\.\d+(?=M\b|(?!\w|\.\d))"
# "82%", "14 points", and the 18 of "18 to 49%".
OF_HUNDRED = r"(?=(?: (?:to|and|or) [\d.,]*)?[\s-]?(?:%|(?:percent|points?)\b))"
NUMBER = re.compile(rf"(?<![\w.,/-])\d+(?:,\d{{3}})*(?:{DECIMAL}|{OF_HUNDRED})")
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s#]+)")
LEFT_OUT = re.compile(r"`[^`]*`|95%\s+intervals?|published[:,]? [+−]?\d[\d.]*(?:(?: \w+)?(?: and|,)\s+[+−]?\d[\d.]*)?")
CODE = re.compile(r"^```.*?^```|^ {4}.*?$", re.DOTALL | re.MULTILINE)
ITEM = re.compile(r"\n(?= *[-*] )")
NO_JSON = "<!-- no JSON -->"
#: Written as a whole by a benchmark, which a test of its own compares.
GENERATED = ("docs/results/check-f8k7.md",)
#: Where every number is looked at.
WHOLE = ("README.md", "docs/results", "docs/papers")
#: What stands beside links to results and is none: page → number, with the words around it that tell it apart → why.
NOT_RESULTS = {
    "README.md": {
        "CC-BY 4.0": "a licence",
        "CC BY-SA 4.0": "a licence",
        "Python 3.11": "a version",
        "1.4 GB": "the memory of make demo, in docs/results/timings.json in MB",
        "1.16 matrix products": "what a benchmark printed (benchmarks/README.md), of which there is no JSON",
    },
    "docs/results/smalr-coco.md": {
        "2.0": "a licence",
        "3.5": "published",
        "4.0": "a licence",
        "7.0": "published",
    },
    "docs/results/smalr-f8k7.md": {
        "8.1": "published",
        "0.6": "published",
    },
    "docs/results/smalr-emoji.md": {
        "2.1": "chance",
    },
    "docs/results/translator.md": {
        "1.1": "chance",
    },
    "docs/results/alignment.md": {
        "± 3 points": "half of a binomial interval, of the number of words",
    },
    "docs/results/photos.md": {
        "2.0": "a licence",
        "7.8": "millions of parameters, of a model whose JSON counts none",
    },
    "docs/results/scenes.md": {
        "82% of the test statements": "counted; the page of the corpus has the other 18%",
        "below 65%": "of trials of which the sentence says that they left no run",
        "33.3": "chance: one of three labels",
        "39.4": "the share of the most frequent label",
    },
    "docs/papers/clteave-clseave.md": {
        "4.1": "a table, a section and a figure of the thesis",
        "section 4.2": "of the thesis",
        "33.3": "published, and chance: one of three labels",
        "73.2": "published",
    },
    "docs/papers/lessons.md": {
        "0.05": "a margin",
        "0.2": "a margin",
        "5.1": "a section of the paper",
        "1809.07615": "the paper",
    },
    "docs/papers/liwe.md": {
        "0.30": "parameters of the published charGRU, counted",
        "0.991": "a published setting",
        "3.1": "parameters that do not run, counted",
        "4.4": "word parameters of two rows above, divided",
        "10.1109": "the paper",
        "109.5": "parameters of BERT, counted",
        "110.0": "published",
    },
    "docs/papers/smalr.md": {
        "0.13": "the loss of captions that are all alike: margin × weights",
        "0.26": "the same for SMALR",
        "1.5": "a weight of the loss",
        **dict.fromkeys(("39.0", "53.3", "53.5", "72.0", "72.5", "73.2", "73.4"), "published"),
        **dict.fromkeys(("9.5", "10.2", "10.5", "13.0", "15.7", "17.3", "20.1"), "parameters, counted"),
        **dict.fromkeys(("24.7", "91.5", "98.6"), "parameters, counted"),
        "20% of the words": "a published setting",
        "93% of parameters": "published",
        "2004.04312": "the paper",
    },
    "docs/tutorials/check.md": {
        "49 to 52 %": "on the page that is linked, which has no JSON of rows",
    },
    "docs/guides/consistency.md": {
        "3.2": "published",
        "3.7": "published",
    },
    "docs/results/README.md": {
        "33.3": "chance: one of three labels",
    },
    "docs/results/claims.md": {
        "14 points": "the highest judge less the lowest, which are marked beside it",
        "33.3": "chance: one of three labels",
    },
    "docs/results/lessons-f8k7.md": {
        "51.2": "the loss of captions that are all alike: 2 · batch · margin",
        "0.2": "the margin",
        "0.6": "chance",
        "1.6": "published",
        "2.0": "published",
        "2.2": "published, in the text on table 7",
        "2.4": "published",
        "2.8": "published, in the text on table 7",
        "5.5": "published, in the text on table 7",
        "6.2": "published",
        "8.3": "published",
        "8.8": "published, in the text on table 7",
        "11.7": "published",
    },
}


def unmarked(page: Path, text: str) -> Iterator[str]:
    """Every such number of a page with its line."""
    name = page.relative_to(result_numbers.ROOT).as_posix()
    if name in GENERATED:
        return
    allowed = [phrase(each) for each in NOT_RESULTS.get(name, {})]
    for line, part in parts(page, text):
        bare = LEFT_OUT.sub("", LINK.sub("](", result_numbers.MARKED.sub("", part)))
        for each in allowed:
            bare = each.sub("", bare)
        for found in NUMBER.findall(bare):
            yield f"{name}:{line}: {found} names no result"


def phrase(words: str) -> re.Pattern[str]:
    """A number of `NOT_RESULTS` as a whole, and its words on one line or two."""
    return re.compile(r"(?<![\w.,])" + r"\s+".join(map(re.escape, words.split())) + r"(?=M\b|(?!\w|\.\d))")


def parts(page: Path, text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, items and rows that lead to a result, or stand on a page of `WHOLE`, each with its first line."""
    text = CODE.sub(lambda code: "\n" * code[0].count("\n"), text)
    whole = any(page.is_relative_to(result_numbers.ROOT / folder) for folder in WHOLE)
    line, above = 1, whole
    for block in re.split(r"(\n\s*\n)", text):
        here, line = line, line + block.count("\n")
        if not block.strip():
            continue
        if block.startswith("|"):
            first = block.partition("\n")[0]
            heading = cells(first)
            for offset, row in enumerate(block.splitlines()):
                if (above or leads(page, row)) and NO_JSON not in first + row:
                    own = [cell for title, cell in zip(heading, cells(row), strict=False) if "published" not in title]
                    yield here + offset, " | ".join(own)
            above = whole
            continue
        above = whole or leads(page, block)
        for item in ITEM.split(block):
            if (whole or leads(page, item)) and NO_JSON not in item:
                yield here, item
            here += item.count("\n") + 1


def cells(row: str) -> list[str]:
    return row.strip().strip("|").split("|")


def leads(page: Path, text: str) -> bool:
    """Whether a page or JSON of docs/results is linked."""
    folder = page.parent.relative_to(result_numbers.ROOT).as_posix()
    targets = [posixpath.normpath(posixpath.join(folder, target)) for target in LINK.findall(text)]
    return any(target.startswith("docs/results/") and target.endswith((".md", ".json")) for target in targets)


def main() -> None:
    found = [one for page in result_numbers.pages() for one in unmarked(page, page.read_text(encoding="utf-8"))]
    sys.exit("\n".join(found) or 0)


if __name__ == "__main__":
    main()
