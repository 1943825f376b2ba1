"""Tiny random pairs of every type, saved as the real ones are published: the same files with the same keys in them."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers

WORDS = ["a", "red", "dog", "picture", "of", "rotes", "bild"]
TEXTS = ["a red dog", "rotes bild", "A Picture of a red picture of a dog", "a", "of of of of"]
LETTERS = sorted({letter for word in WORDS for letter in word})
CLIP_COLOURS = {
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711],
}
HALF = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
SIZES = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
VISION = {**SIZES, "image_size": 32, "patch_size": 16}
END, T5_END = "<|endoftext|>", "</s>"
SQUARE = {"height": 32, "width": 32}


# Tokenisers


def clip_tokeniser(folder: Path, **more: Any) -> Any:
    """Byte pairs; padding is the end-of-text mark, as in OpenAI's own."""
    vocabulary = {letter: row for row, letter in enumerate(LETTERS)}
    for piece in [*(f"{letter}</w>" for letter in LETTERS), "<|startoftext|>", "<|endoftext|>"]:
        vocabulary[piece] = len(vocabulary)
    made = transformers.CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=77, pad_token=END, **more)
    made.save_pretrained(folder)
    return made


def bert_tokeniser(folder: Path) -> Any:
    vocabulary = {word: row for row, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])}
    made = transformers.BertTokenizer(vocab=vocabulary, model_max_length=512)
    made.save_pretrained(folder)
    return made


def roberta_tokeniser(folder: Path, **more: Any) -> Any:
    pieces = [(mark, 0.0) for mark in ("<s>", "<pad>", "</s>", "<unk>")]
    pieces += [(f"▁{word}", -2.0) for word in WORDS] + [(letter, -6.0) for letter in LETTERS] + [("▁", -3.0)]
    made = transformers.XLMRobertaTokenizer(vocab=pieces, model_max_length=512, **more)
    made.save_pretrained(folder)
    return made


def siglip_tokeniser(folder: Path) -> Any:
    """A sentencepiece model with T5's symbols: padding 1 is the end mark, as in SigLIP's own."""
    import sentencepiece

    trained = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a red dog", "rotes bild", "a picture of a red dog"] * 20),
        model_writer=trained,
        vocab_size=30,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "spiece.model").write_bytes(trained.getvalue())
    made = transformers.SiglipTokenizer(str(folder / "spiece.model"), model_max_length=64, pad_token=T5_END)
    made.save_pretrained(folder)
    return made


def gemma_tokeniser(folder: Path) -> Any:
    """Of SigLIP 2: byte pairs, an end mark behind every text."""
    from tokenizers.processors import TemplateProcessing

    marks = {"<pad>": 0, "<eos>": 1, "<bos>": 2, "<unk>": 3, "<mask>": 4}
    vocabulary = {**marks, **{letter: row + 5 for row, letter in enumerate([*LETTERS, "▁"])}}
    made = transformers.Siglip2Tokenizer(vocab=vocabulary, merges=[], padding_side="right", model_max_length=64)
    made.backend_tokenizer.post_processor = TemplateProcessing(single="$A <eos>", special_tokens=[("<eos>", 1)])
    made.save_pretrained(folder)
    return made


def tips_tokeniser(folder: Path) -> Any:
    vocabulary = {piece: row for row, piece in enumerate(["<pad>", "<unk>", *LETTERS, "▁"])}
    made = transformers.Tipsv2Tokenizer(vocab=vocabulary, merges=[], model_max_length=64)
    made.save_pretrained(folder)
    return made


# Pairs


def saved(folder: Path, kind: str, text: dict[str, Any], processor: dict[str, Any], **more: Any) -> Any:
    torch.manual_seed(0)
    vision = {**VISION, **more.pop("vision", {})}
    config = getattr(transformers, f"{kind}Config")(text_config=text, vision_config=vision, **more)
    model = getattr(transformers, f"{kind}Model")(config).eval()
    with torch.no_grad():  # random models tell all tokens apart only where their weights are not tiny
        for name, weight in model.named_parameters():
            if weight.ndim > 1 and not name.startswith("logit"):
                weight.copy_(torch.randn_like(weight) * 0.3)
    model.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(processor))
    return model


def text_config(tokeniser: Any, positions: int, **more: Any) -> dict[str, Any]:
    return {**SIZES, "vocab_size": len(tokeniser), "max_position_embeddings": positions, **more}


def clip(folder: Path) -> Any:
    pieces = clip_tokeniser(folder)
    # As published: ids of another vocabulary, so that the highest number is taken for the end.
    text = text_config(pieces, 77, bos_token_id=0, eos_token_id=2)
    processor = {
        "crop_size": 32, "do_center_crop": True, "do_normalize": True, "do_resize": True,
        "feature_extractor_type": "CLIPFeatureExtractor", "resample": 3, "size": 32, **CLIP_COLOURS,
    }  # fmt: skip
    return saved(folder, "CLIP", text, processor, projection_dim=8)


def new_clip(folder: Path) -> Any:
    """As published since: the end by its own number."""
    pieces = clip_tokeniser(folder)
    text = text_config(pieces, 77, bos_token_id=pieces.bos_token_id, eos_token_id=pieces.eos_token_id)
    return saved(folder, "CLIP", text, shortest_edge("CLIPImageProcessor"), projection_dim=8)


def shortest_edge(kind: str) -> dict[str, Any]:
    return {
        "crop_size": SQUARE, "do_center_crop": True, "do_convert_rgb": True, "do_normalize": True, "do_rescale": True,
        "do_resize": True, "image_processor_type": kind, "resample": 3, "rescale_factor": 1 / 255,
        "size": {"shortest_edge": 32}, **CLIP_COLOURS,
    }  # fmt: skip


def square(kind: str, resample: int, **more: Any) -> dict[str, Any]:
    return {
        "do_normalize": True, "do_rescale": True, "do_resize": True, "image_processor_type": kind,
        "resample": resample, "rescale_factor": 1 / 255, "size": SQUARE, **HALF, **more,
    }  # fmt: skip


def siglip(folder: Path) -> Any:
    pieces = siglip_tokeniser(folder)
    text = text_config(pieces, 64, projection_size=16)
    return saved(folder, "Siglip", text, square("SiglipImageProcessor", 3))


def siglip2(folder: Path) -> Any:
    """SigLIP 2 of one picture size: SigLIP's network, Gemma's tokeniser."""
    text = text_config(gemma_tokeniser(folder), 64, projection_size=16)
    return saved(folder, "Siglip", text, square("SiglipImageProcessor", 2))


def siglip2_naflex(folder: Path) -> Any:
    text = text_config(gemma_tokeniser(folder), 64, projection_size=16)
    processor = square("Siglip2ImageProcessor", 2, patch_size=16, max_num_patches=6)
    del processor["size"]
    return saved(folder, "Siglip2", text, processor, vision={"num_patches": 4})


def chinese_clip(folder: Path) -> Any:
    text = text_config(bert_tokeniser(folder), 512, pad_token_id=0)
    processor = {
        "crop_size": SQUARE, "do_center_crop": False, "do_convert_rgb": True, "do_normalize": True, "do_resize": True,
        "feature_extractor_type": "ChineseCLIPFeatureExtractor", "resample": 3, "size": SQUARE, **CLIP_COLOURS,
    }  # fmt: skip
    return saved(folder, "ChineseCLIP", text, processor, projection_dim=8)


def altclip(folder: Path) -> Any:
    marks = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    text = text_config(roberta_tokeniser(folder), 514, type_vocab_size=1, project_dim=8, **marks)
    return saved(folder, "AltCLIP", text, shortest_edge("CLIPImageProcessor"), projection_dim=8)


def metaclip_2(folder: Path) -> Any:
    pieces = roberta_tokeniser(folder)
    text = text_config(pieces, 77, eos_token_id=2, bos_token_id=0, pad_token_id=1)
    return saved(folder, "MetaClip2", text, shortest_edge("CLIPImageProcessor"), projection_dim=8)


def align(folder: Path) -> Any:
    text = text_config(bert_tokeniser(folder), 512, pad_token_id=0)
    processor = {
        "crop_size": SQUARE, "do_center_crop": True, "do_normalize": True, "do_rescale": True, "do_resize": True,
        "image_processor_type": "EfficientNetImageProcessor", "include_top": False, "rescale_factor": 1 / 127.5,
        "rescale_offset": True, "resample": 2, "size": {"height": 40, "width": 40}, **HALF,
    }  # fmt: skip
    narrow = {
        "image_size": 32, "width_coefficient": 0.1, "depth_coefficient": 0.1, "hidden_dim": 16, "kernel_sizes": [3],
        "in_channels": [32], "out_channels": [16], "strides": [1], "num_block_repeats": [1], "expand_ratios": [1],
        "depthwise_padding": [],
    }  # fmt: skip
    return saved(folder, "Align", text, processor, projection_dim=8, vision=narrow)


def aimv2(folder: Path) -> Any:
    pieces = clip_tokeniser(folder)
    text = text_config(pieces, 77, eos_token_id=pieces.eos_token_id)
    vision = {"is_native": False, "num_channels": 3}
    return saved(folder, "Aimv2", text, shortest_edge("CLIPImageProcessor"), projection_dim=8, vision=vision)


def groupvit(folder: Path) -> Any:
    text = text_config(clip_tokeniser(folder), 77, bos_token_id=0, eos_token_id=2)
    vision = {"depths": [1, 1], "num_group_tokens": [4, 0], "num_output_groups": [4, 2], "num_hidden_layers": 2}
    more = {"projection_dim": 8, "projection_intermediate_dim": 16}
    return saved(folder, "GroupViT", text, shortest_edge("CLIPImageProcessor"), vision=vision, **more)


def vision_text_dual_encoder(folder: Path) -> Any:
    """As Italian and Korean CLIPs were made: a picture and a text network of their own, joined."""
    torch.manual_seed(0)
    text = transformers.BertConfig(**text_config(bert_tokeniser(folder), 64, pad_token_id=0))
    both = transformers.VisionTextDualEncoderConfig.from_vision_text_configs(
        transformers.CLIPVisionConfig(**VISION), text, projection_dim=8
    )
    model = transformers.VisionTextDualEncoderModel(both).eval()
    model.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(shortest_edge("CLIPImageProcessor")))
    return model


def tipsv2(folder: Path) -> Any:
    text = text_config(tips_tokeniser(folder), 64)
    processor = square("Tipsv2ImageProcessor", 2) | {"do_normalize": False}
    return saved(folder, "Tipsv2", text, processor)


PAIRS: dict[str, Callable[[Path], Any]] = {
    maker.__name__: maker
    for maker in (
        clip, new_clip, siglip, siglip2, siglip2_naflex, chinese_clip, altclip, metaclip_2, align, aimv2, groupvit,
        vision_text_dual_encoder,
    )
}  # fmt: skip
