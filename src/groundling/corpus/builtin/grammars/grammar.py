"""What every language can say: the five forms of statements, and what a scene shows, cell by cell."""

from abc import ABC, abstractmethod

from groundling.corpus.builtin.scenes_world import Absent, Beside, Count, Exists, More, Scene, Statement, Thing

OBJECT = "object"  # the noun where a statement names no kind


class Grammar(ABC):
    """Sentences of one language.

    Attributes:
        places: names of the nine cells, row by row from the top left, as they stand before a colon.
        box: a closed box, as it stands after a colon.
        colon, semicolon, stop: the punctuation of a description.
    """

    places: tuple[str, ...]
    box: str
    colon = ": "
    semicolon = "; "
    stop = "."

    def __init__(self) -> None:
        self._said: dict[Statement | Thing, str] = {}

    def say(self, statement: Statement) -> str:
        """The statement as a sentence. There are few different ones, so each is put together once."""
        if statement not in self._said:
            self._said[statement] = self._sentence(statement)
        return self._said[statement]

    def describe(self, scene: Scene) -> str:
        """All that a picture shows: where things are and what they look like."""
        parts = []
        for item in scene:
            thing = Thing(item.size, item.colour, item.kind)
            if not item.box and thing not in self._said:
                self._said[thing] = self.one(thing)
            parts.append(self.places[item.cell] + self.colon + (self.box if item.box else self._said[thing]))
        text = self.semicolon.join(parts)
        return text[0].upper() + text[1:] + self.stop

    def _sentence(self, statement: Statement) -> str:
        match statement:
            case Exists(thing):
                return self.exists(thing)
            case Absent(thing):
                return self.absent(thing)
            case Count(number, thing):
                return self.count(number, thing)
            case Beside(thing, relation, other):
                return self.beside(thing, relation, other)
            case More(thing, other):
                return self.more(thing, other)

    @abstractmethod
    def one(self, thing: Thing) -> str:
        """One such thing, as a phrase by itself: "a big red star"."""

    @abstractmethod
    def exists(self, thing: Thing) -> str: ...

    @abstractmethod
    def absent(self, thing: Thing) -> str: ...

    @abstractmethod
    def count(self, number: int, thing: Thing) -> str: ...

    @abstractmethod
    def beside(self, thing: Thing, relation: str, other: Thing) -> str: ...

    @abstractmethod
    def more(self, thing: Thing, other: Thing) -> str: ...


def adjectives(thing: Thing) -> list[str]:
    """What is said of the thing, size before colour."""
    return [value for value in (thing.size, thing.colour) if value is not None]


def noun(thing: Thing) -> str:
    return thing.kind or OBJECT
