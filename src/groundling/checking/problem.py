"""Why one question cannot be answered. The questions beside it are."""


class NotChecked(Exception):
    """The message says why, in a few words, without the place: whoever asks knows the row or the file."""
