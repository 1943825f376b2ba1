"""The word tokeniser as the package `tokenizers` says it, for programs that read tokenizer.json and nothing else.

The steps are those of `text.segmentation`: one spelling for what is written in several, words by the script they are
written in, rows of the vocabulary between a start and an end. What depends on the language of a text is left out, for
these programs do not know it.
"""

from groundling.errors import UserError
from groundling.settings import TextSettings
from groundling.text.segmentation import ARABIC_OPTIONAL, WORD
from groundling.text.tokens import TokenizerRules
from groundling.text.vocabulary import END, PAD, SPECIAL, START, UNKNOWN, Vocabulary

FINAL_SIGMA = r"(?<=\p{L})Σ(?!\p{L})"  # which Python makes a small final one, and the package does not


def word_rules(vocabulary: Vocabulary, settings: TextSettings) -> TokenizerRules:
    """tokenizer.json of a vocabulary. Needs the package `tokenizers`, which comes with the extra `hub`."""
    try:
        from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
    except ImportError:
        raise UserError("tokenizer.json is written by the package tokenizers: pip install 'groundling[hub]'") from None
    if settings.segmentation == "dictionary":
        raise UserError("words are cut by a dictionary (text.segmentation), which no tokenizer.json can say")
    rows = {**{name: row for row, name in enumerate(SPECIAL)}, **vocabulary.rows}
    made = Tokenizer(models.WordLevel(rows, unk_token=SPECIAL[UNKNOWN]))
    made.normalizer = normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Replace(Regex(FINAL_SIGMA), "ς"),
            normalizers.Lowercase(),
            normalizers.NFKC(),
            normalizers.Replace(Regex(ARABIC_OPTIONAL), ""),
        ]
    )
    if settings.segmentation == "whitespace":
        made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    else:
        made.pre_tokenizer = pre_tokenizers.Split(Regex(WORD), behavior="removed", invert=True)
    made.post_processor = processors.TemplateProcessing(
        single=f"{SPECIAL[START]} $A {SPECIAL[END]}",
        special_tokens=[(SPECIAL[START], START), (SPECIAL[END], END)],
    )
    return TokenizerRules(made.to_str(), SPECIAL[PAD], PAD, settings.maximum_length + 2)
