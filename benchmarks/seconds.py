"""How long something took, for benchmarks of machines that others use, too."""

import time


class Clock:
    """Seconds since the start by the clock, and those in which this process computed."""

    def __init__(self) -> None:
        self.wall, self.computing = time.perf_counter(), time.process_time()

    def seconds(self) -> dict[str, float]:
        wall, computing = time.perf_counter() - self.wall, time.process_time() - self.computing
        return {"wall": round(wall, 1), "computing": round(computing, 1)}
