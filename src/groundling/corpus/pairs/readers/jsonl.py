"""Sentence pairs as lines of JSON: {"en": "a dog", "ko": "개"}, or {"known": …, "new": …, "language": "ko"}.

What stands under "translation", as in the data sets of the hub, is read as if it stood alone.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groundling.corpus.formats.text_lines import numbered_lines
from groundling.corpus.pairs.row import Row, Wanted


def read(path: Path, wanted: Wanted) -> Iterator[Row]:
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:  # also a number of thousands of digits, a million brackets
            yield Row(number, {}, f"broken JSON ({error})")
        else:
            yield row_of(number, value)


def row_of(place: int, value: Any) -> Row:
    """What a JSON object, or a row of Parquet, says; fields that are null are not there."""
    inner = value.get("translation") if isinstance(value, dict) else None
    said = inner if isinstance(inner, dict) else value
    if not isinstance(said, dict):
        return Row(place, {}, 'not a JSON object such as {"en": "a dog", "ko": "개"}')
    fields = {str(name): text for name, text in said.items() if text is not None}
    for name, text in fields.items():
        if not isinstance(text, str):
            return Row(place, {}, f'"{name[:40]}" must be text, not {type(text).__name__}')
    return Row(place, fields)
