"""One small grammar per language: the same statements, each said as one says it there."""

from groundling.corpus.builtin.grammars.arabic import Arabic
from groundling.corpus.builtin.grammars.chinese import Chinese
from groundling.corpus.builtin.grammars.czech import Czech
from groundling.corpus.builtin.grammars.dutch import Dutch
from groundling.corpus.builtin.grammars.english import English
from groundling.corpus.builtin.grammars.french import French
from groundling.corpus.builtin.grammars.german import German
from groundling.corpus.builtin.grammars.grammar import Grammar
from groundling.corpus.builtin.grammars.japanese import Japanese
from groundling.corpus.builtin.grammars.korean import Korean
from groundling.corpus.builtin.grammars.russian import Russian

GRAMMARS: dict[str, Grammar] = {
    "en": English(),
    "de": German(),
    "nl": Dutch(),
    "fr": French(),
    "cs": Czech(),
    "ru": Russian(),
    "zh": Chinese(),
    "ja": Japanese(),
    "ko": Korean(),
    "ar": Arabic(),
}

__all__ = ["GRAMMARS", "Grammar"]
