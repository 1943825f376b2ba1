"""What tokenisers and image processors of transformers do, as data, where they do what most do."""

from importlib import import_module
from typing import Any, Literal, cast

from PIL import Image

from groundling.errors import UserError
from groundling.model.sides import Cutting

RESAMPLES: dict[int, Literal["bicubic", "bilinear"]] = {
    int(Image.Resampling.BICUBIC): "bicubic",
    int(Image.Resampling.BILINEAR): "bilinear",
}
USUAL = 1 / 255  # what colours are multiplied by before they are normalised


def rules_of(pieces: Any, name: str) -> str:
    """The rules of a tokeniser, as the package `tokenizers` writes them."""
    canonical = hasattr(pieces, "sp_model") and hasattr(pieces, "canonicalize_text")
    backend = _of_siglip(pieces) if canonical else getattr(pieces, "backend_tokenizer", None)
    if backend is None or pieces.pad_token_id is None:
        raise UserError(f"{name}: its tokeniser is code, not data, so that it cannot be exported")
    return str(backend.to_str())


def _of_siglip(pieces: Any) -> Any:
    """SigLIP's tokeniser, which transformers has as code, as rules: punctuation is dropped, its sentencepiece model
    cuts, and an end mark follows. Texts are in small letters by then."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    parts = import_module("transformers.convert_slow_tokenizer").import_protobuf()
    said = parts.ModelProto.FromString(pieces.sp_model.serialized_model_proto())
    known = [(piece.piece, piece.score) for piece in said.pieces]
    made: Any = Tokenizer(models.Unigram(known, said.trainer_spec.unk_id, said.trainer_spec.byte_fallback))
    first: list[Any] = [normalizers.Replace(Regex(r"[!-/:-@\[-`{-~]"), "")]
    if said.normalizer_spec.precompiled_charsmap:
        first.append(normalizers.Precompiled(said.normalizer_spec.precompiled_charsmap))
    made.normalizer = normalizers.Sequence([*first, normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()])
    made.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="always")
    end = str(pieces.eos_token)
    made.post_processor = processors.TemplateProcessing(single=["$A", end], special_tokens=[(end, pieces.eos_token_id)])
    return made


def cutting_of(processor: Any, name: str) -> Cutting:
    """How an image processor cuts pictures, where it resizes, cuts out the middle and normalises."""

    def said(what: str, usual: Any) -> Any:
        value = getattr(processor, what, None)
        return usual if value is None else value

    size, crop = dict(said("size", {})), dict(said("crop_size", {}))
    resample = RESAMPLES.get(int(said("resample", -1)))
    short, cuts = size.get("shortest_edge"), bool(said("do_center_crop", False))
    square = crop if cuts else size
    side: Any = square.get("height")
    usual = said("do_resize", True) and abs(float(said("rescale_factor", USUAL)) - USUAL) < 1e-9
    usual = usual and side is not None and side == square.get("width") and resample is not None
    if not usual or (not cuts if short is not None else size != square):
        raise UserError(f"{name}: its image processor cuts pictures in a way of its own, so that it cannot be exported")
    plain = not said("do_normalize", True)
    mean = (0.0, 0.0, 0.0) if plain else tuple(map(float, processor.image_mean))
    std = (1.0, 1.0, 1.0) if plain else tuple(map(float, processor.image_std))
    Colours = tuple[float, float, float]
    kind = cast(Literal["bicubic", "bilinear"], resample)
    return Cutting(int(side), int(short or side), short is None, kind, cast(Colours, mean), cast(Colours, std))
