"""BERT+GRU: the contextual vectors of a pretrained encoder, read by a bidirectional GRU.

The row "BERT+GRU" of Wehrmann et al. 2019 (https://doi.org/10.1109/ICCV.2019.00590, supplement, Table 1), with any
encoder from the hub or from a folder. Its loss and batches are in `cross_language`.

>>> from groundling import systems
>>> systems.make({"name": "bert_gru", "trainable": True}).settings.encoder
'google-bert/bert-base-multilingual-cased'
"""

from typing import ClassVar, Literal

from pydantic import Field

from groundling.encoders import text as captions
from groundling.encoders.text import TextChoice
from groundling.systems.base import register
from groundling.systems.cross_language import CrossLanguage, CrossLanguageSettings


class BertGRUSettings(CrossLanguageSettings):
    name: Literal["bert_gru"] = "bert_gru"
    encoder: str = Field(
        "google-bert/bert-base-multilingual-cased",
        description="a transformers encoder: its name on the hub, or a folder that holds it (safetensors only)",
    )
    trainable: bool = Field(
        False,
        description="train the encoder too, and save it with the run; otherwise it is frozen, and the run holds its "
        "name and fingerprint only",
    )


@register
class BertGRU(CrossLanguage):
    name = "bert_gru"
    paper = "Wehrmann et al. 2019 (BERT+GRU); Devlin et al. 2019"
    Settings: ClassVar = BertGRUSettings
    settings: BertGRUSettings

    @property
    def text_encoder(self) -> TextChoice:
        own = self.settings
        return captions.chosen("bert_gru", "system", encoder=own.encoder, pooling=own.pooling, trainable=own.trainable)
