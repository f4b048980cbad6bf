"""What measures and attacks need of the columns: whoever asks for one by name is told if it cannot be had."""

from collections.abc import Sequence

from shoal.errors import InputError, parameter

# The least number of columns of numbers, of categories, and of both together.
_NEEDS = {
    "rank-windows": (1, 0, 1),
    "mahalanobis": (1, 0, 1),
    "mixed-linkage": (0, 1, 1),
    "likelihood": (0, 1, 1),
    "attribute-inference": (0, 0, 2),
    "membership": (0, 0, 1),
    "pmse": (0, 0, 1),
    "marginals": (0, 0, 1),
    "coefficients": (1, 0, 2),
    "eigenvalues": (2, 0, 2),
    "classification": (0, 0, 2),
}


def refuse_what_cannot_be(
    named: Sequence[str] | None, *, numbers: int, categories: int, unknown: int = 0
) -> None:
    """Refuse a measure or attack that was named and has not the columns it needs; ``unknown`` ones can be inferred alone.

    >>> refuse_what_cannot_be(["mixed-linkage"], numbers=3, categories=0)
    Traceback (most recent call last):
        ...
    shoal.errors.InputError: 'mixed-linkage' needs a column of categories among those compared
    """
    for name in named or ():
        of_numbers, of_categories, of_all = _NEEDS.get(name, (0, 0, 0))
        if numbers < of_numbers:
            what = "a column of numbers" if of_numbers == 1 else f"{of_numbers} columns of numbers"
        elif categories < of_categories:
            what = "a column of categories"
        elif numbers + categories + unknown < of_all:
            what = f"{of_all} columns"
        else:
            continue
        raise InputError(f"'{name}' needs {what} among those compared")


def possible(names: Sequence[str], *, numbers: int, categories: int, unknown: int = 0) -> tuple[str, ...]:
    """Those measures or attacks that have the columns they need.

    >>> possible(["mixed-linkage", "membership"], numbers=3, categories=0)
    ('membership',)
    """
    found = []
    for name in names:
        of_numbers, of_categories, of_all = _NEEDS.get(name, (0, 0, 0))
        enough = numbers + categories + unknown >= of_all
        if numbers >= of_numbers and categories >= of_categories and enough:
            found.append(name)
    return tuple(found)


def refuse_too_wide_tables(ways: int, columns: int) -> None:
    """Refuse tables of more columns than there are, where that was asked for.

    >>> refuse_too_wide_tables(2, 1)
    """
    if ways > 2 and ways > columns:
        raise InputError(
            f"there are {columns} columns to compare, too few for tables of {ways}; lower {parameter('ways')}"
        )
