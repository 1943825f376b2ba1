"""By which command, commit and device figures were made, as it stands in their JSON."""

import os
import shlex
import sys
from typing import Any


def made() -> dict[str, Any]:
    """Called when all is measured: it loads PyTorch. `load`: how many programs wanted to run lately."""
    import torch

    from groundling.training.facts import commit, device_name

    return {
        "command": shlex.join(["python", *sys.argv]),
        "commit": str(commit()),
        "device": device_name(torch.device("cpu")),
        "load": [round(load, 1) for load in os.getloadavg()],
    }
