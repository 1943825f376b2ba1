"""Text of others on a terminal or in a log: what could move the cursor, end a line or turn letters is spelled out."""

import unicodedata

#: Controls, what is not assigned or stands alone of a pair, line and paragraph separators, and marks of direction.
HIDDEN = ("Cc", "Cs", "Cn", "Co", "Zl", "Zp")
TURNING = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}


def printable(text: object) -> str:
    """The text in one line, as it is but for such characters.

    >>> printable("photo\\x1b[2J.jpg")
    'photo\\\\x1b[2J.jpg'
    """
    plain = str(text)
    if plain.isascii() and plain.isprintable():
        return plain
    return "".join(_spelled(letter) for letter in plain)


def _spelled(letter: str) -> str:
    hidden = unicodedata.category(letter) in HIDDEN or ord(letter) in TURNING
    return letter.encode("unicode_escape").decode("ascii") if hidden else letter
