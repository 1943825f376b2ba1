"""Texts as open_clip mends them before it cuts them, so that an exported model does the same without that library.

Broken encodings and HTML are mended by ftfy (Speer 2019, https://doi.org/10.5281/zenodo.2591652), white space is evened
out; `lower` also makes letters small, and `canonicalize`, SigLIP's way, drops the punctuation of ASCII, too.

>>> cleaned("A dog&#39;s  LIFE…", "lower"), cleaned("A red_dog, running!", "canonicalize")       # doctest: +SKIP
("a dog's life…", 'a red dog running')
"""

import html
import string

from groundling.errors import UserError

CLEANINGS = ("whitespace", "lower", "canonicalize")
_NO_PUNCTUATION = str.maketrans("_", " ", string.punctuation.replace("_", ""))


def cleaned(text: str, how: str) -> str:
    """`how` is one of `CLEANINGS`."""
    try:
        import ftfy
    except ImportError:
        raise UserError("this model reads texts as open_clip mends them, which needs: pip install ftfy") from None
    text = html.unescape(html.unescape(ftfy.fix_text(text)))
    if how == "canonicalize":
        text = text.translate(_NO_PUNCTUATION)
    text = text if how == "whitespace" else text.lower()
    return " ".join(text.split())
