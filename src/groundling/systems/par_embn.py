"""PAR. EmbN: an embedding network with a text branch for each language.

After Gella et al. 2017 (https://arxiv.org/abs/1707.07601), as compared with by Kim et al. 2020; the row "PAR. EmbN" of
Burns et al. 2020 (https://arxiv.org/abs/2004.04312). Captions of one picture are kept together across languages; there
is no universal embedding to align, and no adversary.

>>> from groundling import systems
>>> systems.make({"name": "par_embn"}).alignment is None
True
"""

from typing import ClassVar, Literal

from groundling.encoders.text.universal import ParallelEncoder
from groundling.encoders.tokenisers.by_language import LanguageTokeniser
from groundling.objectives.two_branch import TwoBranchSettings
from groundling.systems.base import register
from groundling.systems.embedding_network import EmbeddingNetwork, EmbeddingNetworkSettings


class ParEmbNSettings(EmbeddingNetworkSettings, TwoBranchSettings):
    name: Literal["par_embn"] = "par_embn"


@register
class ParEmbN(EmbeddingNetwork):
    name = "par_embn"
    paper = "Gella et al. 2017; Kim et al. 2020 (PAR. EmbN)"
    Settings: ClassVar = ParEmbNSettings
    settings: ParEmbNSettings

    kind = ParallelEncoder

    def branches(self, tokeniser: LanguageTokeniser) -> int:
        return len(tokeniser.codes)
