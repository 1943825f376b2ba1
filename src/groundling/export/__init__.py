"""Trained models as ONNX: written from a run (`export.write`), and run by onnxruntime (`OnnxModel`) without torch."""

from groundling.export.onnx_model import OnnxModel

__all__ = ["OnnxModel"]
