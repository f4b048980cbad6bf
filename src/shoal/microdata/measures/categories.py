"""A column of categories before and after: values as codes, what each released label may stand for, and what was lost."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

# A table of which value fits which new label is kept up to this size; above it a value fits the label most of its records got.
_LARGEST_TABLE = 4_000_000
_MISSING = None
# What a release shows where it shows nothing.
_BLANKS = ("", "*")


@dataclass(frozen=True, eq=False)
class CategoryPair:
    """One column, record by record: codes of the original values, and of the released labels.

    Labels below ``values`` are original values with the same code; those from there on are new (a group of ages, a blank).
    ``misfit[v, l]`` is the chance that a record behind new label number ``l`` has another value than ``v``. ``aligned`` are
    the original values in the words of the release: where a value is no longer used, the label most of its records got.
    ``changed`` and ``blanked`` say which records show something else than their value, and nothing at all; ``recoded`` that
    there are new labels, blanks aside.
    """

    name: str
    before: np.ndarray = field(repr=False)
    after: np.ndarray = field(repr=False)
    values: int
    labels: int
    misfit: np.ndarray = field(repr=False)
    aligned: np.ndarray = field(repr=False)
    changed: np.ndarray = field(repr=False)
    blanked: np.ndarray = field(repr=False)
    recoded: bool

    @property
    def kept_percent(self) -> float:
        """How much of the column's information the labels still tell: 100·I/H, mutual information over entropy."""
        return 100.0 * retained_information(self.before, self.after)

    @property
    def evenness(self) -> float:
        """The chance that two records drawn at random differ before protection."""
        shares = np.bincount(self.before, minlength=self.values) / max(1, self.before.size)
        return float(1.0 - np.square(shares).sum())


def pair_categories(
    name: str, before: Sequence[str | None], after: Sequence[str | None], *, largest: int = _LARGEST_TABLE
) -> CategoryPair:
    """Code a column of texts; ``None`` is missing, a value of its own before and a blank after; so is ``*``.

    >>> pair = pair_categories("age", ["31", "34", "62"], ["30-39", "30-39", None])
    >>> pair.before.tolist(), pair.after.tolist(), pair.recoded
    ([0, 1, 2], [3, 3, 4], True)
    >>> pair.misfit[:, 0].tolist()
    [0.5, 0.5, 1.0]
    """
    there = set(before)
    after = [_MISSING if label in _BLANKS and label not in there else label for label in after]
    known = sorted({value for value in before if value is not _MISSING})
    code: dict[str | None, int] = {value: place for place, value in enumerate(known)}
    if any(value is _MISSING for value in before):
        code[_MISSING] = len(code)
    values = len(code)
    new = sorted({label for label in after if label is not _MISSING and label not in code})
    label_code: dict[str | None, int] = dict(code)
    label_code |= {label: values + place for place, label in enumerate(new)}
    old = np.array([code[value] for value in before], dtype=np.int64)
    shown = np.array([label_code.get(label, values + len(new)) for label in after], dtype=np.int64)
    gone = np.array([label is _MISSING for label in after], dtype=np.bool_)
    was_gone = np.array([value is _MISSING for value in before], dtype=np.bool_)
    # A blank is new even where some values were missing before: nobody can tell the two kinds apart.
    shown[gone] = values + len(new)
    labels = values + len(new) + int(gone.any())
    changed = np.where(gone, ~was_gone, old != shown)
    blanked = gone & ~was_gone
    aligned = _aligned(old, shown, values, labels, gone)
    if gone.any():
        # What was missing before is a blank in the words of the release.
        aligned[was_gone] = labels - 1
    if values * (labels - values) > largest:
        # Too many to tabulate: a value fits its own label and no other, as far as distances go.
        own = np.zeros((labels, 0))
        return CategoryPair(
            name, aligned, shown, labels, labels, own, aligned, changed, blanked, recoded=bool(new)
        )
    misfit = _misfit(old, shown, values, labels, blank=bool(gone.any()))
    return CategoryPair(
        name, old, shown, values, labels, misfit, aligned, changed, blanked, recoded=bool(new)
    )


def _aligned(old: np.ndarray, shown: np.ndarray, values: int, labels: int, gone: np.ndarray) -> np.ndarray:
    """Each original value as the release would say it."""
    used = np.zeros(labels, dtype=np.bool_)
    used[shown] = True
    meant = np.arange(values, dtype=np.int64)
    told = ~gone
    pairs, counts = np.unique(old[told] * labels + shown[told], return_counts=True)
    # The most frequent label of each value; equal counts go to the first.
    order = np.lexsort((pairs % labels, -counts, pairs // labels))
    value, label = (pairs // labels)[order], (pairs % labels)[order]
    first = np.unique(value, return_index=True)[1]
    for place in first:
        if not used[value[place]] and label[place] >= values:
            meant[value[place]] = label[place]
    aligned: np.ndarray = meant[old]
    return aligned


def _misfit(old: np.ndarray, shown: np.ndarray, values: int, labels: int, *, blank: bool) -> np.ndarray:
    new = labels - values
    if new == 0:
        return np.zeros((values, 0), dtype=np.float64)
    share = np.bincount(old, minlength=values).astype(np.float64)
    fits = np.zeros((values, new), dtype=np.bool_)
    recoded = shown >= values
    fits[old[recoded], shown[recoded] - values] = True
    if blank:
        fits[:, -1] = True
    behind = share @ fits
    table = np.where(fits, 1.0 - share[:, None] / np.where(behind > 0, behind, 1.0), 1.0)
    return np.ascontiguousarray(table, dtype=np.float64)


def retained_information(before: np.ndarray, after: np.ndarray) -> float:
    """Mutual information of two columns of codes, as a share of the entropy of the first; 1 where that is 0.

    >>> round(retained_information(np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1])), 9)
    0.5
    """
    n = max(1, before.size)
    of_value = np.bincount(before) / n
    entropy = _entropy(of_value)
    if entropy <= 0:
        return 1.0
    width = int(after.max(initial=0)) + 1
    joint = np.unique(before * width + after, return_counts=True)[1] / n
    kept = entropy + _entropy(np.bincount(after) / n) - _entropy(joint)
    return float(min(1.0, max(0.0, kept / entropy)))


def _entropy(shares: np.ndarray) -> float:
    present = shares[shares > 0]
    return float(-(present * np.log(present)).sum())
