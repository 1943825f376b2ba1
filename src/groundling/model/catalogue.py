"""Short names for pretrained models that people use today, with what is known of each.

Sizes, licences and languages are as their model cards and papers state them, or "not known". Nothing is fetched here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from groundling.errors import UserError, did_you_mean

UNKNOWN = "not known"
APACHE, NO_COMMERCE = "Apache-2.0", "CC-BY-NC-4.0"
CODE = "comes with code of its own, and code that comes with a model is never run"


@dataclass(frozen=True)
class KnownModel:
    """
    Attributes:
        name: what it can be loaded by here.
        pictures: the hub name of the pair, or of its picture side.
        text: the hub name of a separate text side.
        size: parameters, or what the weights take up; of both sides where nothing else is said.
        licence: of the weights.
        languages: which, or how many.
        library: what reads it here; None where nothing does.
        refused: why not.
    """

    name: str
    pictures: str
    text: str | None = None
    size: str = UNKNOWN
    licence: str = UNKNOWN
    languages: str = UNKNOWN
    library: Literal["transformers", "open_clip"] | None = "transformers"
    refused: str = ""

    @property
    def source(self) -> str:
        return f"https://huggingface.co/{self.text or self.pictures}"


SIGLIP_2 = "over 100"
CATALOGUE: Sequence[KnownModel] = (
    KnownModel("siglip2-base", "google/siglip2-base-patch16-224", None, "375 M", APACHE, SIGLIP_2),
    KnownModel("siglip2-large", "google/siglip2-large-patch16-256", None, "303 M for pictures", UNKNOWN, SIGLIP_2),
    KnownModel("siglip2-so400m", "google/siglip2-so400m-patch14-384", None, "1.14 B", APACHE, SIGLIP_2),
    KnownModel("siglip2-naflex", "google/siglip2-base-patch16-naflex", None, "86 M for pictures", APACHE, SIGLIP_2),
    KnownModel("metaclip2-base", "facebook/metaclip-2-worldwide-b32", None, "0.6 B", UNKNOWN, "over 300"),
    KnownModel("metaclip2-huge", "facebook/metaclip-2-worldwide-huge-quickgelu", None, UNKNOWN, UNKNOWN, "over 300"),
    KnownModel("clip-base", "openai/clip-vit-base-patch32", languages="English"),
    KnownModel(
        "clip-multilingual",
        "sentence-transformers/clip-ViT-B-32",
        "sentence-transformers/clip-ViT-B-32-multilingual-v1",
        UNKNOWN,
        APACHE,
        "over 50",
    ),
    KnownModel(
        "m-clip",
        "openai/clip-vit-base-patch32",
        "M-CLIP/XLM-Roberta-Large-Vit-B-32",
        "2.24 GB for text",
        UNKNOWN,
        "48",
    ),
    KnownModel("m-clip-large", "openai/clip-vit-large-patch14", "M-CLIP/XLM-Roberta-Large-Vit-L-14"),
    KnownModel(
        "altclip-m9",
        "BAAI/AltCLIP-m9",
        licence="CreativeML OpenRAIL-M",
        languages="ar, en, es, fr, it, ja, ko, ru, zh",
    ),
    KnownModel("chinese-clip", "OFA-Sys/chinese-clip-vit-base-patch16", None, "188 M", UNKNOWN, "zh"),
    KnownModel(
        "laion5b-multilingual",
        "laion/CLIP-ViT-B-32-xlm-roberta-base-laion5B-s13B-b90k",
        licence="MIT",
        library="open_clip",
    ),
    KnownModel(
        "nllb-clip",
        "visheratin/nllb-clip-large-siglip",
        size="4.78 GB",
        licence=NO_COMMERCE,
        languages="201",
        library=None,
        refused="is told the language of every text by a mark of its own, which is not done here",
    ),
    KnownModel("mexma-siglip2", "visheratin/mexma-siglip2", None, "1 B", "MIT", "80", None, CODE),
    KnownModel("jina-clip-v2", "jinaai/jina-clip-v2", None, "865 M", NO_COMMERCE, "89", None, CODE),
)  # fmt: skip
NAMES = {known.name: known for known in CATALOGUE}


def known_model(name: str) -> KnownModel:
    """The model by its short name; one that is not read here is an error that says why."""
    if name not in NAMES:
        raise UserError(
            f"{name}: neither the folder of a run or of a pretrained model, nor a name on the hub (OWNER/MODEL), nor "
            f"one that `groundling models` lists{did_you_mean(name, NAMES)}"
        )
    known = NAMES[name]
    if known.library is None:
        raise UserError(f"{name}: cannot be loaded, for it {known.refused}; `groundling models` lists those that can")
    return known
