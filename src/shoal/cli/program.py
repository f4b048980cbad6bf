"""All commands as Typer has them: for help, completion, what is said wrongly, and the commands that are no operations."""

from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from shoal._version import __version__
from shoal.cli import options
from shoal.cli.checked import check_numbers
from shoal.cli.leaving import Leave
from shoal.errors import unknown
from shoal.operations import OPERATIONS

# Commands that are no operations, each a module of this package.
_OTHERS = ("plan", "release", "verify", "diff", "sweep", "generate", "study", "serve", "demo")


class _Commands(TyperGroup):
    """All commands, each loaded when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*OPERATIONS, *_OTHERS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _command(cmd_name) or super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if not ctx.resilient_parsing and not args[0].startswith("-") and _command(args[0]) is None:
            raise unknown("command", args[0], self.list_commands(ctx), where="a command")
        return super().resolve_command(ctx, args)


@cache
def _command(name: str) -> Any:
    """A command by its name, made once: to make one takes longer than many a command runs."""
    if name in OPERATIONS:
        from shoal.cli.typer_command import command

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


def run(arguments: list[str]) -> object:
    """Run the command that was typed; its exit code, if it is a number."""
    try:
        return _program().main(args=arguments, prog_name="shoal", standalone_mode=False)
    except typer.Exit as done:
        raise Leave(done.exit_code) from None
    except typer.Abort:
        raise KeyboardInterrupt from None
