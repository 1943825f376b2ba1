"""Files that are whole or not there, folders with one writer, and what killed processes leave behind."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import groundling
from groundling import checksums
from groundling.errors import UserError
from groundling.files import (
    atomic_path,
    check_checksum,
    new_folder,
    only_writer,
    read_json,
    remove_leftovers,
    with_checksum,
    write_json,
)


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


WRITES_FOR_EVER = """
import sys, time
from pathlib import Path
from groundling.files import atomic_path, new_folder, only_writer
folder = Path(sys.argv[1])
with only_writer(folder / "held"), atomic_path(folder / "held" / "value") as one, atomic_path(folder / "out") as two:
    with new_folder(folder / "exported") as place:
        for path in (one, two, place / "graph"):
            path.write_text("half of it")
        print("writing", flush=True)
        time.sleep(60)
"""


@pytest.fixture
def writer(tmp_path: Path) -> "subprocess.Popen[str]":
    """Another process that holds `held`, and writes there, to `out` and to `exported`."""
    environment = {**os.environ, "PYTHONPATH": str(Path(groundling.__file__).parent.parent)}
    command = [sys.executable, "-c", WRITES_FOR_EVER, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    return process


def parts(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.name.endswith(".part")]


def test_one_writer_to_a_folder_and_what_a_killed_one_left_is_removed(
    writer: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    assert len(parts(tmp_path)) == 3
    with pytest.raises(UserError, match="held: is being written by another process"), only_writer(tmp_path / "held"):
        pass
    remove_leftovers(tmp_path)
    assert len(parts(tmp_path)) == 3  # it lives, and so does what it writes
    writer.kill()
    writer.wait()
    with only_writer(tmp_path / "held"):
        assert parts(tmp_path / "held") == []
    assert len(parts(tmp_path)) == 2
    with new_folder(tmp_path / "exported") as place:
        (place / "graph").write_text("whole")
    assert (tmp_path / "exported" / "graph").read_text() == "whole"
    remove_leftovers(tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["exported", "graph", "held"]


def test_two_writers_in_one_process_are_two(tmp_path: Path) -> None:
    refused: list[str] = []

    def other() -> None:
        try:
            with only_writer(tmp_path):
                pass
        except UserError as error:
            refused.append(str(error))

    with only_writer(tmp_path):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        with pytest.raises(UserError, match="another process"), only_writer(tmp_path):
            pass
    assert len(refused) == 1
    with only_writer(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def no_room(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def read_only(*_: object) -> None:
    raise OSError(errno.EROFS, "Read-only file system")


def short_write(*_: object) -> None:
    raise OSError("1000 requested and 12 written")


@pytest.mark.parametrize(
    ("fails", "words"), [(no_room, "no room is left"), (short_write, "no room"), (read_only, "may not be written to")]
)
def test_a_full_disk_and_one_that_cannot_be_written_are_one_sentence(
    tmp_path: Path, fails: object, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match=words) as said, atomic_path(tmp_path / "file"):
        fails()  # type: ignore[operator]
    assert str(tmp_path) in str(said.value)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UserError, match=words), new_folder(tmp_path / "folder"):
        fails()  # type: ignore[operator]
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("groundling.files._held_file", fails)
    with pytest.raises(UserError, match=words):
        write_json(tmp_path / "value.json", 1)


def test_a_real_limit_of_the_system_is_one_sentence(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk: libraries meet it as they meet that."""
    script = f"""
import resource, sys
from pathlib import Path
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
from safetensors.numpy import save_file
from groundling.errors import UserError
from groundling.files import atomic_path
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
array = np.random.default_rng(0).standard_normal(100_000)
def numpy(path):
    with path.open("wb") as file:
        np.save(file, array)
for write in (
    lambda path: path.write_bytes(bytes(100_000)), numpy,
    lambda path: save_file({{"a": array}}, path),
    lambda path: pq.write_table(pa.table({{"a": array}}), path),
):
    try:
        with atomic_path(Path({str(tmp_path)!r}) / "file") as temporary:
            write(temporary)
    except UserError as error:
        print(error)
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(groundling.__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("no room is left") == 4, done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_vouches_for_others_vouches_for_itself(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    value = {"name": "Tür", "count": 3, "share": 0.1, "list": [1, None, {"x": True}]}
    write_json(path, with_checksum(value))
    assert check_checksum(read_json(path), path) == value
    assert check_checksum(value, path) == value  # from before there were checksums
    for changed in ({**value, "count": 4}, {**value, "more": 1}, {"name": "Tür"}):
        write_json(path, {**changed, "checksum": with_checksum(value)["checksum"]})
        with pytest.raises(UserError, match=r"card\.json: damaged"):
            check_checksum(read_json(path), path)


def test_checksums_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "run"
    folder.mkdir()
    weights, words, result = folder / "weights", folder / "words.json", folder / "result.json"
    weights.write_bytes(np.random.default_rng(0).bytes(checksums.LARGE + 10))
    words.write_text("[]")
    checksums.seal(folder, [weights, words])
    result.write_text("1")
    checksums.seal(folder, [result])
    for file in (weights, words, result, folder / "new"):
        assert checksums.verify(folder, file) == file

    read: list[Path] = []
    monkeypatch.setattr(checksums, "sha256", lambda path: read.append(path) or "")
    checksums.verify(folder, weights)
    assert read == []  # large, and not touched since it was compared
    monkeypatch.undo()
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))

    for file in (weights, words):
        whole = file.read_bytes()
        file.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
        with pytest.raises(UserError, match=rf"{file.name}: damaged \(not the file that checksums.json describes"):
            checksums.verify(folder, file)
    sealed = (folder / "checksums.json").read_text()
    (folder / "checksums.json").write_text(sealed.replace("words.json", "worms.json"))
    with pytest.raises(UserError, match=r"checksums\.json: damaged"):
        checksums.verify(folder, words)
