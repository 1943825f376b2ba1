"""Graphs opened by onnxruntime (extra `onnx`), each checked against the manifest before it is given to it."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from groundling import checksums
from groundling.errors import UserError
from groundling.export.external_data import NotProtobuf, has_external_data
from groundling.export.manifest import GraphFile, read_verified
from groundling.hub import first_line

WARNING = 3  # onnxruntime's level "error": its warnings are about how graphs could be faster


class Session:
    """One graph with one output. Several threads may run it, each on its own core."""

    def __init__(self, folder: Path, stored: GraphFile) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise UserError("an exported model needs onnxruntime: pip install 'groundling[onnx]'") from None
        self.path = folder / stored.name
        known = checksums.Remembered(self.path, stored.sha256, "onnx")
        if known.before():  # the very file was checked before, and was not touched since
            data = self.path.read_bytes()
        else:
            data = read_verified(folder, stored)
            self._check(data)
            known.keep()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = WARNING
        try:
            self.session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
            found = {value.name for value in self.session.get_inputs()}
        except Exception as error:  # its exceptions have no class in common
            raise UserError(
                f"{self.path}: onnxruntime cannot read it ({str(error).splitlines()[0]}); export the model again"
            ) from None
        if found != set(stored.inputs):
            raise UserError(f"{self.path}: not the graph that the manifest describes; export the model again")

    def _check(self, data: bytes) -> None:
        try:
            elsewhere = has_external_data(data)
        except NotProtobuf:
            raise UserError(
                f"{self.path}: onnxruntime cannot read it (not an ONNX graph); export the model again"
            ) from None
        if elsewhere:
            raise UserError(f"{self.path}: keeps weights in other files, which are not read; export the model again")

    def __call__(self, **inputs: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        try:
            return np.asarray(self.session.run(None, inputs)[0], dtype=np.float32)
        except Exception as error:  # its exceptions have no class in common; a graph may break only when it runs
            raise UserError(
                f"{self.path}: does not run ({first_line(error)[:200]}); it does not fit the files beside it, or is "
                "damaged: export the model again"
            ) from None
