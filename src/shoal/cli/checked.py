"""Commands whose numbers are checked before anything else happens, in this one place for every option there is."""

import gc
from collections import Counter
from typing import Any

import typer
from typer.core import TyperCommand

from shoal.errors import InputError

#: Where a command finds the arguments it was given.
TYPED = "shoal.typed"

# Options where infinity has a meaning: a bound that is not there.
_MAY_BE_INFINITE = frozenset({"low", "high"})


class CheckedCommand(TyperCommand):
    """A command that refuses numbers nobody can compute with."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep what was typed, for the report."""
        ctx.meta[TYPED] = list(args)
        if not ctx.resilient_parsing:
            self._refuse_repeats(ctx, args)
        return super().parse_args(ctx, args)

    def _refuse_repeats(self, ctx: Any, args: list[str]) -> None:
        """Refuse options that are given several times and would count only once: nobody would see which."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        if any(parameter.name == "help" for parameter in given):
            return
        several: Counter[Any] = Counter(
            parameter for parameter in given if parameter.param_type_name == "option"
        )
        for parameter, times in several.items():
            if times > 1 and not (parameter.multiple or parameter.is_flag or parameter.count):
                option = max(parameter.opts, key=len)
                raise InputError(
                    f"{option} is given {'twice' if times == 2 else f'{times} times'}; give it once"
                )

    def invoke(self, ctx: Any) -> Any:
        """Check all numbers that were given, then run."""
        for parameter in self.params:
            value = ctx.params.get(parameter.name)
            for item in value if isinstance(value, list | tuple) else (value,):
                _check(parameter, item)
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The options by section: those of the command itself first, then what all commands have."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                panel = getattr(parameter, "rich_help_panel", None)
                section = "Arguments" if parameter.param_type_name == "argument" else panel or "Options"
                sections.setdefault(section, []).append(record)
        for section, records in sections.items():
            with formatter.section(section):
                formatter.write_dl(records)


def _check(parameter: Any, value: Any) -> None:
    from shoal.numbers import LARGEST_WHOLE, number, whole

    option = max(parameter.opts, key=len)
    if isinstance(value, float):
        number(value, option, infinite=parameter.name in _MAY_BE_INFINITE)
    elif isinstance(value, int) and not isinstance(value, bool):
        whole(value, option, least=-LARGEST_WHOLE)


def check_numbers(app: typer.Typer) -> None:
    """Make every command of the application a checked one."""
    for command in app.registered_commands:
        command.cls = CheckedCommand
    for group in app.registered_groups:
        if group.typer_instance is not None:
            check_numbers(group.typer_instance)
