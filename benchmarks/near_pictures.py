"""Pictures that look the same, by their features: of all pairs, and of those in cells that can be near.

Every twentieth held-out picture is a training picture with some noise, so that there is something to find. Told is for
each threshold which share of the pairs was compared, the seconds of computing, and how many held-out pictures have
a training picture with that cosine, which must be as many as all pairs have.

    python benchmarks/near_pictures.py features.npy [--train 20000] [--held-out 2000] [--thresholds 0.999 0.99 0.98]
"""

import argparse
import time
from pathlib import Path

import numpy as np

from groundling.corpus.nearest_features import AllPairs, Cells

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("features", type=Path, help="an array, one row for each picture")
    parser.add_argument("--train", type=int, default=20_000)
    parser.add_argument("--held-out", type=int, default=2_000)
    parser.add_argument("--thresholds", type=float, nargs="+", default=[0.999, 0.99, 0.98])
    asked = parser.parse_args()
    stored = np.load(asked.features, mmap_mode="r")
    draw = np.random.default_rng(0)
    features = stored[draw.permutation(len(stored))[: asked.train + asked.held_out]]
    train, held_out = np.arange(asked.train), np.arange(asked.train, len(features))
    copied = features[: len(held_out[::20])]
    noise = draw.standard_normal(copied.shape) * np.linalg.norm(copied, axis=1, keepdims=True) / copied.shape[1] ** 0.5
    features[held_out[::20]] = copied + draw.uniform(0, 0.2, (len(copied), 1)) * noise
    started = time.process_time()
    cosines, _ = AllPairs(features, train).nearest(held_out, np.float32)
    print(f"all pairs: {time.process_time() - started:.1f} s")
    for threshold in asked.thresholds:
        started = time.process_time()
        cells = Cells(features, train, threshold)
        found, _ = cells.nearest(held_out, np.float32)
        seconds = time.process_time() - started
        count, of_all = int(np.isfinite(found).sum()), int((cosines >= threshold).sum())
        share = cells.compared / (len(train) * len(held_out))
        print(f"{threshold}: {share:.1%} of the pairs, {seconds:.1f} s, found {count} (all pairs: {of_all})")
