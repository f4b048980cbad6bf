"""The command ``shoal``: its sub-commands, exit codes, and errors in one line.

Exit codes: 0 done and verified, 2 bad input, 3 infeasible, unsafe or a gate failed, 130 interrupted.
"""

import errno
import json
import os
import sys
from functools import cache
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from shoal._version import __version__
from shoal.cli import options
from shoal.cli.checked import check_numbers
from shoal.cli.interrupts import interrupts
from shoal.cli.output import harmless
from shoal.errors import Infeasible, InputError, as_option, spelled
from shoal.operations import OPERATIONS

# Commands that are no operations, each a module of this package.
_OTHERS = ("plan", "release", "verify", "diff", "sweep", "generate", "study", "serve", "demo")
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class _Commands(TyperGroup):
    """All commands, each loaded when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*OPERATIONS, *_OTHERS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _command(cmd_name) or super().get_command(ctx, cmd_name)


@cache
def _command(name: str) -> Any:
    """A command by its name, made once: to make one takes longer than many a command runs."""
    if name in OPERATIONS:
        from shoal.cli.operation import command

        return command(OPERATIONS[name])
    if name in _OTHERS:
        alone = typer.Typer(rich_markup_mode=None, context_settings=options.CONTEXT)
        import_module(f"shoal.cli.{name}").register(alone)
        check_numbers(alone)
        return typer.main.get_group(alone).commands[name]
    return None


app = typer.Typer(
    name="shoal",
    cls=_Commands,
    help="Turn confidential records, tables and appointment plans into something that can be published, "
    "and prove how well it was done.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=options.CONTEXT,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"shoal {__version__}")
        raise typer.Exit


@app.callback()
def shoal(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Everything Shoal does from the command line; each sub-command has --help with an example."""


@cache
def _program() -> Any:
    return typer.main.get_command(app)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command and leave with the right exit code; no traceback ever reaches a user."""
    given = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in given
    interrupts.reset()
    before = _written()
    try:
        result = _program().main(args=given, prog_name="shoal", standalone_mode=False)
        code = result if isinstance(result, int) else 0
        sys.stdout.flush()
        # A search that was asked to stop ends well; what asked for it is told by the exit code.
        code = 130 if interrupts.asked and code == 0 else code
        if code == 130 and not interrupts.said:  # the command-line library keeps the exception to itself
            code = _interrupted(before, as_json)
    except typer.Exit as done:
        code = done.exit_code
    except (KeyboardInterrupt, typer.Abort):
        code = _interrupted(before, as_json)
    except InputError as error:
        # Where nothing is kept, what comes after an interruption comes of it.
        lost = interrupts.asked and not interrupts.said
        code = (
            _interrupted(before, as_json) if lost else _fail(spelled(error, as_option), "input", 2, as_json)
        )
    except Infeasible as error:
        code = _fail(spelled(error, as_option), "infeasible", 3, as_json)
    except BrokenPipeError:
        # The reader of a pipe went away (shoal … | head): not our error, and nobody is left to tell.
        _discard_output()
        code = 0
    except OSError as error:
        code = _disk_full(before) if error.errno in _FULL else _unexpected(error, as_json)
    except Exception as error:
        # Some libraries turn an interruption into an error of their own.
        code = _interrupted(before, as_json) if interrupts.asked else _unexpected(error, as_json)
    sys.exit(code)


def _discard_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _disk_full(before: int) -> int:
    """Standard output, or a temporary file, found no room; what it holds cannot be trusted, so the words go elsewhere."""
    _discard_output()
    rest = "the results were written before" if _written() > before else "nothing was written"
    return _fail(f"the disk is full; {rest}", "input", 2, as_json=False)


def _written() -> int:
    """How many outputs are in their places, asked only of a command that came so far as to have any."""
    outputs = sys.modules.get("shoal.sources.outputs")
    return len(outputs.written()) if outputs is not None else 0


def _interrupted(before: int, as_json: bool) -> int:
    finished = _written() > before
    text = "interrupted after the results were written" if finished else "interrupted; nothing was written"
    # One JSON object is all that standard output may hold.
    return _fail(text, "interrupt", 130, as_json and not interrupts.told)


def _unexpected(error: Exception, as_json: bool) -> int:
    if hasattr(error, "format_message"):  # a usage error of the command-line library
        return _fail(str(error.format_message()).replace("\n", " "), "input", 2, as_json)
    if os.environ.get("SHOAL_DEBUG"):
        raise error
    # A name the system refuses: too long, a loop of links.
    if isinstance(error, OSError) and error.filename is not None:
        return _fail(f"'{error.filename}' cannot be used: {error.strerror}", "input", 2, as_json)
    if isinstance(error, MemoryError):
        return _fail("not enough memory for this much data", "internal", 1, as_json)
    # The message of an unexpected error may quote data, so only its kind is shown.
    text = f"internal error ({type(error).__name__}); run again with SHOAL_DEBUG=1 to see where, and please report it"
    return _fail(text, "internal", 1, as_json)


def _fail(text: str, kind: str, code: int, as_json: bool) -> int:
    line = " ".join(text.split())
    if as_json:
        sys.stdout.write(json.dumps({"error": line, "kind": kind}, ensure_ascii=False) + "\n")
    else:
        sys.stderr.write(f"shoal: {harmless(line)}\n")
    return code


if __name__ == "__main__":
    main()
