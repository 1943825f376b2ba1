"""How long a training will take, told after its first steps."""

import time
from collections.abc import Callable

FIRST = 20  # steps that are timed


class Pace:
    """Times the first steps and says once how many seconds all of them take.

    The first step of a pool of batches also fetches what the others need, a teacher's vectors for example.
    """

    def __init__(self, tell: Callable[[float], None], steps: int, pool: int) -> None:
        self.tell, self.steps, self.pool = tell, steps, pool
        self.begun, self.first, self.taken = time.monotonic(), 0.0, 0

    def step(self) -> None:
        self.taken += 1
        if self.taken == 1:
            self.first = time.monotonic() - self.begun
        elif self.taken == FIRST:
            each = (time.monotonic() - self.begun - self.first) / (FIRST - 1)
            fetched = max(0.0, self.first - each)
            self.tell(self.steps * (each + fetched / self.pool))
