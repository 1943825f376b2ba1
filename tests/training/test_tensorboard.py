from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from groundling.training.tensorboard import EventFile, masked_checksum


def test_checksum_of_the_standard_example() -> None:
    crc = 0xE3069283  # CRC-32C of "123456789"
    assert masked_checksum(b"123456789") == (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def test_tensorboard_reads_what_we_write(tmp_path: Path) -> None:
    board = EventFile(tmp_path)
    for step in (1, 200, 100_000):
        board.scalar("loss", 1 / step, step)
        board.scalar("languages/größe", step, step)
    board.close()
    read = EventAccumulator(str(tmp_path)).Reload()
    loss = read.Scalars("loss")
    assert [event.step for event in loss] == [1, 200, 100_000]
    assert [event.value for event in loss] == pytest.approx([1, 1 / 200, 1e-5])
    assert [event.value for event in read.Scalars("languages/größe")] == [1, 200, 100_000]
