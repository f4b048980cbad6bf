"""The errors a user meets: one type for wrong input, one for what cannot be done."""

from collections.abc import Iterable
from difflib import get_close_matches


class ShoalError(Exception):
    """Base of every error Shoal raises on purpose."""


class InputError(ShoalError, ValueError):
    """The input cannot be used; the message says what to change. Raised before any work starts."""


class Infeasible(ShoalError):
    """The input is fine, but no solution exists; the message says what is missing."""


def unknown(kind: str, name: str, known: Iterable[str], *, where: str = "") -> InputError:
    """An error for a name that does not exist, with the closest one that does.

    >>> print(unknown("column", "agee", ["age", "sex"], where="in the data"))
    column 'agee' is not in the data; did you mean 'age'?
    """
    names = [str(item) for item in known]
    close = get_close_matches(name, names, n=1, cutoff=0.5) or [
        item for item in names if item.lower() == name.lower()
    ]
    place = f"not {where}" if where else "unknown"
    if close:
        return InputError(f"{kind} '{name}' is {place}; did you mean '{close[0]}'?")
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return InputError(f"{kind} '{name}' is {place}; there are: {shown or 'none'}")
