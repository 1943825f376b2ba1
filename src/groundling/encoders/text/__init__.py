"""Text encoders: captions into unit vectors of the shared space, found by name in `TEXT_ENCODERS`."""

from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text.bag import BagEncoder
from groundling.encoders.text.base import TEXT_ENCODERS, SpellingEncoder, TextChoice, TextEncoder, chosen
from groundling.encoders.text.bidirectional import BidirectionalEncoder
from groundling.encoders.text.characters import CharacterEncoder
from groundling.encoders.text.max_pooled import MaxPooledEncoder
from groundling.encoders.text.new_words import NewWordsEncoder
from groundling.encoders.text.pooled import PooledEncoder
from groundling.encoders.text.pretrained import PretrainedEncoder
from groundling.encoders.text.projected_max import ProjectedMaxEncoder
from groundling.encoders.text.recurrent import RecurrentEncoder
from groundling.encoders.text.sentence_map import SentenceMap
from groundling.encoders.text.side import SideEncoder
from groundling.encoders.text.universal import ParallelEncoder, UniversalEncoder
from groundling.encoders.text.use_ngrams import UseNgramEncoder

__all__ = [
    "TEXT_ENCODERS",
    "BagEncoder",
    "BidirectionalEncoder",
    "CharacterEncoder",
    "EncoderSettings",
    "MaxPooledEncoder",
    "NewWordsEncoder",
    "ParallelEncoder",
    "PooledEncoder",
    "PretrainedEncoder",
    "ProjectedMaxEncoder",
    "RecurrentEncoder",
    "SentenceMap",
    "SideEncoder",
    "SpellingEncoder",
    "TextChoice",
    "TextEncoder",
    "UniversalEncoder",
    "UseNgramEncoder",
    "chosen",
]
