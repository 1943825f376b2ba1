"""How much one request may ask for, and how much all of them together."""

from dataclasses import dataclass

LONGEST_QUERY = 500  # characters
LONGEST_FOLDER = 1000  # characters
LONGEST_NAME = 4096  # characters of a picture's path
LARGEST_ID = 2**53 - 1  # what JavaScript counts to
MOST_RESULTS = 200  # of one answer
MOST_SKIPPED = 9_800  # the best that may be left out: nobody looks at more than ten thousand pictures
SMALLEST_SIDE, LARGEST_SIDE = 16, 2048  # pixels of a small copy of a picture


@dataclass(frozen=True)
class Limits:
    """What a request that goes beyond is told with 413, 503 or 504.

    Attributes:
        body: bytes of a picture that is sent, counted as they come in.
        bodies: bytes of all pictures that are being sent or looked at.
        pixels: of a picture that is sent; known from its head, before anything is decoded.
        decoding: seconds of computing for one picture, in a process of its own.
        seconds: until a response begins, the time to send the picture included.
        stall: seconds that somebody may take to receive some more of a response.
        headers: seconds that somebody may take to send the head of a request.
        connections: that are open together.
        concurrent: requests that are worked on together.
        queue: questions that wait for the model.
        thumbnails: bytes of small copies kept in memory.
        queries: vectors of queries kept in memory; whoever types asks for the same ones again.
    """

    body: int = 10 * 2**20
    bodies: int = 200 * 2**20
    pixels: int = 50_000_000
    decoding: int = 3
    seconds: float = 15.0
    stall: float = 20.0
    headers: float = 10.0
    connections: int = 1024
    concurrent: int = 256
    queue: int = 256
    thumbnails: int = 64 * 2**20
    queries: int = 4096
