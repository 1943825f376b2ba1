from pathlib import Path

import pytest

from groundling.errors import UserError
from groundling.files import atomic_path, read_json, write_json


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    write_json(path, {"a": 1})
    with pytest.raises(RuntimeError), atomic_path(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert read_json(path) == {"a": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["value.json"]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    path.write_text("{")
    with pytest.raises(UserError, match=r"value\.json: not valid JSON"):
        read_json(path)
    with pytest.raises(UserError, match="no such file"):
        read_json(tmp_path / "other.json")
