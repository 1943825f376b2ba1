"""How many cores there are for this process, which in a container are often few of the machine's."""

import os
from contextlib import suppress
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")  # where Linux tells what a container may use


def cores() -> int:
    """Those that the system lets us run on, and no more than the share of time that a container is held to."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    share = _share()
    return max(1, allowed if share >= allowed else round(share))


def _share() -> float:
    """In cores; infinite where nobody set a limit."""
    with suppress(OSError, ValueError):
        quota, period = (GROUPS / "cpu.max").read_text().split()
        return float("inf") if quota == "max" else int(quota) / int(period)
    with suppress(OSError, ValueError):  # of older systems
        quota, period = ((GROUPS / f"cpu/cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return int(quota) / int(period) if int(quota) > 0 else float("inf")
    return float("inf")
