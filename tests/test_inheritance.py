"""No class of the package stands on more than two of our own: parts are put together, not derived from each other."""

import importlib
import inspect
import pkgutil

import groundling

DEEPEST = 3


def depth(kind: type) -> int:
    """How many of our own classes stand above each other, this one included."""
    ours = [base for base in kind.__bases__ if base.__module__.split(".")[0] == "groundling"]
    return 1 + max(map(depth, ours), default=0)


def test_inheritance_is_at_most_three_deep() -> None:
    names = [module.name for module in pkgutil.walk_packages(groundling.__path__, "groundling.")]
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    found = {kind for module in modules for kind in vars(module).values() if inspect.isclass(kind)}
    ours = {kind: depth(kind) for kind in found if kind.__module__.split(".")[0] == "groundling"}
    assert len(ours) > 400
    assert {f"{kind.__module__}.{kind.__name__}" for kind, deep in ours.items() if deep > DEEPEST} == set()
