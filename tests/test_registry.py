"""Things by name, registered in code or by other packages."""

from importlib.metadata import EntryPoint

import pytest

from groundling import registry
from groundling.errors import UserError
from groundling.registry import Registry


@pytest.fixture
def shapes() -> Registry[str]:
    made: Registry[str] = Registry("shape", "groundling.shapes")
    made.register("circle", "round")
    return made


def plug_in(monkeypatch: pytest.MonkeyPatch, **points: str) -> None:
    found = [EntryPoint(name, value, "groundling.shapes") for name, value in points.items()]
    monkeypatch.setattr(registry, "entry_points", lambda group: found if group == "groundling.shapes" else [])


def test_a_registered_thing_is_found_and_listed(shapes: Registry[str]) -> None:
    @shapes.register("square")
    def square() -> str:
        return "four corners"

    assert shapes["circle"] == "round"
    assert shapes["square"] is square
    assert list(shapes) == ["circle", "square"]
    assert "circle" in shapes and "cube" not in shapes


def test_an_unknown_name_says_what_is_near(shapes: Registry[str]) -> None:
    with pytest.raises(UserError, match='no shape is called "circel" \\(did you mean "circle"\\?\\)'):
        shapes["circel"]


def test_a_name_is_given_once(shapes: Registry[str]) -> None:
    shapes.register("circle", shapes["circle"])  # the same thing again, as when a module is loaded twice
    with pytest.raises(ValueError, match="registered already"):
        shapes.register("circle", "flat")


def test_another_package_adds_its_own(shapes: Registry[str], monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, digits="string:digits", circle="string:punctuation")
    assert shapes["digits"] == "0123456789"
    assert shapes["circle"] == "round"  # a plug-in does not take over a name of ours
    assert list(shapes) == ["circle", "digits"]


def test_a_broken_plug_in_is_one_sentence(
    shapes: Registry[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plug_in(monkeypatch, hole="no_such_module_here:x")
    assert list(shapes) == ["circle"]
    said = capsys.readouterr().err
    assert said.startswith("groundling: the shape hole of no_such_module_here:x cannot be loaded: No module named")
    assert said.count("\n") == 1
    with pytest.raises(UserError, match='no shape is called "hole"'):
        shapes["hole"]
