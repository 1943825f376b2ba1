"""BERT+GRU: the contextual vectors of a pretrained encoder, read by a bidirectional GRU.

The row "BERT+GRU" of Wehrmann et al. 2019 (supplement, Table 1), with any encoder from the hub or from a folder.
Its loss and batches are in `cross_language`.
"""

from typing import Any, ClassVar, Literal

from pydantic import Field

from groundling.encoders.pair import Encoders
from groundling.encoders.picture.linear import LinearPictureEncoder
from groundling.encoders.tokenisers.hub import HubTokeniser
from groundling.systems.cross_language import CrossLanguage, CrossLanguageSettings
from groundling.systems.plan import Context
from groundling.text import Tokeniser


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


class BertGRU(CrossLanguage):
    name = "bert_gru"
    paper = "Wehrmann et al. 2019 (BERT+GRU); Devlin et al. 2019"
    Settings: ClassVar = BertGRUSettings
    settings: BertGRUSettings

    def tokeniser(self, context: Context) -> Tokeniser:
        return HubTokeniser.build(self.settings.encoder, context.recipe.text)

    def load_tokeniser(self, saved: dict[str, Any]) -> Tokeniser:
        return HubTokeniser.from_json(saved)

    def encoders(self, tokeniser: Tokeniser, features: int) -> Encoders:
        from groundling.encoders.text.pretrained import PretrainedEncoder  # transformers is imported where it is used

        assert isinstance(tokeniser, HubTokeniser)  # noqa: S101 (for the type checker: made above)
        own = self.settings
        text = PretrainedEncoder(tokeniser.folder, own.dimensions, own.pooling, own.trainable)
        return Encoders(text, LinearPictureEncoder(features, own.dimensions))
