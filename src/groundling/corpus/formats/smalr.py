"""The corpora of SMALR (Burns et al. 2020): Multi30K and COCO with captions in ten languages.

Four of Multi30K's languages and three of COCO's come from people; the others, and what is missing to five captions, are
translated by machine (`groundling corpus translate`), so that these corpora are folders which their user has made.
"""

from dataclasses import replace
from pathlib import Path

from groundling.corpus import storage
from groundling.corpus.conditions import captions_from
from groundling.corpus.corpus import Corpus
from groundling.corpus.formats import multi30k
from groundling.errors import UserError

HOW = {
    "multi30k": "groundling corpus translate multi30k-four --to en,de,fr,cs,zh,ja,ar,af,ko,ru --source …",
    "multi30k-both": "the same command as for smalr-multi30k and --test-too",
    "coco": "groundling corpus translate coco-three --to en,de,fr,cs,zh,ja,ar,af,ko,ru --source …",
    "coco-both": "the same command as for smalr-coco and --test-too",
}


def read(data: Path, which: str) -> Corpus:
    """The corpus that was made in data/smalr/."""
    folder = data / "smalr" / which
    if not storage.is_saved(folder):
        raise UserError(
            f"{folder}: no such folder with a corpus in it; make it with {HOW[which]} (see docs/papers/smalr.md)"
        )
    return storage.load(folder)


def four_languages(data: Path) -> Corpus:
    """What people wrote for Multi30K: five captions in English and in German, a translation to French and to Czech."""
    five = multi30k.read(data, task=2, text="raw")
    one = multi30k.read(data, task=1, text="raw")
    for code in ("fr", "cs"):
        five = captions_from(five, code, [one])
    return replace(five, name="multi30k-four")
