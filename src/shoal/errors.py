"""The errors a user meets: one type for wrong input, one for what cannot be done.

One rule holds for all that Shoal says on the way: errors, warnings, notes, progress, logs, answers of the REST interface
and the names of runs and parts. They may name columns, options, files, tables of a database, counts, shapes and types,
and say where something is: a record, a line, a row, the number of a cell or of a stratum. They never show a value of the
data, nor a category or a label made of values, nor a figure from which one follows; whoever may see the data finds it by
its number. What other libraries say may quote data, so their words are not passed on. Values stand only in the outputs
that were asked for.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class ShoalError(Exception):
    """Base of every error Shoal raises on purpose."""


class InputError(ShoalError, ValueError):
    """The input cannot be used; the message says what to change. Raised before any work starts."""


class Infeasible(ShoalError):
    """The input is fine, but no solution exists; the message says what is missing."""


def first_record(places: Iterable[int]) -> str:
    """Where to look, in place of the value at fault: how many records there are, and which is the first.

    >>> first_record([6, 2, 8]), first_record([4])
    ('3 records (the first is record 3)', 'record 5')
    """
    numbers = sorted(int(place) + 1 for place in places)
    if len(numbers) == 1:
        return f"record {numbers[0]}"
    return f"{len(numbers):,} records (the first is record {numbers[0]})"


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
