"""groundling: teach an image–text model your language.

What most programs need can be had from here, and is imported when it is first used: `import groundling` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groundling.api import evaluate, teach, train
    from groundling.corpus import Corpus
    from groundling.model import Model
    from groundling.run import Run
    from groundling.search import Index

__version__ = "0.1.0"
__all__ = ["Corpus", "Index", "Model", "Run", "__version__", "evaluate", "teach", "train"]

_HOME = {
    "Corpus": "corpus",
    "Index": "search",
    "Model": "model",
    "Run": "run",
    "evaluate": "api",
    "teach": "api",
    "train": "api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOME]
