"""About how long a training of our own system will take, told before it begins.

Counted are the multiplications of the text encoder and of the picture network; how fast this machine multiplies is
measured in a blink. The real time may be half or twice of it; once training runs, its progress bar knows better.
"""

import time

import torch

from groundling.settings import Recipe

NETWORKS = {"efficientnet-lite0": (224, 0.39e9), "efficientnet-lite2": (260, 0.86e9)}  # pixels, multiplications
#: The share of the speed of plain matrix products that recurrent layers and small convolutions reach.
RECURRENT = {"cpu": 0.4, "cuda": 0.1}
CONVOLUTIONS = {"cpu": 0.15, "cuda": 0.03}
DECODED = 150.0  # pictures a second and core


def seconds(recipe: Recipe, pictures: int, words: float, device: torch.device, cores: int) -> float:
    """For so many pictures with files, and captions of so many words on average."""
    speed = multiplications_a_second(device)
    own, training = recipe.system, recipe.training
    hidden, word = int(own.get("hidden", 448)), int(own.get("word_dimensions", 128))
    captions = training.batch_size * (int(own.get("captions", 4)) + (3 if recipe.corpus.text_only else 0))
    reading = captions * (words + 2) * 6 * (word * hidden + hidden**2)  # two directions, three gates
    if own.get("text") == "ngrams":
        reading = captions * words * 20 * word
    total = training.maximum_steps * 3 * reading / (speed * RECURRENT[device.type])  # there, back, and the weights
    size, count = NETWORKS.get(recipe.features.backbone, (224, 4e9))
    looked = count * ((recipe.features.size or size) / size) ** 2 / (speed * CONVOLUTIONS[device.type])
    looks = recipe.features.views * (2 if recipe.features.mirror else 1)
    total += pictures * (looks * looked + 1 / (DECODED * cores))
    if own.get("tune"):
        total += training.maximum_steps * training.batch_size * 3 * looked
    return total


def multiplications_a_second(device: torch.device) -> float:
    """Of matrix products, measured."""
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    side = 4096 if device.type == "cuda" else 512
    one = torch.randn(side, side, device=device, dtype=dtype)
    torch.mm(one, one)
    taken = []
    for _ in range(5):
        started = time.perf_counter()
        torch.mm(one, one)
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        taken.append(time.perf_counter() - started)
    return side**3 / min(taken)  # the one that other programs have disturbed least


def spoken(duration: float) -> str:
    """ "about 3 minutes" """
    if duration < 90:
        return "about a minute" if duration > 40 else "less than a minute"
    minutes = duration / 60
    return f"about {minutes:.0f} minutes" if minutes < 90 else f"about {minutes / 60:.0f} hours"
