"""Columns as the terms of a model: numbers, indicators of categories, and products of two columns."""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from shoal.microdata.measures.mixed import MixedTables

# Indicators for at most so many categories of a column; rarer ones are taken together.
CATEGORIES = 10


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of both tables, without the constant, and the columns (by number) each is made of."""

    before: np.ndarray = field(repr=False)
    after: np.ndarray = field(repr=False)
    of: tuple[tuple[int, ...], ...]


def main_terms(tables: MixedTables, *, categories: int = CATEGORIES) -> Terms:
    """Numbers, standardised, and indicators of all but the most frequent category of each other column.

    >>> main_terms(MixedTables.of_numbers(np.array([[1.0], [3.0]]), np.array([[2.0], [2.0]]))).of
    ((0,),)
    """
    before, after = tables.standardised()
    parts, of = [(before, after)], [(place,) for place in range(before.shape[1])]
    for place, pair in enumerate(tables.categories, before.shape[1]):
        joined = np.concatenate([pair.aligned, pair.after])
        codes, counts = np.unique(joined, return_counts=True)
        # Frequent ones first, and of equal ones that with the smaller code.
        ordered = codes[np.lexsort((codes, -counts))]
        shown = [ordered[place : place + 1] for place in range(1, min(categories, ordered.size))]
        if ordered.size > categories:
            shown.append(ordered[categories:])
        parts += [(_indicator(pair.aligned, term), _indicator(pair.after, term)) for term in shown]
        of += [(place,)] * len(shown)
    first, second = (np.hstack([part[side] for part in parts]) for side in (0, 1))
    return Terms(first, second, tuple(of))


def _indicator(column: np.ndarray, codes: np.ndarray) -> np.ndarray:
    return np.isin(column, codes)[:, None].astype(np.float64)


def with_products(terms: Terms) -> Terms:
    """The terms and the products of every two that are of different columns.

    >>> table = np.arange(6.0).reshape(2, 3)
    >>> with_products(Terms(table, table, ((0,), (1,), (1,)))).of
    ((0,), (1,), (1,), (0, 1), (0, 1))
    """
    pairs = [(i, j) for i, j in combinations(range(len(terms.of)), 2) if terms.of[i] != terms.of[j]]
    first, second = [i for i, _ in pairs], [j for _, j in pairs]
    before, after = (
        np.hstack([table, table[:, first] * table[:, second]]) for table in (terms.before, terms.after)
    )
    return Terms(before, after, (*terms.of, *(terms.of[i] + terms.of[j] for i, j in pairs)))


def products_of(terms: Terms) -> int:
    """How many terms there are with the products."""
    return len(terms.of) + sum(1 for one, two in combinations(terms.of, 2) if one != two)
