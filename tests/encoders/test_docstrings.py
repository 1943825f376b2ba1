"""The examples in the docstrings of encoders and tokenisers are run."""

import doctest
import importlib
import pkgutil

import pytest

from groundling import encoders
from groundling.encoders.picture import PICTURE_ENCODERS
from groundling.encoders.text import TEXT_ENCODERS

MODULES = [module.name for module in pkgutil.walk_packages(encoders.__path__, "groundling.encoders.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_say_what_they_show(name: str) -> None:
    assert not doctest.testmod(importlib.import_module(name)).failed


def test_every_encoder_has_an_example() -> None:
    kinds = [*TEXT_ENCODERS.values(), *PICTURE_ENCODERS.values()]
    ours = {kind.__module__ for kind in kinds if kind.__module__.startswith("groundling.")}
    assert not [name for name in sorted(ours) if ">>> " not in (importlib.import_module(name).__doc__ or "")]
