"""The examples in the docstrings of objectives, systems, batches and settings are run; each says where it is from."""

import doctest
import importlib
import pkgutil
import re

import pytest

from groundling import batches, objectives, systems
from groundling.objectives import OBJECTIVES
from groundling.systems import SYSTEMS

PACKAGES = (objectives, systems, batches)
MODULES = [
    module.name for package in PACKAGES for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
]
OURS = ("bag", "polyglot")  # from no paper
UNLINKED = ("clip_ve", "clseave", "clteave", "translator")  # a thesis and a poster, which have no address to last


@pytest.mark.parametrize("name", [*MODULES, "groundling.settings", "groundling.registry"])
def test_examples_say_what_they_show(name: str) -> None:
    assert not doctest.testmod(importlib.import_module(name)).failed


def test_every_objective_and_system_has_an_example_and_says_where_it_is_from() -> None:
    kinds = {name: kind for registry in (OBJECTIVES, SYSTEMS) for name, kind in registry.items()}
    ours = {name: kind.__module__ for name, kind in kinds.items() if kind.__module__.startswith("groundling.")}
    told = {name: importlib.import_module(module).__doc__ or "" for name, module in ours.items()}
    assert [name for name, text in told.items() if ">>> " not in text] == []
    linked = re.compile(r"https://(arxiv\.org/abs|doi\.org)/")
    assert [name for name, text in told.items() if not linked.search(text) and name not in (*OURS, *UNLINKED)] == []
