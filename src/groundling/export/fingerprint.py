"""What tells one run's vectors from another's."""

import hashlib

from groundling.run import Run
from groundling.settings import FeatureSettings


def run_fingerprint(run: Run, features: FeatureSettings) -> str:
    """SHA-256 of all that decides what the vectors are: how pictures are looked at, tokeniser and weights.

    An exported model has that of its run, since it gives the same vectors: an index that was built with one can be
    searched with the other.
    """
    digest = hashlib.sha256(features.model_dump_json(exclude_defaults=True).encode())
    for file in (run.tokeniser_file, run.weights_file):
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()
