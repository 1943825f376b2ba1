"""Help without waiting, exit codes, and how a command ends that does not end well."""

import os
import subprocess

import commands
import pytest
from commands import Said, assert_one_sentence, call, child

import groundling
from groundling.cli import main
from groundling.corpus import catalogue

own_ground = commands.own_ground  # each test in a folder of its own


HEAVY = ["torch", "transformers", "pyarrow", "PIL", "numpy"]
WHAT_HELP_IMPORTS = f"""
import sys
from groundling.cli import main
try:
    main(sys.argv[1:])
except SystemExit as stop:
    code = stop.code
print([name for name in {HEAVY} if name in sys.modules], code, file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"], ["corpus", "build", "--help"], ["--version"]])
def test_help_does_not_wait_for_what_it_does_not_need(arguments: list[str]) -> None:
    said = child(WHAT_HELP_IMPORTS, *arguments, capture_output=True)
    assert said.stderr == "[] 0\n"
    assert said.stdout.strip()


def test_help_names_every_command_and_a_group_without_one_shows_its_help() -> None:
    said = call("--help")
    for command in ("demo", "corpus", "features", "train", "evaluate", "reproduce", "recipes"):
        assert f"\n  {command} " in said.out
    assert call("--version").out == f"groundling {groundling.__version__}\n"
    for group in ([], ["corpus"]):
        said = call(*group)
        assert said.code == 2
        assert "Usage: groundling" in said.err


def test_an_exit_code_and_a_sentence_reach_the_shell() -> None:
    said = child("from groundling.cli import main; main()", "train", "nope", capture_output=True)
    assert_one_sentence(Said(said.returncode, said.stdout, said.stderr), 'no recipe is called "nope"')


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_leaves_early_gets_no_traceback(options: list[str]) -> None:
    """`groundling corpus list | head -0`"""
    reader, writer = os.pipe()
    os.close(reader)
    said = child(
        "from groundling.cli import main; main()", "corpus", "list", *options, stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)
    assert said.stderr == ""


def test_control_c_stops_with_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(catalogue, "names", interrupted)
    assert call("corpus", "list") == (130, "", "groundling: stopped\n")


def test_a_mistake_of_ours_is_not_passed_off_as_the_user_s(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(catalogue, "names", broken)
    with pytest.raises(ZeroDivisionError):
        main(["corpus", "list"])
