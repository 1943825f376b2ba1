"""What commands print where no terminal reads it."""

import pytest

from groundling.cli.output import print_table
from groundling.report.formatted_table import Column, Table


def test_a_pipe_gets_every_number_of_a_wide_table(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"a row with a long name, number {number}" for number in range(12)]
    columns = [Column("language", text=True), *(Column(name) for name in names)]
    print_table(Table("", columns, [["English (en)", *(float(number) for number in range(12))]]))
    heading, _, row = capsys.readouterr().out.splitlines()
    assert all(name in heading for name in names)
    assert row.split() == ["English", "(en)", *(f"{number}.0" for number in range(12))]
