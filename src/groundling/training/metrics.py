"""metrics.jsonl and TensorBoard: what a training tells about itself while it runs."""

import json
from pathlib import Path
from types import TracebackType
from typing import Any

from groundling.files import write_text
from groundling.training.tensorboard import EventFile


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The rows of metrics.jsonl; a last line cut off by a kill is left out."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return rows


class NoMetrics:
    """Writes nothing: for what is learned before the model."""

    def write(self, step: int, **values: Any) -> None:
        return None

    def __enter__(self) -> "NoMetrics":
        return self

    def __exit__(self, *error: object) -> None:
        return None


class Metrics:
    """Appends rows to metrics.jsonl and the same numbers to TensorBoard.

    A resumed training forgets the rows after its checkpoint: they will be written again.
    """

    def __init__(self, folder: Path, step: int) -> None:
        self.path = folder / "metrics.jsonl"
        kept = [row for row in read_metrics(self.path) if row["step"] <= step]
        write_text(self.path, "".join(json.dumps(row) + "\n" for row in kept))
        self.file = self.path.open("a", encoding="utf-8")
        self.board = EventFile(folder / "tensorboard")

    def write(self, step: int, **values: Any) -> None:
        self.file.write(json.dumps({"step": step, **values}) + "\n")
        self.file.flush()
        for name, value in values.items():
            if isinstance(value, dict):
                for part, number in value.items():
                    self.board.scalar(f"{name}/{part}", number, step)
            else:
                self.board.scalar(name, value, step)

    def __enter__(self) -> "Metrics":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()
        self.board.close()
