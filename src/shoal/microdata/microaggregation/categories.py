"""What grouping did to categories: values changed, lost or rarer, groups with one true value, and records unlike any."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.microdata.columns.attributes import Attribute
from shoal.microdata.microaggregation.exposure import groups_without_range

if TYPE_CHECKING:
    from shoal.microdata.microaggregation.result import Part


@dataclass(frozen=True)
class CategoryChange:
    """One column of categories; a missing value is one of them.

    ``changed`` is the share of records with another value than their own, ``one_value`` that of records in groups whose
    members all have the same true value: it is known of whoever is placed in such a group. ``lost`` values nobody has any
    more, ``rarer`` ones fewer than half of those who had them, and ``values`` is how many there were.
    """

    column: str
    changed: float
    one_value: float
    values: int
    lost: int
    rarer: int


@dataclass(frozen=True)
class CategoryChanges:
    """What a release of categories lost, and what it leaves to infer.

    ``unchanged`` is the share of records released as they were, ``new_combinations`` that of released records whose values
    together nobody had.
    """

    columns: tuple[CategoryChange, ...]
    unchanged: float
    new_combinations: float


def changes_of_categories(
    attributes: Mapping[str, Attribute], released: Mapping[str, np.ndarray], parts: "Sequence[Part]"
) -> CategoryChanges:
    """Compare the protected columns before and after; both are in the order of the original records."""
    rows = []
    labels_of = {name: part.labels for part in parts for name in part.columns}
    before, after = [], []
    for name, attribute in attributes.items():
        codes, new_codes = _codes(attribute, released[name])
        before.append(codes)
        after.append(new_codes)
        if attribute.categorical:
            rows.append(_change(name, codes, new_codes, labels_of[name]))
    same = np.all([a == b for a, b in zip(before, after, strict=True)], axis=0)
    known = _numbered(np.column_stack([np.concatenate(pair) for pair in zip(before, after, strict=True)]))
    n = same.size
    return CategoryChanges(tuple(rows), float(same.mean()), float(1.0 - np.isin(known[n:], known[:n]).mean()))


def _change(name: str, before: np.ndarray, after: np.ndarray, labels: np.ndarray) -> CategoryChange:
    width = int(max(before.max(), after.max())) + 1
    had, have = np.bincount(before, minlength=width), np.bincount(after, minlength=width)
    single = groups_without_range(before.astype(np.float64), labels)
    return CategoryChange(
        name,
        changed=float((before != after).mean()),
        one_value=float(single[labels].mean()),
        values=int((had > 0).sum()),
        lost=int(((had > 0) & (have == 0)).sum()),
        rarer=int(((have > 0) & (2 * have < had)).sum()),
    )


def _codes(attribute: Attribute, released: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values before and after as whole numbers, the same for the same value; a gap is a value."""
    before = attribute.positions if attribute.positions is not None else attribute.values
    before = np.where(attribute.missing, np.nan, before.astype(np.float64))
    _, codes = np.unique(np.concatenate([before, released]), return_inverse=True)
    codes = codes.reshape(-1)
    return codes[: before.size], codes[before.size :]


def _numbered(table: np.ndarray) -> np.ndarray:
    """Rows as numbers, the same for equal rows."""
    return np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)


def table_of(columns: Sequence[np.ndarray], records: int) -> np.ndarray:
    """Columns side by side, of which there may be none."""
    return np.column_stack(columns) if columns else np.empty((records, 0))
