"""A model as a folder that sentence-transformers loads (https://sbert.net), with the same vectors.

Where the text side is an encoder of transformers, the folder holds modules of that library alone, and needs nothing of
ours. A pretrained pair goes with both of its sides. Our own text encoders go as ONNX graphs inside a module of ours
(`sentence_transformers_module`), which needs `groundling[onnx]` to be installed where it is loaded.
"""

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from groundling import hub
from groundling.encoders.text.base import PooledParts
from groundling.encoders.tokenisers import PieceTokeniser
from groundling.encoders.tokenisers.side import piece_tokeniser
from groundling.errors import UserError
from groundling.export import samples
from groundling.export.card import Card, card_of_pretrained, card_of_run
from groundling.export.onnx_card import started_from
from groundling.export.recall import Asked
from groundling.export.targets import Written, is_run, pretrained
from groundling.export.write import export_run
from groundling.export.write_pretrained import export_pretrained, folders_of
from groundling.files import new_folder, write_json
from groundling.model.pretrained import PretrainedModel
from groundling.model.protocol import Model
from groundling.model.sides import TextSide
from groundling.model.trained import TrainedModel

MODULE = "groundling.export.sentence_transformers_module.GroundlingModule"
FOLDER = "0_Groundling"  # of that module
MODULE_ABOUT = "a module of groundling, for text and pictures"
MODULE_NOTES = [
    "Its text encoder runs in groundling: where it is loaded, `pip install 'groundling[onnx]'`, and from "
    "sentence-transformers 6 on trust_remote_code=True, which lets it import a module that is not its own (nothing in "
    "the folder is run)"
]
TOLERANCE = 1e-4
LOAD = """from sentence_transformers import SentenceTransformer
model = SentenceTransformer("{folder}"{trust})
print(model.encode(["a dog on the beach"]).shape)"""


def to_sentence_transformers(model: str, text_model: str | None, folder: Path, asked: Asked | None = None) -> Written:
    """A model as `folder`, which must not be there yet; checked by loading it with the library."""
    library = _library()
    with _quiet():
        if is_run(model):
            return _run(TrainedModel.load(model, "cpu"), folder, library, asked)
        return _pretrained(pretrained(model, text_model), folder, library, asked)


def _asked(card: Card, model: Model, asked: Asked | None) -> Card:
    """The card with the numbers of the corpus that was named."""
    return card if asked is None else card.with_numbers(asked.ranked(model)[0].result.to_json())


def _run(model: TrainedModel, folder: Path, library: Any, asked: Asked | None) -> Written:
    model.check_finds()
    run = model.run
    assert run is not None  # noqa: S101 (it was loaded from one)
    card, reader = _asked(card_of_run(run, started_from(model)), model, asked), model.readers[0]
    texts, codes = samples.captions(reader.tokeniser, model.languages)
    parts = reader.encoder.pooled_transformer() if len(model.readers) == 1 else None
    with new_folder(folder.expanduser()) as place:
        if parts is not None:
            _save(library, _modules(library, parts), place)
            about = "a transformer, its pooling and what is behind it, for text"
            return _finish(model, folder, place, card, texts, codes, about)
        export_run(run.folder, place / FOLDER)
        _write_module(place)
        texts = [text for text in texts if text]
        codes = [_detected(model, text) for text in texts]
        return _finish(model, folder, place, card, texts, codes, MODULE_ABOUT, MODULE_NOTES)


def _write_module(place: Path) -> None:
    """What the library reads of a folder whose one module is ours."""
    write_json(place / "modules.json", [{"idx": 0, "name": "0", "path": FOLDER, "type": MODULE}])
    versions = {"sentence_transformers": version("sentence-transformers"), "pytorch": torch.__version__}
    facts = {"__version__": versions, "model_type": "SentenceTransformer", "similarity_fn_name": "cosine"}
    write_json(place / "config_sentence_transformers.json", {**facts, "prompts": {}, "default_prompt_name": None})


def _detected(model: Model, text: str) -> str:
    from groundling.text.language_detection import detect_language

    return detect_language(text, model.languages)


def _modules(library: Any, parts: PooledParts) -> list[Any]:
    """Modules of the library that do what an encoder of ours does."""
    modules = (
        _of_library("sentence_transformers.base.modules"),
        _of_library("sentence_transformers.sentence_transformer.modules"),
    )
    with tempfile.TemporaryDirectory() as scratch:
        parts.network.save_pretrained(scratch)
        parts.pieces.save_pretrained(scratch)
        first = modules[0].Transformer(scratch, max_seq_length=parts.longest)
    made = [first, modules[1].Pooling(parts.network.config.hidden_size, pooling_mode=parts.pooling)]
    for layer in parts.layers:
        if isinstance(layer, nn.LayerNorm):
            norm = modules[1].LayerNorm(layer.normalized_shape[0])
            norm.norm.load_state_dict(layer.state_dict())
            made.append(norm)
        elif isinstance(layer, nn.Linear):
            dense = modules[0].Dense(
                layer.in_features, layer.out_features, bias=layer.bias is not None, activation_function=nn.Identity()
            )
            dense.linear.load_state_dict(layer.state_dict())
            made.append(dense)
        elif not isinstance(layer, nn.Identity):
            raise UserError(f"a layer of type {type(layer).__name__} behind the encoder has no module in the library")
    return [*made, modules[0].Normalize()]


def _pretrained(model: PretrainedModel, folder: Path, library: Any, asked: Asked | None) -> Written:
    if model.prompt is not None:
        raise UserError(f"{model.name}: a prompt cannot be exported; give it to `encode`")
    card = _asked(card_of_pretrained(folders_of(model)), model, asked)
    base = _of_library("sentence_transformers.base.modules")
    reading, parts = model.text.text_rules(), model.text.pooled_parts()
    texts = samples.pieces(PieceTokeniser.from_json(piece_tokeniser(reading)))
    codes = [""] * len(texts)
    notes: list[str] = []
    with new_folder(folder.expanduser()) as place:
        if model.text.format != "transformers":
            export_pretrained(model, place / FOLDER)
            _write_module(place)
            return _finish(model, folder, place, card, texts, codes, MODULE_ABOUT, MODULE_NOTES)
        if model.text.folder != model.pictures.folder:
            modules = _modules(library, parts)[:-1] if parts is not None else _opened(library, model.text)
            notes = ["The text side alone: pictures have their vectors from " + model.pictures.name]
        else:
            more: dict[str, Any] = {"padding": "max_length"} if reading.padded else {}
            more |= {} if reading.masked else {"return_attention_mask": False}  # it must not know what is padding
            said = {"text": {"truncation": True, "max_length": reading.longest, **more}}
            options = {"max_seq_length": reading.longest, "do_lower_case": reading.small_letters}
            modules = [base.Transformer(str(model.text.folder), processing_kwargs=said, **options)]
        _save(library, [*modules, base.Normalize()], place)
        about = "the text side" if notes else "both sides of the pair"
        return _finish(model, folder, place, card, texts, codes, about, notes)


def _opened(library: Any, side: TextSide) -> list[Any]:
    """The modules of a folder of the library."""
    try:
        return list(library(str(side.folder), device="cpu", local_files_only=True))
    except Exception as error:  # whatever files that are not all there lead it into
        raise UserError(f"{side.name}: sentence-transformers cannot open it ({hub.first_line(error)})") from None


def _save(library: Any, modules: list[Any], place: Path) -> None:
    library(modules=modules, device="cpu").save_pretrained(str(place), create_model_card=False)


def _finish(
    model: Model,
    folder: Path,
    place: Path,
    card: Card,
    texts: list[str],
    codes: list[str],
    about: str,
    notes: list[str] | None = None,
) -> Written:
    """Load it as anybody would, compare, and write the card."""
    trusted = MODULE in (place / "modules.json").read_text(encoding="utf-8")
    loaded = _library()(str(place), device="cpu", trust_remote_code=trusted, local_files_only=True)
    found = np.asarray(loaded.encode(texts, show_progress_bar=False), dtype=np.float32)
    difference = float(np.abs(found - model.encode_text(texts, codes)).max())
    if not difference <= TOLERANCE:
        raise UserError(
            f"{model.name}: sentence-transformers reads it otherwise, by up to {difference:.1e}; nothing was written"
        )
    load = LOAD.format(folder=folder.name, trust=", trust_remote_code=True" if trusted else "")
    card.write(place, "sentence-transformers", found.shape[1], load, notes or [])
    return Written(str(folder), about, difference, notes or [])


def _library() -> Any:
    try:
        return _of_library("sentence_transformers").SentenceTransformer
    except ImportError:
        raise UserError(
            "exporting to sentence-transformers needs it: pip install 'groundling[sentence-transformers]'"
        ) from None


def _of_library(name: str) -> Any:
    from importlib import import_module

    return import_module(name)


@contextmanager
def _quiet() -> Iterator[None]:
    """The library reports on every module that it makes."""
    logger = logging.getLogger("sentence_transformers")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
