"""A model of ours inside sentence-transformers: the one module of a folder that `export --sentence-transformers` wrote.

The library imports it by the name in modules.json, which from its version 6 on it does only when told to:

    SentenceTransformer("folder", trust_remote_code=True)

It reads text with the tokeniser and the ONNX graphs of the folder, by onnxruntime; languages are detected. Pictures (as
files or Pillow images) have vectors in the same space.
"""

import shutil
from pathlib import Path
from typing import Any, Self

import torch
from PIL import Image
from sentence_transformers.base.modules import InputModule

from groundling.export.onnx_model import OnnxModel


class GroundlingModule(InputModule):
    """Texts, or pictures → unit vectors."""

    save_in_root = False

    def __init__(self, model: OnnxModel) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.model = model

    @property
    def modalities(self) -> list[Any]:
        return ["text"] if self.model.manifest.backbone is None else ["text", "image"]

    def preprocess(self, inputs: Any, prompt: str | None = None, **options: Any) -> dict[str, Any]:
        """Nothing is cut here: what a graph is given depends on what is read together with it."""
        if any(isinstance(one, Image.Image) for one in inputs):
            return {"pictures": list(inputs)}
        return {"texts": [f"{prompt or ''}{one}" for one in inputs]}

    def forward(self, features: dict[str, Any], **options: Any) -> dict[str, Any]:
        if "pictures" in features:
            vectors = self.model.encode_pictures(features["pictures"])
        else:
            vectors = self.model.encode_text(features["texts"])
        return {**features, "sentence_embedding": torch.from_numpy(vectors)}

    @property
    def max_seq_length(self) -> int | None:
        return None

    def get_embedding_dimension(self) -> int:
        return self.model.dimensions

    def save(self, output_path: str, *args: Any, **options: Any) -> None:
        shutil.copytree(self.model.folder, output_path, dirs_exist_ok=True)

    @classmethod
    def load(
        cls,
        model_name_or_path: str,
        subfolder: str = "",
        token: bool | str | None = None,
        cache_folder: str | None = None,
        revision: str | None = None,
        local_files_only: bool = False,
        init_defaults: dict[str, Any] | None = None,
        **options: Any,
    ) -> Self:
        place = cls.load_dir_path(model_name_or_path, subfolder, token, cache_folder, revision, local_files_only)
        return cls(OnnxModel.load(Path(place or model_name_or_path)))
