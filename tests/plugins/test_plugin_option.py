"""Parts of one's own from a module that is named on the command line: trained with, and found again by `evaluate`."""

import os
import sys
from pathlib import Path

import pytest

from groundling import registry
from groundling.corpus import CORPORA
from groundling.errors import UserError
from groundling.objectives import OBJECTIVES
from groundling.systems import SYSTEMS

sys.path.append(str(Path(__file__).parent.parent / "cli"))

import commands
from commands import assert_one_sentence, call

own_ground, world_files = commands.own_ground, commands.world_files

MODULE = """
from own_systems import PairwiseSigmoid, Whitened
from groundling.objectives import OBJECTIVES
from groundling.systems import SYSTEMS

OBJECTIVES.register("own_sigmoid", PairwiseSigmoid)
SYSTEMS.register("own_whitened", Whitened)
"""


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """What a test registers is forgotten after it, and called again forgets it at once, as a new process would."""

    def forget() -> None:
        monkeypatch.setenv(registry.PLUGINS, "")
        monkeypatch.delitem(sys.modules, "my_parts", raising=False)
        for one in (OBJECTIVES, SYSTEMS, CORPORA):
            monkeypatch.setattr(one, "_own", {key: it for key, it in one._own.items() if not key.startswith("own_")})
            monkeypatch.setattr(one, "_points", None)

    forget()
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.forget = forget  # type: ignore[attr-defined]
    return monkeypatch


def test_a_system_of_ones_own_is_found_again(
    forgotten: pytest.MonkeyPatch, world_files: Path, own_ground: Path
) -> None:
    (own_ground / "my_parts.py").write_text(MODULE)
    settings = [f"features.array={world_files / 'features.npy'}", f"features.names={world_files / 'names.txt'}"]
    settings += ["training.batch_size=16", "training.maximum_steps=10", "text.minimum_count=1"]
    assigned = [part for setting in settings for part in ("--set", setting)]
    train = ["train", "--corpus", world_files / "corpus", "--system", "own_whitened", *assigned, "--out", "run"]
    assert_one_sentence(call(*train), 'no system is called "own_whitened"')
    forgotten.forget()
    said = call("--plugin", "my_parts", *train)
    assert said.code == 0, said.err
    forgotten.forget()
    assert_one_sentence(call("evaluate", "run"), 'no system is called "own_whitened"')
    forgotten.forget()
    found = call("--plugin", "my_parts", "evaluate", "run", "--json").json
    assert 0 <= found["mean"]["mR"] <= 100
    assert os.environ[registry.PLUGINS] == "my_parts"  # for processes that are started from here
    forgotten.forget()
    forgotten.setenv(registry.PLUGINS, "my_parts")
    assert "own_whitened" in SYSTEMS


def test_a_plug_in_that_cannot_be_imported(forgotten: pytest.MonkeyPatch, own_ground: Path) -> None:
    assert_one_sentence(
        call("--plugin", "nowhere", "recipes"), "the plug-in nowhere cannot be imported: there is no such"
    )
    forgotten.forget()
    (own_ground / "my_parts.py").write_text("1 / 0")
    with pytest.raises(UserError, match="my_parts cannot be imported: ZeroDivisionError"):
        registry.add_plugin("my_parts")
