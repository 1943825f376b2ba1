"""The command line: `groundling COMMAND`. Each command is a file; what it needs is imported when it runs."""

import os
import re
import signal
import sys
import threading
from collections.abc import Sequence
from typing import NoReturn

TIMED_OUT, STOPPED, TERMINATED = 124, 130, 143  # as shells, and `timeout`, count


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command; a user's mistake is one sentence on standard error and exit code 2, never a traceback."""
    # Gradients of word tables are large and made anew at each step: huge pages save a quarter of a step on a CPU.
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
    import typer

    from groundling.cli.app import app
    from groundling.errors import UserError
    from groundling.files import disk_problem

    stop_when_asked()
    try:
        code = app(args=arguments, standalone_mode=False, prog_name="groundling")
    except UserError as error:
        _fail(with_addresses(str(error), arguments or sys.argv[1:]))
    except (typer.Abort, KeyboardInterrupt):
        print("groundling: stopped", file=sys.stderr)
        sys.exit(STOPPED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        sentence = disk_problem(error)
        if sentence is not None:
            _fail(sentence)
        # typer carries a click of its own in some releases, so its errors are known by what they can do.
        if not hasattr(error, "format_message"):
            raise
        _usage(error)
    if code == STOPPED:  # newer typers turn control-C into a code, and say nothing
        print("groundling: stopped", file=sys.stderr)
    sys.exit(code if isinstance(code, int) else 0)


def with_addresses(sentence: str, arguments: Sequence[str]) -> str:
    """A path makes "http:/host" of an address that was given where a file is needed; told is what was given."""
    for argument in arguments:
        if "://" in argument:
            sentence = sentence.replace(os.path.normpath(argument), argument)
    return sentence


def stop_when_asked() -> None:
    """A program that is told to end tidies up first: no half-written files are left, however large."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))


def _usage(error: Exception) -> NoReturn:
    context, sentence = getattr(error, "ctx", None), " ".join(error.format_message().split())  # type: ignore[attr-defined]
    if type(error).__name__ == "NoArgsIsHelpError":  # a group without a command: its help is the answer
        print(context.get_help() if context else sentence, file=sys.stderr)
        sys.exit(2)
    typed = re.fullmatch(r"No such command '(.*?)'\.?(?: Did you mean (.*?)\?)?", sentence)
    if typed:
        near = f" (did you mean {typed[2].replace(chr(39), chr(34))}?)" if typed[2] else ""
        sentence = f'no such command "{typed[1]}"{near}'
    _fail(sentence.rstrip(".") + (f"; see `{context.command_path} --help`" if context else ""))


def _fail(sentence: str) -> NoReturn:
    from groundling.printable import printable

    print(f"groundling: {printable(sentence)}", file=sys.stderr)
    sys.exit(2)
