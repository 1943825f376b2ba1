"""The rules of a tokeniser of word pieces as one tokenizer.json, with what is done to a text before it is cut."""

from typing import Any

from groundling.encoders.tokenisers.word_rules import FINAL_SIGMA
from groundling.text.tokens import TokenizerRules

# What ftfy makes plain: typographic quotes, and letters that are written as one.
PLAIN = {
    "[\u02bc\u2018-\u201b]": "'", "[\u201c-\u201f]": '"', "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl",
    "ﬅ": "ſt", "ﬆ": "st",
}  # fmt: skip
NOT_MENDED = "broken encodings and HTML in queries are not mended there, as open_clip does"


def piece_rules(said: Any) -> TokenizerRules:
    """Of the `model.sides.TextRules` of a text side. Of what open_clip mends, quotes, letters, case and punctuation."""
    from tokenizers import Regex, Tokenizer, normalizers

    made = Tokenizer.from_str(said.rules)
    made.no_padding()
    made.no_truncation()
    first: list[Any] = [normalizers.Prepend(said.prefix)] if said.prefix else []
    if said.clean:
        first += [normalizers.NFC(), *(normalizers.Replace(Regex(found), plain) for found, plain in PLAIN.items())]
    if said.clean == "canonicalize":
        first += [normalizers.Replace("_", " "), normalizers.Replace(Regex(r"[!-/:-@\[-`{-~]"), "")]
    if said.small_letters or said.clean in ("lower", "canonicalize"):
        first += [normalizers.Replace(Regex(FINAL_SIGMA), "ς"), normalizers.Lowercase()]
    if said.clean:
        first += [normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    if first:
        own = [] if made.normalizer is None else [made.normalizer]
        made.normalizer = normalizers.Sequence([*first, *own])
    notes = (NOT_MENDED,) if said.clean else ()
    return TokenizerRules(made.to_str(), str(made.id_to_token(said.pad)), said.pad, said.longest, notes)
