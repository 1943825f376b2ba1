"""Captions and pictures to try an exported model with: the run's own are not with it, so they are drawn."""

import io
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image

from groundling.text import Tokeniser
from groundling.vision.preprocessing import Pixels, Preprocessing

# Words that hardly any model knows, in several scripts, and what is no word at all.
FOREIGN = ["zyxwvut", "Žluťoučký", "κύκλος", "दो", "小犬", "ひらがな", "สุนัข", "كلب", "🦜", "…", "a’b-c", "Ⅻ", "e\u0301"]
LONGEST = 48


def captions(tokeniser: Tokeniser, languages: list[str], count: int = 96) -> tuple[list[str], list[str]]:
    """Texts of 0 to 48 words, and their languages: words that the tokeniser knows among others."""
    draw = np.random.default_rng(0)
    known = _known(tokeniser)
    codes = [code for code in known if code] or languages or ["en"]
    texts, of = [], []
    for number in range(count):
        code = codes[number % len(codes)]
        words = known.get(code) or known.get("") or ["dog"]
        size = (number // len(codes)) % LONGEST if number < 2 * LONGEST else int(draw.integers(1, 12))
        line = [
            str(FOREIGN[draw.integers(len(FOREIGN))] if draw.random() < 0.15 else words[int(draw.integers(len(words)))])
            for _ in range(size)
        ]
        texts.append(" ".join(line))
        of.append(code)
    return texts, of


def _known(tokeniser: Tokeniser) -> Mapping[str, Sequence[str]]:
    """Words by language; under "" those that all languages share."""
    listed = tokeniser.listed_words()
    if listed is not None:
        return listed
    if known := _pieces(tokeniser):
        return {"": known}
    letters, draw = sorted(tokeniser.known_letters() or "a"), np.random.default_rng(1)
    return {"": ["".join(draw.choice(letters, size)) for size in (*range(1, 40), *range(1, 12))]}


def _pieces(tokeniser: Tokeniser) -> list[str]:
    """Of the vocabulary of a tokeniser of word pieces, those that are words."""
    vocabulary = getattr(tokeniser, "pieces", None)
    known = [] if vocabulary is None else sorted(vocabulary.get_vocab())
    return [word for token in known if (word := token.strip("Ġ▁#</w>")).isalpha()]


def pieces(tokeniser: Tokeniser, count: int = 48) -> list[str]:
    """Texts for a tokeniser of word pieces: of its own vocabulary, as far as these are words, among others."""
    words = _pieces(tokeniser) or ["dog", "a", "Hund"]
    draw = np.random.default_rng(0)
    texts = []
    for number in range(count):
        pool = FOREIGN if number % 6 == 5 else words
        size = number % 12 if number < count - 2 else 200  # and two that are longer than what is read
        texts.append(" ".join(str(pool[int(draw.integers(len(pool)))]) for _ in range(size)))
    return texts


def files() -> list[bytes]:
    """Picture files, tall and wide: noise, and waves of colour."""
    draw, made = np.random.default_rng(0), []
    for width, height in ((301, 200), (160, 333), (64, 64), (517, 400)):
        across, down = np.meshgrid(np.linspace(0, 20, width), np.linspace(0, 9, height))
        wave = np.stack([np.sin(across + colour) * np.cos(down - colour) for colour in range(3)], axis=-1)
        noisy = 127.5 * (1 + wave) * 0.8 + draw.uniform(0, 50, wave.shape)
        buffer = io.BytesIO()
        Image.fromarray(noisy.astype(np.uint8)).save(buffer, "PNG")
        made.append(buffer.getvalue())
    return made


def features(size: int, count: int = 64) -> npt.NDArray[np.float32]:
    """As a backbone's: averages of what is never negative, most of it small."""
    return np.random.default_rng(0).gamma(0.5, 1.0, (count, size)).astype(np.float32)


def pixels(preprocessing: Preprocessing, count: int = 5) -> list[Pixels]:
    """Noise, grey, and waves of colour, in the shape that pictures are cut to."""
    draw, size = np.random.default_rng(0), preprocessing.size
    shape = (preprocessing.parts, size, size, 3) if preprocessing.parts > 1 else (size, size, 3)
    made: list[Pixels] = [draw.integers(0, 256, shape, dtype=np.uint8), np.full(shape, 128, dtype=np.uint8)]
    across, down = np.meshgrid(np.linspace(0, 1, size), np.linspace(0, 1, size))
    while len(made) < count:
        turns, phase = draw.uniform(1, 9, (2, 3)), draw.uniform(0, 6.28, (*shape[:-3], 1, 1, 3))
        wave = np.sin(6.28 * (across[..., None] * turns[0] + down[..., None] * turns[1]) + phase)
        made.append(np.broadcast_to((127.5 * (1 + wave)).astype(np.uint8), shape))
    return made
