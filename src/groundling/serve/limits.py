"""How much one request may ask for, and how much all of them together."""

from dataclasses import dataclass

LONGEST_QUERY = 500  # characters
LONGEST_FOLDER = 1000  # characters
MOST_RESULTS = 200
SMALLEST_SIDE, LARGEST_SIDE = 16, 2048  # pixels of a small copy of a picture


@dataclass(frozen=True)
class Limits:
    """What a request that goes beyond is told with 413, 503 or 504.

    Attributes:
        body: bytes of a picture that is sent, counted as they come in.
        pixels: of a picture that is sent; known from its head, before anything is decoded.
        seconds: until a response begins, the time to send the picture included.
        concurrent: requests that are worked on together.
        queue: questions that wait for the model.
        thumbnails: bytes of small copies kept in memory.
        queries: vectors of queries kept in memory; whoever types asks for the same ones again.
    """

    body: int = 10 * 2**20
    pixels: int = 50_000_000
    seconds: float = 15.0
    concurrent: int = 256
    queue: int = 256
    thumbnails: int = 64 * 2**20
    queries: int = 4096
