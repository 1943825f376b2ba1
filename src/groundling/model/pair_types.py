"""The types of pairs that transformers knows, and how the makers of each read text.

A type that is not listed here is refused: a sentence vector taken from the wrong token is wrong without a word.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from groundling.errors import UserError

# Where the sentence is: the end-of-text mark, the first token, the last of a text that is always padded to the same
# length, the mean of all tokens, or BERT's own pooling layer.
Pooling = Literal["end", "first", "last", "mean", "pooler"]


@dataclass(frozen=True)
class PairType:
    """
    Attributes:
        paper: who made it.
        pooling: where its network takes the sentence from; the tokens are checked to have one there.
        context: how many word pieces it was trained to read; None: as many as its tokeniser says.
        padded: whether every text is padded to `context`, as in its training.
        masked: whether it is told which tokens are padding; one that was trained without must not be.
        small_letters: whether it has read nothing but small letters.
        attention: how transformers must compute it, if not as it likes: AIMv2's text side looks back only, which the
            fast way forgets for texts without padding.
    """

    paper: str
    pooling: Pooling
    context: int | None = 77
    padded: bool = False
    masked: bool = True
    small_letters: bool = False
    attention: Literal["eager"] | None = None

    @property
    def reading(self) -> str:
        """How it reads text, in words."""
        length = "as many word pieces as its tokeniser says" if self.context is None else f"{self.context} word pieces"
        where = {
            "end": "the end-of-text mark",
            "first": "the first token",
            "last": "the last of all positions",
            "mean": "the mean of all tokens",
            "pooler": "the text network's own pooling",
        }[self.pooling]
        more = (", always padded" if self.padded else "") + (", small letters" if self.small_letters else "")
        return f"{length}{more}; the sentence is {where}"


PAIR_TYPES = {
    "clip": PairType("CLIP: Radford et al. 2021, https://arxiv.org/abs/2103.00020", "end"),
    "siglip": PairType(
        "SigLIP: Zhai et al. 2023, https://arxiv.org/abs/2303.15343; also SigLIP 2 of one picture size",
        "last", 64, padded=True, masked=False, small_letters=True,
    ),
    "siglip2": PairType(
        "SigLIP 2 NaFlex: Tschannen et al. 2025, https://arxiv.org/abs/2502.14786",
        "last", 64, padded=True, masked=False, small_letters=True,
    ),
    "chinese_clip": PairType("Chinese-CLIP: Yang et al. 2022, https://arxiv.org/abs/2211.01335", "first", 52),
    "altclip": PairType("AltCLIP: Chen et al. 2022, https://arxiv.org/abs/2211.06679", "first"),
    "metaclip_2": PairType("MetaCLIP 2: Chuang et al. 2025, https://arxiv.org/abs/2507.22062", "end"),
    "align": PairType("ALIGN: Jia et al. 2021, https://arxiv.org/abs/2102.05918", "first", 64),
    "aimv2": PairType("AIMv2 LiT: Fini et al. 2024, https://arxiv.org/abs/2411.14402", "end", attention="eager"),
    "groupvit": PairType("GroupViT: Xu et al. 2022, https://arxiv.org/abs/2202.11094", "end"),
    "tipsv2": PairType(
        "TIPSv2, which follows TIPS: Maninis et al. 2024, https://arxiv.org/abs/2410.16512",
        "mean", 64, small_letters=True,
    ),
    "vision-text-dual-encoder": PairType(
        "any picture and any text network of transformers, joined as in LiT: Zhai et al. 2021, "
        "https://arxiv.org/abs/2111.07991",
        "pooler", None,
    ),
}  # fmt: skip

CODE = "it comes with code of its own, and code that comes with a model is never run"
# Types that look like pairs and are none for us, and why.
REFUSED = {
    "blip": "it compares by a network that reads picture and text together",
    "blip-2": "it compares by a network that reads picture and text together",
    "flava": "its published weights are for a network that reads picture and text together",
    "clipseg": "it marks regions of a picture",
    "owlvit": "it finds things within a picture",
    "owlv2": "it finds things within a picture",
    "xclip": "it looks at films",
    "clap": "it listens to sounds",
    "M-CLIP": "it is a text side alone, which goes with the picture side of a CLIP as its separate text encoder",
    "jina_clip": CODE,
}


def pair_type(config: Mapping[str, Any], name: str) -> PairType:
    """The type that config.json names; one that is not known is an error that lists those that are."""
    model_type = str(config.get("model_type"))
    found = PAIR_TYPES.get(model_type)
    if found is None:
        why = f" ({REFUSED[model_type]})" if model_type in REFUSED else f" ({CODE})" if "auto_map" in config else ""
        raise UserError(
            f'{name}: a model of type "{model_type}" is no pair of a text and a picture side that is known here{why}; '
            f"known are {', '.join(PAIR_TYPES)}, open_clip's, and text encoders of sentence-transformers and M-CLIP"
        )
    return found


def is_text(weight: str) -> bool:
    """Whether a weight of a pair belongs to its text side, by its name; all types of transformers name it so."""
    return weight.startswith("text_")


def is_picture(weight: str) -> bool:
    return weight.startswith("vis")  # vision_model, visual_projection


def has_sentence(kind: PairType, model_type: str, ids: Any, config: Any, pieces: Any) -> bool:
    """Whether every text [texts, tokens] has a token where this type takes its sentence from."""
    if kind.pooling == "first":
        return bool((ids[:, 0] == pieces.cls_token_id).all())
    if kind.pooling == "end":
        end = config.text_config.eos_token_id
        if end == 2 and model_type in ("clip", "groupvit"):  # older files say 2 and mean the highest number
            return bool((ids.amax(dim=1) == pieces.eos_token_id).all())
        return bool((ids == end).any(dim=1).all())
    return True
