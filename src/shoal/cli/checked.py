"""Commands whose numbers are checked before anything else happens, in this one place for every option there is."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand

from shoal.errors import InputError

#: Where a command finds the arguments it was given.
TYPED = "shoal.typed"

# Options where infinity has a meaning: a bound that is not there.
_MAY_BE_INFINITE = frozenset({"low", "high"})
# How the library says that a text is no number.
_NO_NUMBER = re.compile("valid (integer|float|number)")
_SHOWN = 60
_ONE_DASH = re.compile("-[a-z][a-z-]+")
# What other programs, and the words of the field, call an option.
_ELSEWHERE = {
    **dict.fromkeys(("--keys", "--key-vars", "--key-variables", "--qi", "--qis"), "--quasi"),
    **dict.fromkeys(("--weights", "--weight"), "--sample-weights"),
    **dict.fromkeys(("--out", "--out-file"), "--output"),
}


class _Typed(NamedTuple):
    """Values by the names of their parameters, and the options as often as they were typed."""

    values: dict[str, Any]
    options: Sequence[Any]

    def texts(self, parameter: Any) -> list[str]:
        value = self.values.get(parameter.name)
        return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]


class CheckedCommand(TyperCommand):
    """A command that refuses numbers nobody can compute with."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep what was typed, for the report."""
        ctx.meta[TYPED] = list(args)
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        self._refuse_slips(args)
        given = self._typed(ctx, args)
        if not any(parameter.name == "help" for parameter in given.options):
            _refuse_repeats(given)
            _refuse_signs(given)
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            raise _no_number(error, given) or error from None

    def _refuse_slips(self, args: list[str]) -> None:
        """Refuse a list with a space in it, which ends there, and a long option with one dash, which is several short ones."""
        named = {option: item for item in self.params for option in item.opts}
        lists = {option for option, item in named.items() if "," in (getattr(item, "metavar", None) or "")}
        for place, word in enumerate(args):
            option, equals, value = word.partition("=")
            if _ONE_DASH.match(option) and f"-{option}" in named:
                raise InputError(f"No such option: {option}; did you mean -{option}?")
            words = ([value] if equals else []) + args[place + 1 : place + 4]
            if option not in lists or len(words) < 2 or words[1].startswith("-"):
                continue
            if words[0].endswith(",") or words[1].startswith(","):
                whole = ",".join(
                    filter(None, (item.strip(",") for item in words[: 3 if words[1] == "," else 2]))
                )
                raise InputError(
                    f"a list ends at a space: write {option} {whole} without spaces, or in quotes"
                )

    def _typed(self, ctx: Any, args: list[str]) -> "_Typed":
        """What was typed, not yet looked at."""
        try:
            values, _, order = self.make_parser(ctx).parse_args(args=list(args))
        except Exception as error:
            # Of an option that lacks its value, or has one too many, there is nothing to suggest.
            name = getattr(error, "option_name", "") if hasattr(error, "possibilities") else ""
            close = likely(name, [option for item in self.params for option in item.opts])
            if not close:
                raise
            raise InputError(f"No such option: {name}; did you mean {' or '.join(close)}?") from None
        return _Typed(values, [item for item in order if item.param_type_name == "option"])

    def invoke(self, ctx: Any) -> Any:
        """Check all numbers that were given, then run."""
        for parameter in self.params:
            value = ctx.params.get(parameter.name)
            for item in value if isinstance(value, list | tuple) else (value,):
                _check(parameter, item)
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


def likely(name: str, known: Iterable[str]) -> list[str]:
    """The names that may be meant: those that go on as what was typed begins, or else those that look like it.

    >>> likely("--dim", ["--decimal", "--dimensions"]), likely("--tabel", ["--table", "--total"]), likely("-z", ["-k"])
    (['--dimensions'], ['--table'], [])
    """
    long = [item for item in known if item.startswith("--")]
    written = name.replace("_", "-").lower()
    if _ELSEWHERE.get(written) in long:
        return [_ELSEWHERE[written]]
    longer = [item for item in long if len(written) > len("--x") and item.startswith(written)]
    return longer[:3] or get_close_matches(written, long, n=1)


def _refuse_repeats(typed: _Typed) -> None:
    """Refuse options that are given several times and would count only once: nobody would see which."""
    for parameter, times in Counter(typed.options).items():
        if times > 1 and not (parameter.multiple or parameter.is_flag or parameter.count):
            option = max(parameter.opts, key=len)
            raise InputError(f"{option} is given {'twice' if times == 2 else f'{times} times'}; give it once")


def _refuse_signs(typed: _Typed) -> None:
    """Refuse ``-o=x.csv``, which would be a file with the name ``=x.csv``."""
    for parameter in typed.options:
        short = min(parameter.opts, key=len)
        for text in typed.texts(parameter) if not short.startswith("--") else ():
            if text.startswith("="):
                raise InputError(f"after {short} there is no '=': write {short} {text[1:] or 'VALUE'}")


def _no_number(error: Any, typed: _Typed) -> InputError | None:
    """What is wrong with a number that is none, in the words that settings have for it."""
    kind = _NO_NUMBER.search(error.message)
    texts = [] if kind is None or error.param is None else typed.texts(error.param)
    if kind is None or not texts or error.param.param_type_name != "option":
        return None
    whole = "whole " if kind[1] == "integer" else ""
    shown = f", not '{texts[0]}'" if len(texts[0]) <= _SHOWN else ""
    return InputError(f"{max(error.param.opts, key=len)} must be a {whole}number{shown}")


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
