"""A memory that forgets what was not asked for longest. Safe to use from several threads."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Args: `capacity` is the most that all values together weigh; each weighs 1 unless `weight` says otherwise."""

    def __init__(self, capacity: int, weight: Callable[[Value], int] = lambda value: 1) -> None:
        self._capacity, self._weight, self._total = capacity, weight, 0
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Key) -> Value | None:
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            self._drop(key)
            self._values[key] = value
            self._total += self._weight(value)
            while self._total > self._capacity and self._values:
                self._drop(next(iter(self._values)))

    def forget(self, key: Key) -> None:
        with self._lock:
            self._drop(key)

    def _drop(self, key: Key) -> None:
        value = self._values.pop(key, None)
        if value is not None:
            self._total -= self._weight(value)
