"""The confidential columns that models look at: codes in the order of the values, shares in all data, and hierarchies."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from shoal.errors import InputError, parameter
from shoal.microdata.columns.hierarchies.hierarchy import (
    Hierarchy,
    Values,
    leaves_of,
    read_values,
    text_of,
)
from shoal.microdata.columns.hierarchies.proposal import propose_all
from shoal.microdata.columns.orders import Orders
from shoal.microdata.columns.roles import Guess
from shoal.microdata.models.model import Closeness, ConfidentialColumn, Model


def trees_needed(
    data: nw.DataFrame,
    models: Sequence[Model],
    guesses: Sequence[Guess],
    hierarchies: Mapping[str, Any],
    orders: Orders,
) -> dict[str, Hierarchy]:
    """The hierarchies of confidential columns that a distance needs."""
    names = [m.column for m in models if isinstance(m, Closeness) and m.distance == "hierarchical"]
    if not names:
        return {}
    for name in names:
        if name not in hierarchies:
            raise InputError(
                f"closeness by hierarchy needs one of column '{name}'; give it with {parameter('hierarchies')}"
            )
    found = propose_all(data, names, guesses, {name: hierarchies[name] for name in names}, orders)
    return {name: found[name].hierarchy for name in names}


def read_confidential(
    data: nw.DataFrame,
    names: Sequence[str],
    models: Sequence[Model],
    trees: Mapping[str, Hierarchy],
    orders: Orders,
    units: np.ndarray | None = None,
    counted: slice = slice(None),
) -> dict[str, tuple[np.ndarray, ConfidentialColumn]]:
    """The confidential columns as codes, with their shares in all data; ``trees`` are the hierarchies models ask for.

    Of data that are followed by a reference, shares are those of the records that are ``counted``.

    A share is one of records; with ``units``, whose records these are, a person with several records of one value says it once.
    Codes are in the order of the values: the one stated, that of the type, or that of numbers and dates.
    """
    found = {}
    for name in names:
        values = read_values(data[name])
        texts = values.texts
        if all(text is None for text in texts):
            raise InputError(f"the confidential column '{name}' has no values")
        ordered = any(
            isinstance(m, Closeness) and m.distance == "ordered" and m.column == name for m in models
        )
        place = _places(data[name], values, orders, needed=ordered)
        # A missing value goes last, so that the others keep their order.
        order = sorted(range(len(texts)), key=lambda number: (texts[number] is None, place[number]))
        rank = np.empty(len(texts), dtype=np.int32)
        rank[order] = np.arange(len(texts))
        codes = rank[values.codes]
        said = codes[counted] if units is None else once_for_each(codes[counted], units[counted])
        shares = np.bincount(said, minlength=len(texts)) / said.size
        asked = any(
            isinstance(m, Closeness) and m.distance == "hierarchical" and m.column == name for m in models
        )
        tree = _tree(trees[name], values, order, name) if asked else None
        missing = len(texts) - 1 if values.has_missing else -1
        found[name] = (codes, ConfidentialColumn(name, shares, missing, tree))
    return found


def _places(column: nw.Series, values: Values, orders: Orders, *, needed: bool) -> list[int]:
    """The place of each value in the order of the column; texts have one only if somebody states it."""
    name, texts = column.name, values.texts
    stated = orders.get(name)
    order = [str(text_of(value)) for value in stated] if stated else values.order
    if order is not None:
        unknown = [text for text in texts if text is not None and text not in order]
        if unknown:
            raise InputError(
                f"the order of column '{name}' lacks {len(unknown):,} of its values; {parameter('ordinal')} states it"
            )
        return [-1 if text is None else order.index(text) for text in texts]
    if needed and (column.dtype == nw.String or column.dtype == nw.Object or column.dtype == nw.Categorical):
        raise InputError(
            f"closeness by order needs the order of the values of column '{name}'; state it with {parameter('ordinal')}"
        )
    return list(range(len(texts)))


def _tree(hierarchy: Hierarchy, values: Values, order: Sequence[int], name: str) -> np.ndarray:
    """The node over each value, in order, for every level below the root."""
    leaves = leaves_of(values, hierarchy, name)[list(order)]
    return np.ascontiguousarray(hierarchy.nodes[:-1, leaves])


def once_for_each(codes: np.ndarray, units: np.ndarray) -> np.ndarray:
    """The codes that each unit has, every one once.

    >>> once_for_each(np.array([1, 1, 0, 1]), np.array([7, 7, 7, 8])).tolist()
    [0, 1, 1]
    """
    kinds = int(codes.max(initial=0)) + 1
    return np.unique(units.astype(np.int64) * kinds + codes) % kinds
