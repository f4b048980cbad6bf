"""The command of an operation, made for Typer from its declaration."""

import inspect
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from shoal.cli import options
from shoal.cli.checked import TYPED, CheckedCommand
from shoal.cli.leaving import Leave
from shoal.cli.operation import Run, parameter_of, spelled_option
from shoal.errors import spelled
from shoal.operation import Operation, Product
from shoal.settings import SHARE, SettingField

#: The section of help with what is written.
FILES = "Files"
_COMMON: dict[str, tuple[Any, Any]] = {
    "report": (options.Report, None),
    "separator": (options.Separator, None),
    "decimal": (options.Decimal, None),
    "encoding": (options.Encoding, None),
    "header_row": (options.HeaderRow, None),
    "safe_csv": (options.SafeCsv, False),
    "force": (options.Force, False),
    "quiet": (options.Quiet, False),
    "json": (options.Json, False),
}


def command(operation: Operation) -> Any:
    """The command of an operation."""

    def run(context: typer.Context, **values: Any) -> None:
        said = frozenset(name for name in values if _was_typed(context, name))
        try:
            Run(operation, values, context.meta[TYPED], said).go()
        except Leave as done:
            raise typer.Exit(done.code) from None

    parameters = [
        inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
        *(_parameter(item, operation) for item in operation.fields("command")),
        *(_product(item) for item in operation.products if item.has_option),
        *(_keyword(name, kind, default) for name, (kind, default) in _shared(operation).items()),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {item.name: item.annotation for item in parameters}
    app = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=options.CONTEXT)
    app.command(operation.name, help=_help(operation), cls=CheckedCommand)(run)
    return typer.main.get_command(app)


def _shared(operation: Operation) -> dict[str, tuple[Any, Any]]:
    # A command that writes no data needs no --safe-csv.
    data = any(item.form == "data" for item in operation.products)
    return {name: about for name, about in _COMMON.items() if data or name != "safe_csv"}


def shared_options(operation: Operation) -> dict[str, Any]:
    """What its command has besides settings and products, as Typer declares it: for those who write of it."""
    return {name: get_args(kind)[1] for name, (kind, _) in _shared(operation).items()}


def _help(operation: Operation) -> str:
    examples = [f"Example: {example}" for example in operation.examples]
    told = "\n\n".join([operation.summary, operation.description, *examples])
    return spelled(told, lambda name, value: spelled_option(operation, name, value))


def _parameter(item: SettingField, operation: Operation) -> inspect.Parameter:
    kinds: dict[str, Any] = {"switch": bool, "whole": int, "number": float}
    repeated = item.spelling is not None and item.spelling.repeated
    kind = list[str] if repeated else str if item.metavar == SHARE else kinds.get(item.kind, str)
    shown: Any = item.otherwise or not (item.kind == "switch" or item.default in (None, [], {}))
    about: dict[str, Any] = {"help": item.in_command, "metavar": item.metavar, "show_default": shown}
    if item.argument:
        # Only a list of methods can do without data; that it is missing otherwise is said in the same words.
        missing = operation.methods is not None or not item.required
        default: Any = None if missing else inspect.Parameter.empty
        kind = kind | None if missing else kind
        return _keyword(item.name, Annotated[kind, typer.Argument(**about)], default)
    names = ([item.short] if item.short else []) + [item.option]
    # A list of methods can do without it; that it is missing otherwise is said when the settings are read.
    listed = item.required and operation.methods is not None
    if listed:
        about["show_default"] = "required"
    annotation = typer.Option(*names, rich_help_panel=item.section or None, **about)
    if item.kind == "switch":
        return _keyword(item.name, Annotated[bool, annotation], False)
    if item.required and not listed:
        return _keyword(item.name, Annotated[kind, annotation], inspect.Parameter.empty)
    default = item.default
    if item.metavar == SHARE:
        default = None if default is None else f"{default:g}"
    if item.spelling is not None:
        default = None if default in (None, [], {}) or repeated else item.spelling.write(default)
    return _keyword(item.name, Annotated[kind | None, annotation], default)


def _was_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _product(item: Product) -> inspect.Parameter:
    names = [item.option, *item.also, *([item.short] if item.short else [])]
    about: dict[str, Any] = {"metavar": item.metavar or None, "help": item.sentence, "show_default": False}
    # Whether a place can be used is said in one way for all outputs; what is replaced need not be readable.
    option = typer.Option(*names, rich_help_panel=FILES, readable=False, **about)
    if item.form == "columns":
        return _keyword(parameter_of(item), Annotated[bool, option], False)
    kind = str if item.form == "data" else Path
    return _keyword(parameter_of(item), Annotated[kind | None, option], None)
