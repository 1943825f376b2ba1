"""The command line: `groundling COMMAND`. Each command is a file; what it needs is imported when it runs."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; a user's mistake is one sentence on standard error and exit code 2, never a traceback."""
    import click

    from groundling.cli.app import app
    from groundling.errors import UserError

    try:
        code = app(args=arguments, standalone_mode=False, prog_name="groundling")
    except UserError as error:
        _fail(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        where = f"; see `{error.ctx.command_path} --help`" if getattr(error, "ctx", None) else ""  # type: ignore[attr-defined]
        _fail(" ".join(error.format_message().split()).rstrip(".") + where)
    except (click.Abort, KeyboardInterrupt):
        print("groundling: stopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(sentence: str) -> None:
    print(f"groundling: {sentence}", file=sys.stderr)
    sys.exit(2)
