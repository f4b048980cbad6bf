"""Shares as they are typed: 0.05 or 5%. Where too much would look safe, more than the whole is written in percent alone."""

import re

from shoal.errors import InputError

_FORM = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(%?)\s*")


# Who types 5 here nearly always means 5 percent, and figures that may change five times over bound nothing.
_IN_PERCENT = frozenset({"--change"})


def read_share(option: str, text: str) -> float:
    """The share that a text says.

    >>> read_share("--change", "5%"), read_share("--change", "0.05"), read_share("--change", "500%")
    (0.05, 0.05, 5.0)
    >>> read_share("--change", "5")
    Traceback (most recent call last):
        ...
    shoal.errors.InputError: --change is a share: write 5% (or 0.05) for 5 percent, and 500% if 5 times as much is meant
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise InputError(f"{option} must be a number or percent (0.05 or 5%), not '{text[:60]}'")
    value = float(found[1])
    if found[2]:
        # As the decimals say it: 7 / 100 and not 7 * 0.01.
        return value / 100.0
    if value > 1.0 and option in _IN_PERCENT:
        raise InputError(
            f"{option} is a share: write {value:g}% (or {value / 100.0:g}) for {value:g} percent, and {100.0 * value:g}% if "
            f"{value:g} times as much is meant"
        )
    return value
