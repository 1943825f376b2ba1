"""What immich's machine-learning service does with a folder, in our words: so is a folder checked before it is kept.

Texts: white space is evened out, tokenizer.json cuts, pads and fills up to the length in config.json. Pictures: the
short side is resized, always bicubically, the middle is cut out, and colours are normalised. How else a model wants its
pictures, which preprocess_cfg.json says in open_clip's words, it does not read (`immich_ml/models/clip/visual.py`).
"""

import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from groundling.files import read_json
from groundling.model.vectors import Vectors


class ImmichReader:
    def __init__(self, folder: Path) -> None:
        from onnxruntime import InferenceSession
        from tokenizers import Tokenizer

        longest = int(read_json(folder / "config.json")["text_cfg"]["context_length"])
        symbol = str(read_json(folder / "textual" / "tokenizer_config.json")["pad_token"])
        self.cut: dict[str, Any] = read_json(folder / "visual" / "preprocess_cfg.json")
        self.pieces: Any = Tokenizer.from_file(str(folder / "textual" / "tokenizer.json"))
        self.pieces.enable_padding(length=longest, pad_token=symbol, pad_id=self.pieces.token_to_id(symbol))
        self.pieces.enable_truncation(max_length=longest)
        self.text, self.pictures = (
            InferenceSession(folder / side / "model.onnx", providers=["CPUExecutionProvider"])
            for side in ("textual", "visual")
        )

    def text_vector(self, text: str) -> Vectors:
        ids = self.pieces.encode(" ".join(text.split())).ids
        found: Vectors = self.text.run(None, {"text": np.array([ids], dtype=np.int32)})[0][0]
        return found

    @property
    def cuts_as_told(self) -> bool:
        """Whether immich does with pictures what preprocess_cfg.json says."""
        return bool(self.cut["resize_mode"] == "shortest" and self.cut["interpolation"] == "bicubic")

    def picture_vector(self, data: bytes) -> Vectors:
        """As immich looks at a picture."""
        return self._vector(self._middle(_opened(data), Image.Resampling.BICUBIC))

    def told_vector(self, data: bytes) -> Vectors:
        """As preprocess_cfg.json says that the model looks at it."""
        image, resample = _opened(data), Image.Resampling[str(self.cut["interpolation"]).upper()]
        squash = self.cut["resize_mode"] == "squash"
        return self._vector(image.resize((self.side,) * 2, resample) if squash else self._middle(image, resample))

    @property
    def side(self) -> int:
        return int(self.cut["size"][0])

    def _middle(self, image: Image.Image, resample: Image.Resampling) -> Image.Image:
        side, (width, height) = self.side, image.size
        wide = (side, int(height / width * side)) if width < height else (int(width / height * side), side)
        whole = image.resize(wide, resample)
        left, top = int(whole.width / 2 - side / 2), int(whole.height / 2 - side / 2)
        return whole.crop((left, top, left + side, top + side))

    def _vector(self, square: Image.Image) -> Vectors:
        mean, std = (np.array(self.cut[name], dtype=np.float32) for name in ("mean", "std"))
        colours = (np.asarray(square, dtype=np.float32) / 255 - mean) / std
        found: Vectors = self.pictures.run(None, {"image": colours.transpose(2, 0, 1)[None]})[0][0]
        return found


def _opened(data: bytes) -> Image.Image:
    with Image.open(io.BytesIO(data)) as opened:
        return opened.convert("RGB")
