"""A sentence as a bidirectional GRU over the contextual vectors of a pretrained encoder. Needs the extra `hub`.

BERT: Devlin et al. 2019, https://arxiv.org/abs/1810.04805; read by a GRU: the row "BERT+GRU" of Wehrmann et al. 2019,
"Language-agnostic visual-semantic embeddings", ICCV (supplement, Table 1).

>>> text, settings = TextSettings(), PretrainedSettings(encoder="google-bert/bert-base-multilingual-cased")
>>> encoder = PretrainedEncoder.build([], [], text, 512, settings)      # doctest: +SKIP
>>> encoder.encode(["ein Hund"], "de").shape                            # doctest: +SKIP
torch.Size([1, 512])
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch
from pydantic import Field
from safetensors import SafetensorError
from torch import Tensor, nn

from groundling import hub
from groundling.encoders.padding import real
from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text.base import TEXT_ENCODERS, TextEncoder
from groundling.encoders.text.bidirectional import BidirectionalSentence, Pooling
from groundling.encoders.text.readers import SentenceReader
from groundling.encoders.tokenisers.hub import HubTokeniser
from groundling.errors import UserError
from groundling.settings import Settings, TextSettings
from groundling.text import Tokeniser


class HubSettings(Settings):
    """Of all encoders that begin as one from the hub."""

    encoder: str = Field(
        "google-bert/bert-base-multilingual-cased",
        description="a transformers encoder: its name on the hub, or a folder that holds it (safetensors only)",
    )


class PretrainedSettings(HubSettings, EncoderSettings):
    pooling: Pooling = Field("last", description="as of the encoder bidirectional")
    trainable: bool = Field(False, description="train the encoder too; otherwise it is frozen")


class HubEncoder(TextEncoder):
    """An encoder whose tokeniser comes with it from the hub, or from a folder."""

    tokeniser_class: ClassVar = HubTokeniser
    tokeniser: HubTokeniser

    @classmethod
    def learn_tokeniser(
        cls, texts: Sequence[str], languages: Sequence[str], text: TextSettings, settings: Any
    ) -> Tokeniser:
        return HubTokeniser.build(settings.encoder, text)

    def keep_files(self, run: Path) -> None:
        """Its configuration and tokeniser: the weights are those of the run."""
        self.tokeniser.keep(run, weights=False)


@TEXT_ENCODERS.register("bert_gru")
class PretrainedEncoder(HubEncoder):
    """Encoder → last hidden states → bidirectional sentence.

    A frozen encoder stays in evaluation mode, gets no gradient, and is no part of the weights that are saved: the run
    has a copy of it as it was (see `tokenisers.hub`).
    """

    Settings: ClassVar = PretrainedSettings

    def __init__(self, tokeniser: HubTokeniser, dimensions: int, settings: PretrainedSettings) -> None:
        super().__init__(tokeniser)
        encoder = load_encoder(tokeniser.folder)
        hidden: int = encoder.config.hidden_size
        self.encoder: nn.Module = encoder.requires_grad_(settings.trainable)
        self.trainable = settings.trainable
        self.sentence = BidirectionalSentence(hidden, dimensions, settings.pooling)
        if not self.trainable:
            leave_out(self, "encoder")

    def keep_files(self, run: Path) -> None:
        self.tokeniser.keep(run, weights=not self.trainable)

    def train(self, mode: bool = True) -> "PretrainedEncoder":
        super().train(mode)
        self.encoder.train(mode and self.trainable)
        return self

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        vectors: Tensor = self.sentence(self.word_vectors(ids, lengths), lengths)
        return vectors

    def reader(self) -> SentenceReader:
        return self.sentence

    def word_vectors(self, entries: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, hidden]"""
        with torch.set_grad_enabled(self.trainable and torch.is_grad_enabled()):
            states: Tensor = self.encoder(
                input_ids=entries.long(), attention_mask=pairs_mask(entries, lengths)
            ).last_hidden_state
        return states

    def export_graph(self) -> nn.Module:
        return PretrainedGraph(self)


class PretrainedGraph(nn.Module):
    """`PretrainedEncoder` as it traces to ONNX."""

    def __init__(self, encoder: PretrainedEncoder) -> None:
        super().__init__()
        self.encoder, self.sentence = encoder.encoder, encoder.sentence.export_graph()

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        states = self.encoder(input_ids=ids.long(), attention_mask=pairs_mask(ids, lengths)).last_hidden_state
        vectors: Tensor = self.sentence(states, lengths)
        return vectors


def pairs_mask(ids: Tensor, lengths: Tensor) -> Tensor:
    """Which token may look at which, spelled out as [captions, 1, longest, longest]: from [captions, longest]
    transformers looks whether anything is padding, which a recorded step on a GPU cannot do."""
    return real(lengths, ids.shape[1])[:, None, None, :].expand(-1, 1, ids.shape[1], -1)


def load_encoder(folder: Path) -> Any:
    """With the weights that lie there; without any, as in a run that has them itself, they are made up."""
    library = hub.transformers("encoder", "a pretrained")
    try:
        if not any(folder.glob("*.safetensors")):
            config = library.AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
            return library.AutoModel.from_config(config, attn_implementation="sdpa", dtype=torch.float32)
        return library.AutoModel.from_pretrained(
            folder,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            attn_implementation="sdpa",
            dtype=torch.float32,
        )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise UserError(f"{folder}: not an encoder that can be used ({str(error).strip().splitlines()[0]})") from None


def leave_out(module: nn.Module, part: str) -> None:
    """A part of a module that never changes is not saved with it, nor missed when it is loaded: it lies elsewhere."""

    def forget(_: nn.Module, weights: dict[str, Any], prefix: str, about: object) -> None:
        for name in [name for name in weights if name.startswith(f"{prefix}{part}.")]:
            del weights[name]

    def do_not_miss(_: nn.Module, keys: Any) -> None:
        keys.missing_keys[:] = [name for name in keys.missing_keys if f".{part}." not in f".{name}"]

    module.register_state_dict_post_hook(forget)
    module.register_load_state_dict_post_hook(do_not_miss)
