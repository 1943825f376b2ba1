"""The emoji corpus: what is held out, and what it is called."""

import io
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from emoji_concepts import KEYS, NAMES
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from groundling.corpus import Corpus
from groundling.corpus.builtin import emoji
from groundling.corpus.builtin.emoji_drawing import ARTISTS, find_artwork
from groundling.corpus.builtin.emoji_names import LANGUAGES, key_of
from groundling.corpus.builtin.emoji_splits import by_artist, by_concept, may_be_held_out
from groundling.errors import UserError


def key_of_picture(picture: str) -> str:
    return Path(picture).stem


def concepts_in(corpus: Corpus, split: str) -> list[str]:
    return [key_of_picture(picture) for picture in corpus.pictures[corpus.splits == split]]


@pytest.fixture(scope="session")
def corpora() -> dict[str, Corpus]:
    """Both corpora whole, without their pictures: nothing here looks at a pixel."""
    made = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emoji, "draw_concepts", lambda wanted, folder, size: None)
        for split in ("concept", "artist"):
            made[split] = emoji.build(Path("nowhere"), split=split)
    return made


# ---- the splits


def test_no_concept_is_on_both_sides(corpora: dict[str, Corpus]) -> None:
    train, dev, test = (concepts_in(corpora["concept"], split) for split in ("train", "dev", "test"))
    assert len(set(dev)) == len(dev) == 250
    assert len(set(test)) == len(test) == 250
    assert not set(train) & set(dev) and not set(train) & set(test) and not set(dev) & set(test)
    assert set(train) | set(dev) | set(test) == set(KEYS)
    assert set(Counter(train).values()) == {2}, "a concept in train has both artists' drawings"


def test_artists_are_on_one_side_each(corpora: dict[str, Corpus]) -> None:
    corpus = corpora["artist"]
    artist_of = {(picture.split("/")[0], split) for picture, split in zip(corpus.pictures, corpus.splits, strict=True)}
    assert artist_of == {("twemoji", "train"), ("openmoji", "dev"), ("openmoji", "test")}
    assert sorted(concepts_in(corpus, "train")) == sorted(KEYS)
    dev, test = concepts_in(corpus, "dev"), concepts_in(corpus, "test")
    assert (len(set(dev)), len(set(test))) == (len(dev), len(test)) == (250, 500)
    assert not set(dev) & set(test)
    assert set(dev) == set(concepts_in(corpora["concept"], "dev"))
    assert set(test) > set(concepts_in(corpora["concept"], "test"))


FLAGS = [
    "🇩🇪",
    "🇨🇿",
    "🇿🇦",
    "🇺🇳",
    "🇪🇺",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
]
KEYCAPS = ["0⃣", "9⃣", "#⃣", "*⃣", "🔟"]
LETTERS = list("🅰🅱🆎🅾🆗🆒🆓🆔🆕🆖🆘🆙🆚🅿Ⓜℹ©®™🈁🈚🉑㊗㊙🔠🔡🔢🔣🔤")
DRAWN_ALIKE = ["👪", "👨\u200d👩\u200d👦", "👩\u200d👩\u200d👧\u200d👦", "🧑\u200d🧒", "👨\u200d🎓", "👨\u200d🚀"]


@pytest.mark.parametrize("sign", FLAGS + KEYCAPS + LETTERS + DRAWN_ALIKE)
def test_flags_keycaps_letters_and_twins_are_never_held_out(sign: str) -> None:
    assert key_of(sign) in KEYS
    assert not may_be_held_out(key_of(sign))


@pytest.mark.parametrize(
    "sign", ["🐶", "🏁", "🏳\u200d🌈", "🏴\u200d☠", "❤", "🎓", "🧑\u200d🎓", "👩\u200d🎓", "👶", "🧒", "🔒", "⏏", "❗"]
)
def test_pictures_that_look_like_something_may_be_held_out(sign: str) -> None:
    assert key_of(sign) in KEYS
    assert may_be_held_out(key_of(sign))


def test_english_names_of_what_is_held_out_are_not_flags_of_countries_nor_keycaps() -> None:
    """The slow twin of the code point rules: CLDR itself calls them "flag: …", "keycap: …", "Japanese “…” button"."""
    for key in filter(may_be_held_out, KEYS):
        name = NAMES[key]["en"]
        assert not name.startswith(("flag:", "keycap:", "Japanese “", "input ", "family")), name


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(-(2**40), 2**40))
def test_a_seed_is_a_split(seed: int) -> None:
    for way in (by_concept, by_artist):
        assert way(KEYS, seed) == way(KEYS, seed)
        placed, other = set(way(KEYS, seed)), set(way(KEYS, seed + 1))
        assert placed != other
        backwards = set(way(KEYS[::-1], seed))
        assert placed == backwards, "the order concepts are listed in does not matter"


def test_the_default_split_does_not_move() -> None:
    """Numbers in the docs were made with it; a change here makes them stale."""
    dev = [picture.key for picture in by_concept(KEYS, 0) if picture.split == "dev"]
    assert dev[:3] == ["1f602", "1f643", "1f970"]  # tears of joy, upside-down, smiling with hearts


def test_held_out_pictures_have_no_exact_twin() -> None:
    """Else a picture in the gallery would have two right names, or training would have seen it.

    Dev and test of "concept" stand beside all of Twemoji, those of "artist" beside OpenMoji's held-out drawings.
    """
    import resvg_py

    def pixels(path: Path, size: int) -> bytes:
        png = resvg_py.svg_to_bytes(svg_path=str(path), width=size, background="#ffffff", skip_system_fonts=True)
        with Image.open(io.BytesIO(png)) as picture:
            return picture.tobytes()

    beside = {"twemoji": KEYS, "openmoji": list(filter(may_be_held_out, KEYS))}
    for artist, keys in beside.items():
        artwork = find_artwork(artist)
        alike: dict[bytes, list[str]] = defaultdict(list)
        for key in keys:
            alike[pixels(artwork[key], 12)].append(key)  # found small, confirmed large
        for group in alike.values():
            large = Counter(pixels(artwork[key], 72) for key in group) if len(group) > 1 else Counter()
            for key in filter(may_be_held_out, group if large else []):
                assert large[pixels(artwork[key], 72)] == 1, key


# ---- the captions


def test_first_caption_in_every_language_is_the_name(corpora: dict[str, Corpus]) -> None:
    for corpus in corpora.values():
        for split in ("dev", "test"):
            part = corpus.split(split)
            queries = part.queries()
            asked: dict[tuple[str, str], list[str]] = defaultdict(list)
            for owner, language, text in zip(queries.owners, queries.languages, queries.texts, strict=True):
                asked[key_of_picture(part.pictures[owner]), str(language)].append(text)
            assert asked == {
                (key, language): [NAMES[key][language]] for key in concepts_in(part, split) for language in LANGUAGES
            }


def test_both_drawings_carry_the_same_captions(corpora: dict[str, Corpus]) -> None:
    corpus = corpora["concept"]
    rows = {picture: row for row, picture in enumerate(corpus.pictures.tolist())}
    starts = np.searchsorted(corpus.owners, np.arange(len(rows) + 1))
    for key in concepts_in(corpus, "train")[::50]:
        one, two = (rows[f"{artist}/{key}.png"] for artist in ARTISTS)
        assert corpus.texts[starts[one] : starts[one + 1]] == corpus.texts[starts[two] : starts[two + 1]]
    assert set(corpus.origins.tolist()) == {"human"}


def test_unknown_split_and_useless_size_are_the_users_to_mend(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r'"artists" \(did you mean "artist"\?\)'):
        emoji.build(tmp_path, split="artists")
    with pytest.raises(UserError, match="size of 1 or more"):
        emoji.build(tmp_path, size=0)
    assert not list(tmp_path.iterdir())
