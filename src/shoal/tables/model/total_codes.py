"""Totals among the rows of a file: which code of a dimension stands for all others."""

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.errors import InputError, first_record, parameter

# What offices call the total of a dimension, without regard to case; "Total_EAST" is one as well.
_WORDS = frozenset({"total", "totals", "tot", "_t", "_total", "all", "insgesamt", "ensemble", "totaal"})
# Codes that are often ordinary ones: section T of an activity, say.
_DOUBTFUL = frozenset({"t"})


def looks_like_total(code: str) -> bool:
    """Whether a code is called what totals are called.

    >>> [looks_like_total(code) for code in ("Total", "_T", "Total_EAST", "T", "tr1")]
    [True, True, True, False, False]
    """
    word = code.strip().lower()
    return word in _WORDS or word.startswith("total")


def named_totals(
    total: "str | Sequence[str] | Mapping[str, str]", dimensions: Sequence[str]
) -> dict[str, str]:
    """The code of the total by dimension, as somebody names it: for all of them, or as ``DIMENSION=CODE``.

    >>> named_totals(["T", "SIZE=ALL"], ["ACTIVITY", "SIZE"])
    {'ACTIVITY': 'T', 'SIZE': 'ALL'}
    """
    if isinstance(total, Mapping):
        for name in total:
            if name not in dimensions:
                raise InputError(f"{parameter('total')} names a dimension that the table does not have")
        return {str(name): str(code).strip() for name, code in total.items()}
    single: dict[str, str] = {}
    common: str | None = None
    for text in [total] if isinstance(total, str) else total:
        name, equals, code = text.partition("=")
        if equals and name.strip() in dimensions:
            single[name.strip()] = code.strip()
        elif common is not None:
            raise InputError(f"{parameter('total')} names two codes for all dimensions; write DIMENSION=CODE")
        else:
            common = text.strip()
    return {name: single.get(name, common) for name in dimensions if single.get(name, common) is not None}  # type: ignore[misc]


def total_of(name: str, codes: Sequence[str]) -> str | None:
    """The one code of a dimension that is called what totals are called; ``None`` if there is none."""
    found = sorted({code for code in codes if looks_like_total(code)})
    exact = [code for code in found if code.strip().lower() in _WORDS]
    if len(found) > 1 and len(exact) == 1:
        return exact[0]
    if len(found) > 1:
        raise InputError(
            f"dimension '{name}' has {len(found)} codes that are called totals; name the right one with "
            f"{parameter('total')} {name}=CODE"
        )
    return found[0] if found else None


def recognised(texts: Mapping[str, Sequence[str]], values: np.ndarray | None) -> tuple[dict[str, str], bool]:
    """The totals in the rows of a file by dimension, and whether the rows are the cells of a table.

    They are if every dimension has its total and no combination of codes comes twice. A code that is an ordinary one as
    often as not, such as T, is a total only if no other row of its slice has a larger figure.
    """
    names = list(texts)
    rows = list(zip(*texts.values(), strict=True))
    unique = len(set(rows)) == len(rows)
    found = {name: code for name in names if (code := total_of(name, texts[name])) is not None}
    if not unique:
        if values is not None:
            found |= _not_named(found, sums_of_others(rows, names, values))
        return found, False
    for place, name in enumerate(names):
        if name not in found and values is not None:
            code = _largest_in_slices(rows, place, values)
            if code is not None:
                found[name] = code
    if len(found) < len(names) and values is not None:
        return found | _not_named(found, sums_of_others(rows, names, values)), False
    return found, len(found) == len(names)


def _not_named(named: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    return {name: code for name, code in more.items() if name not in named}


def sums_of_others(
    rows: Sequence[tuple[str, ...]], names: Sequence[str], values: np.ndarray
) -> dict[str, str]:
    """Codes that are the sum of all others of their dimension in every slice, whatever they are called.

    Two codes alike, or a single slice, say nothing.

    >>> rows = [(a, b) for a in "xy" for b in ("p", "q", "r", "0")]
    >>> sums_of_others(rows, ["a", "b"], np.array([1.0, 2.0, 3.0, 6.0, 4.0, 5.0, 6.0, 15.0]))
    {'b': '0'}
    """
    found = {}
    for place, name in enumerate(names):
        slices: dict[tuple[str, ...], dict[str, float]] = {}
        for row, value in zip(rows, values.tolist(), strict=True):
            own = slices.setdefault(row[:place] + row[place + 1 :], {})
            own[row[place]] = own.get(row[place], 0.0) + value
        telling = [own for own in slices.values() if sum(value != 0 for value in own.values()) > 2]
        if len(telling) < 2:
            continue
        top = max(telling[0], key=lambda code, own=telling[0]: abs(own[code]))  # type: ignore[misc]
        if all(_is_sum(own, top) for own in slices.values()):
            found[name] = top
    return found


def _is_sum(own: Mapping[str, float], code: str) -> bool:
    size = sum(abs(value) for value in own.values())
    return abs(2.0 * own.get(code, 0.0) - sum(own.values())) <= 1e-9 * size


def _largest_in_slices(rows: Sequence[tuple[str, ...]], dimension: int, values: np.ndarray) -> str | None:
    doubtful = sorted({row[dimension] for row in rows if row[dimension].strip().lower() in _DOUBTFUL})
    if len(doubtful) != 1:
        return None
    most: dict[tuple[str, ...], float] = {}
    own: dict[tuple[str, ...], float] = {}
    for row, value in zip(rows, values.tolist(), strict=True):
        others = row[:dimension] + row[dimension + 1 :]
        if row[dimension] == doubtful[0]:
            own[others] = value
        else:
            most[others] = max(most.get(others, -np.inf), value)
    beaten = any(own.get(others, -np.inf) < value for others, value in most.items())
    return None if beaten or not most else doubtful[0]


def refuse_totals(texts: Mapping[str, Sequence[str]], totals: Mapping[str, str]) -> None:
    """Raise ``InputError`` if there are totals among records, which would be counted twice."""
    for name, code in totals.items():
        places = [place for place, text in enumerate(texts[name]) if text == code]
        if places:
            raise InputError(
                f"dimension '{name}' has a total among its records: see {first_record(places)}; say with "
                f"{parameter('source', 'aggregated')} that the rows are cells of a table, or with "
                f"{parameter('source', 'records')} that it is a code like any other"
            )
