"""A model for immich, a server for photographs (https://immich.app): what its machine-learning service reads.

    config.json                       the length of texts
    textual/model.onnx                "text", whole numbers [1, length] → [1, dimensions]
    textual/tokenizer.json, tokenizer_config.json
    visual/model.onnx                 "image", colours [1, 3, size, size] → [1, dimensions]
    visual/preprocess_cfg.json        size, colours, how to resize

Its server knows how many dimensions a model has by its name, so that shorter vectors are filled up with zeros: cosines
stay what they are.
"""

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from groundling.encoders.text.side import SideGraph
from groundling.encoders.tokenisers import PieceTokeniser
from groundling.encoders.tokenisers.piece_rules import piece_rules
from groundling.encoders.tokenisers.side import piece_tokeniser
from groundling.errors import UserError
from groundling.export import samples
from groundling.export.agreement import TOLERANCE
from groundling.export.card import Card, card_of_pretrained, card_of_run
from groundling.export.immich_reading import ImmichReader
from groundling.export.onnx_card import started_from
from groundling.export.picture_backbone import SideColours, network_of_run
from groundling.export.precision import Precision, reduced
from groundling.export.recall import Asked
from groundling.export.targets import Written, is_run, pretrained
from groundling.export.trace import make_graph
from groundling.export.write_pretrained import folders_of
from groundling.files import atomic_path, new_folder, write_json, write_text
from groundling.model.pretrained import PretrainedModel
from groundling.model.protocol import Model
from groundling.model.sides import PictureSide
from groundling.model.trained import TrainedModel
from groundling.model.vectors import Vectors
from groundling.progress import bar
from groundling.text.segmentation import ELISION, TURKIC
from groundling.text.tokens import TokenizerRules

# Dimensions of models that its server has names for, and one of these names; sorted.
NAMES = {
    512: "ViT-B-32__openai",
    640: "ViT-B-16-plus-240__laion400m_e32",
    768: "ViT-L-14__openai",
    1024: "ViT-H-14__laion2b-s32b-b79k",
    1152: "ViT-SO400M-14-SigLIP-384__webli",
    1536: "ViT-gopt-16-SigLIP2-256__webli",
}
PICTURES_APART = 1e-1  # it resizes and then cuts, where our runs do both in one step: up to a pixel apart


@dataclass(frozen=True)
class Seen:
    """How pictures are looked at.

    Attributes:
        network: normalised colours [n, 3, square, square] → unit vectors.
        square: pixels that immich is asked to cut out; the network cuts what it needs out of the middle.
    """

    network: nn.Module
    square: int
    stretch: bool
    resample: str
    mean: tuple[float, ...]
    std: tuple[float, ...]


@dataclass(frozen=True)
class Parts:
    """What both kinds of models are made of on their way to immich.

    Attributes:
        text: (ids [n, longest], lengths [n]) → unit vectors.
        texts, code: what the model is asked when it is compared, and in which language.
        notes: what is read otherwise than by the model itself.
    """

    model: Model
    card: Card
    text: nn.Module
    rules: TokenizerRules
    seen: Seen
    texts: list[str]
    code: str
    notes: list[str]


def to_immich(
    model: str, text_model: str | None, folder: Path, precision: Precision, asked: Asked | None = None
) -> Written:
    """A model as `folder`, which must not be there yet; checked by reading it as immich does."""
    parts = _of_run(model) if is_run(model) else _of_pretrained(pretrained(model, text_model))
    dimensions = next((size for size in NAMES if size >= parts.model.dimensions), None)
    if dimensions is None:
        raise UserError(f"{model}: immich has no place for vectors of {parts.model.dimensions:,} numbers")
    with new_folder(folder.expanduser()) as place, bar("Exporting", total=3) as progress:
        _write_text(place / "textual", parts, dimensions, precision)
        progress.advance()
        _write_pictures(place / "visual", parts, dimensions, precision)
        progress.advance()
        longest = parts.rules.longest
        config = {"embed_dim": dimensions, "text_cfg": {"context_length": longest}}
        write_json(place / "config.json", {**config, "vision_cfg": {"image_size": parts.seen.square}})
        reader = ImmichReader(place)
        apart = _checked(reader, parts, precision, model)
        name = NAMES[dimensions]
        notes = [
            f"immich takes models by names of its own: put the folder in the place of one of {dimensions} dimensions, "
            f"such as model-cache/clip/{name}, choose {name} under Machine Learning, and run Smart Search for all "
            "photos",
            *_cut_otherwise(reader, parts),
            *parts.notes,
            *parts.rules.notes,
        ]
        card = parts.card
        if asked is not None:
            card = card.with_numbers(asked.ranked(parts.model)[0].result.to_json())
        card.write(place, "onnx", dimensions, f"cp -r {folder.name} model-cache/clip/{name}", notes)
        progress.advance()
    return Written(str(folder), "textual and visual graphs for immich", apart, notes)


def _of_run(name: str) -> Parts:
    model = TrainedModel.load(name, "cpu")
    model.check_finds()
    if model.similarity != "cosine":
        raise UserError(f"{name}: compares by `similarity: {model.similarity}`, and immich by cosines")
    if len(model.readers) > 1:
        raise UserError(
            f"{name}: has another reader for languages that it was taught later, and immich does not say which "
            "language a query is in; export the model before it was taught, or teach a student for all languages"
        )
    seen, encoder = _seen_by_run(model, name), model.readers[0].encoder
    rules = encoder.tokeniser.tokenizer_rules()
    text = deepcopy(encoder).float().cpu().eval().requires_grad_(False).export_graph()
    plain = [code for code in model.languages if code.split("-")[0] not in (*ELISION, *TURKIC)]
    unsaid = "read as in other languages, since immich does not say which language a query is in"
    notes = [f"{rule} {unsaid}" for rule in _rules_of_languages(model.languages)]
    run = model.run
    assert run is not None  # noqa: S101 (it was loaded from one)
    card = card_of_run(run, started_from(model))
    code = (plain or ["en"])[0]
    texts = samples.captions(encoder.tokeniser, [code])[0]
    return Parts(model, card, text, rules, seen, texts, code, notes)


def _seen_by_run(model: TrainedModel, name: str) -> Seen:
    behind = model.encoders.picture.export_graph()
    if model.pictures is not None:
        return _seen_by_side(model.pictures, behind)
    found = network_of_run(model)
    if found is None:
        raise UserError(f"{name}: was trained on features that came from elsewhere, so it cannot look at pictures")
    backbone, cut = found
    if cut.parts > 1:
        raise UserError(f"{name}: looks at several parts of a picture (features.crops), and immich sends one square")
    network = Middle(Mirrored(backbone.network, cut.mirror), cut.size, behind)
    square = cut.size if cut.stretch else cut.resize
    return Seen(network, square, cut.stretch, cut.resample, tuple(backbone.mean), tuple(backbone.std))


def _seen_by_side(side: PictureSide, behind: nn.Module) -> Seen:
    cut = side.cutting()
    square = cut.size if cut.stretch else cut.resize
    return Seen(Middle(SideColours(side), cut.size, behind), square, cut.stretch, cut.resample, cut.mean, cut.std)


def _rules_of_languages(languages: list[str]) -> list[str]:
    bases = {code.split("-")[0] for code in languages}
    rules = {"apostrophes (l'eau) are": ELISION, "the letters I and İ are": TURKIC}
    return [f"{', '.join(sorted(bases & set(those)))}: {rule}" for rule, those in rules.items() if bases & set(those)]


def _of_pretrained(model: PretrainedModel) -> Parts:
    reading = model.text.text_rules()
    if model.prompt is not None:
        raise UserError(f"{model.name}: a prompt cannot be exported to immich")
    text, seen = SideGraph(model.text, nn.Identity()), _seen_by_side(model.pictures, nn.Identity())
    texts = samples.pieces(PieceTokeniser.from_json(piece_tokeniser(reading)))
    card = card_of_pretrained(folders_of(model))
    return Parts(model, card, text, piece_rules(reading), seen, texts, "", [])


class TextForImmich(nn.Module):
    """[n, longest] rows, filled up with padding → [n, dimensions]."""

    def __init__(self, text: nn.Module, rules: TokenizerRules, dimensions: int) -> None:
        super().__init__()
        self.text, self.pad_row, self.dimensions = text, rules.pad_row, dimensions
        self.longest, self.end = rules.longest, _ends_in_padding(rules)

    def forward(self, text: Tensor) -> Tensor:
        place = torch.arange(self.longest)[None, :]
        lengths = torch.where(text == self.pad_row, 0, place + 1).amax(dim=1) + self.end
        vectors = self.text(text, lengths.clamp(min=1, max=self.longest))
        return pad(vectors, (0, self.dimensions - vectors.shape[1]))


def _ends_in_padding(rules: TokenizerRules) -> int:
    """1 where the mark at the end of a text is the padding as well, as CLIP's: the first of it belongs to the text."""
    from tokenizers import Tokenizer

    return int(rules.pad_row in Tokenizer.from_str(rules.rules).encode("a").ids)


class ForImmich(nn.Module):
    def __init__(self, pictures: nn.Module, dimensions: int) -> None:
        super().__init__()
        self.pictures, self.dimensions = pictures, dimensions

    def forward(self, image: Tensor) -> Tensor:
        vectors = self.pictures(image)
        return pad(vectors, (0, self.dimensions - vectors.shape[1]))


class Mirrored(nn.Module):
    """A backbone, and its mean with that of the mirror image where it takes that."""

    def __init__(self, network: Any, mirror: bool) -> None:
        super().__init__()
        self.network, self.mirror = network, mirror

    def forward(self, colours: Tensor) -> Tensor:
        features: Tensor = self.network(colours)
        return (features + self.network(colours.flip(3))) / 2 if self.mirror else features


class Middle(nn.Module):
    """Normalised colours → the middle → what looks at it → what is behind that."""

    def __init__(self, network: nn.Module, size: int, behind: nn.Module) -> None:
        super().__init__()
        self.network, self.size, self.behind = network, size, behind

    def forward(self, image: Tensor) -> Tensor:
        first = round((image.shape[2] - self.size) / 2)
        vectors: Tensor = self.behind(self.network(image[:, :, first : first + self.size, first : first + self.size]))
        return vectors


def _write_text(folder: Path, parts: Parts, dimensions: int, precision: Precision) -> None:
    rules = parts.rules
    example = torch.full((2, rules.longest), rules.pad_row, dtype=torch.int32)
    example[:, 0] = rules.pad_row + 1
    inputs = {"text": (example, ["captions", None])}
    graph = TextForImmich(parts.text, rules, dimensions)
    _write_graph(folder, make_graph(graph, inputs, "captions", "the text side").data, precision)
    write_text(folder / "tokenizer.json", rules.rules)
    write_json(folder / "tokenizer_config.json", {"pad_token": rules.pad, "model_max_length": rules.longest})


def _write_pictures(folder: Path, parts: Parts, dimensions: int, precision: Precision) -> None:
    seen = parts.seen
    inputs = {"image": (torch.zeros(2, 3, seen.square, seen.square), ["pictures", None, None, None])}
    graph = make_graph(ForImmich(seen.network, dimensions), inputs, "pictures", "the picture side")
    _write_graph(folder, graph.data, precision)
    cut = {"size": [seen.square, seen.square], "mode": "RGB", "mean": list(seen.mean), "std": list(seen.std)}
    mode = "squash" if seen.stretch else "shortest"
    write_json(folder / "preprocess_cfg.json", {**cut, "interpolation": seen.resample, "resize_mode": mode})


def _write_graph(folder: Path, data: bytes, precision: Precision) -> None:
    folder.mkdir(exist_ok=True)
    with atomic_path(folder / "model.onnx") as temporary:
        temporary.write_bytes(reduced(data, precision))


def _cut_otherwise(reader: ImmichReader, parts: Parts) -> list[str]:
    """What is lost where immich cuts pictures in another way than the model was trained with, measured."""
    if reader.cuts_as_told:
        return []
    files, seen = samples.files(), parts.seen
    looked = parts.model.encode_prepared([parts.model.preparation(data) for data in files])
    there = np.stack([reader.picture_vector(data) for data in files])[:, : looked.shape[1]]
    near = (there * looked).sum(axis=1)
    own = "squeezes all of a picture into a square" if seen.stretch else "cuts out the middle as well"
    own += "" if seen.resample == "bicubic" else f" and resizes by {seen.resample} interpolation"
    return [
        "immich resizes the short side of every picture bicubically and cuts out the middle, whatever "
        f"preprocess_cfg.json says; this model {own}. Of {len(files)} pictures drawn to check it, the vectors there "
        f"have a mean cosine of {near.mean():.2f} (lowest: {near.min():.2f}) with those of the model"
    ]


def _checked(reader: ImmichReader, parts: Parts, precision: Precision, name: str) -> float:
    """The largest difference from our own vectors, of texts as immich reads them and of pictures cut as the model's
    files say; more than the tolerance is an error."""
    files = samples.files()
    ours = np.stack([reader.text_vector(text) for text in parts.texts])
    theirs = parts.model.encode_text(parts.texts, parts.code)
    seen = np.stack([reader.told_vector(data) for data in files])
    looked = parts.model.encode_prepared([parts.model.preparation(data) for data in files])
    found = {"text": _apart(ours, theirs), "picture": _apart(seen, looked)}
    for part, difference in found.items():
        most = TOLERANCE[precision] if part == "text" else max(TOLERANCE[precision], PICTURES_APART)
        if not difference <= most:
            raise UserError(f"{name}: for immich, its {part} side differs by {difference:.1e}; nothing was written")
    return max(found.values())


def _apart(ours: Vectors, theirs: Vectors) -> float:
    return float(np.abs(ours[:, : theirs.shape[1]] - theirs).max())
