"""Things found by name: systems, objectives, metrics, encoders, corpora; ours, and those of other packages.

A thing of one's own is registered in code,

>>> colours: Registry[str] = Registry("colour", "groundling.colours")
>>> colours.register("red", "#f00")
'#f00'
>>> colours["red"]
'#f00'

or by an entry point of another package, which is loaded when its name is asked for:

    [project.entry-points."groundling.colours"]
    blue = "my_package:blue"

or by a module that registers it in code and is named with `groundling --plugin MODULE`, or in $GROUNDLING_PLUGINS.
A run never names code: whoever uses one with parts that are not ours says where they are.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Generic, TypeVar, overload

from groundling.errors import UserError, did_you_mean

Thing = TypeVar("Thing")
PLUGINS = "GROUNDLING_PLUGINS"  # modules, separated by commas; of the environment, so that further processes have them


def add_plugin(module: str) -> None:
    """Import a module that registers things of one's own, here and in the processes that are started from here."""
    known = os.environ.get(PLUGINS, "").split(",")
    if module not in known:
        os.environ[PLUGINS] = ",".join(filter(None, [*known, module]))
    load_plugins()


def load_plugins() -> None:
    """Import the modules that $GROUNDLING_PLUGINS names, from the current folder as well."""
    for name in filter(None, os.environ.get(PLUGINS, "").split(",")):
        if name in sys.modules:
            continue
        here = str(Path.cwd())
        if here not in sys.path:
            sys.path.append(here)
        try:
            import_module(name)
        except Exception as error:  # the user's code: whatever it raises is told in a sentence
            missing = isinstance(error, ModuleNotFoundError) and error.name == name
            why = "there is no such module" if missing else f"{type(error).__name__}: {error}"
            raise UserError(f"the plug-in {name} cannot be imported: {why}") from None


class Registry(Mapping[str, Thing], Generic[Thing]):
    """Names and what they stand for, in the order in which they were registered; entry points come last.

    Args:
        kind: what is registered here, in the singular, for error sentences.
        group: the entry points that other packages declare such things under.
    """

    def __init__(self, kind: str, group: str) -> None:
        self.kind, self.group = kind, group
        self._own: dict[str, Thing] = {}
        self._points: dict[str, EntryPoint] | None = None  # those not loaded yet; None: not looked for yet

    @overload
    def register(self, name: str, thing: Thing) -> Thing: ...

    @overload
    def register(self, name: str) -> Callable[[Thing], Thing]: ...

    def register(self, name: str, thing: Thing | None = None) -> Thing | Callable[[Thing], Thing]:
        """Give a thing a name: `register("mine", Mine)`, or `@register("mine")` above it. A name is given once."""
        if thing is None:
            return lambda decorated: self.register(name, decorated)
        if self._own.get(name, thing) is not thing:
            raise ValueError(f"the {self.kind} {name} is registered already")
        self._own[name] = thing
        return thing

    def __getitem__(self, name: str) -> Thing:
        if name not in self._own and name in self._waiting():
            self._load(name)
        if name not in self._own:
            raise UserError(f'no {self.kind} is called "{name}"{did_you_mean(name, self)}')
        return self._own[name]

    def __iter__(self) -> Iterator[str]:
        """Every name; a plug-in that cannot be loaded has none."""
        for name in list(self._waiting()):
            self._load(name)
        return iter(tuple(self._own))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in self._waiting() or name in self._own  # in this order: a plug-in may register it while we look

    def _waiting(self) -> dict[str, EntryPoint]:
        if self._points is None:
            self._points = {}  # while plug-ins are imported, which ask for names themselves
            load_plugins()
            self._points = {point.name: point for point in entry_points(group=self.group)}
        return self._points

    def _load(self, name: str) -> None:
        point = self._waiting().pop(name)
        if name in self._own:
            return  # ours wins: a plug-in must not change what a name of ours means
        try:
            self._own[name] = point.load()
        except Exception as error:  # another package's code: whatever it raises must not stop ours
            sentence = str(error).splitlines()[0] if str(error) else type(error).__name__
            print(f"groundling: the {self.kind} {name} of {point.value} cannot be loaded: {sentence}", file=sys.stderr)
