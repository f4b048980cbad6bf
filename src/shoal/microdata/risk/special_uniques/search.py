"""``special_uniques``: the minimal uniques of every record, and what they say of it (SUDA2).

A minimal unique of a record is a set of keys whose values no other record has, while on every smaller set somebody else has
them. The fewer keys are needed, and the more such sets there are, the more special a record is.

M. J. Elliot, A. M. Manning and R. W. Ford, A computational algorithm for handling the special uniques problem, International
Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10(5), 2002; A. M. Manning, D. J. Haglin and J. A. Keane, A
recursive search algorithm for statistical disclosure assessment, Data Mining and Knowledge Discovery 16(2), 2008.
"""

from dataclasses import dataclass
from itertools import accumulate
from math import comb
from typing import NamedTuple

import numpy as np

from shoal.errors import InputError, parameter
from shoal.microdata.risk.keys import Groups, group
from shoal.microdata.risk.special_uniques.minimal_uniques_kernels import (
    Endings,
    MinimalUniques,
    Sets,
    begin,
    go_on,
)
from shoal.microdata.risk.special_uniques.scores import chances_of_a_match, weights_by_size
from shoal.numbers import whole
from shoal.runtime.budget import Budget, Run

# Sets of keys are told apart by the bits of a number, and the search remembers who is unique on each.
_MOST_KEYS = 62
_MOST_BYTES = 2 * 2**30
_MOST_SETS = 2**26
# So many rows times sets, with all sets of the lowest keys beside each, before the next look at the clock.
_CHUNK = 2**21
# So many endings of rows are bits of four words.
_MOST_ENDINGS = 256


@dataclass(frozen=True, eq=False)
class SpecialUniques:
    """The minimal uniques of every record.

    ``minimal_uniques[record, size]`` counts them by the number of their keys, up to ``max_size``; that is less than the
    ``asked_size`` if the time was over before larger sets were looked at, and everything is as if no more had been asked for.
    ``scores`` are larger the
    fewer keys are needed, ``dis_scores`` are chances that a match with the record is right, ``shares[record, key]`` is the part
    of the score that comes from minimal uniques with that key, and ``contributions`` the same in percent over all records.
    """

    max_size: int
    minimal_uniques: np.ndarray
    scores: np.ndarray
    dis_scores: np.ndarray
    shares: np.ndarray
    contributions: np.ndarray
    asked_size: int

    @property
    def not_looked_at(self) -> tuple[int, ...]:
        """The sizes of sets that there was no time for."""
        return tuple(range(self.max_size + 1, self.asked_size + 1))

    @property
    def records(self) -> int:
        """How many records have a minimal unique."""
        return int((self.scores > 0).sum())

    @property
    def by_size(self) -> dict[int, int]:
        """How many minimal uniques there are of each size."""
        sums = self.minimal_uniques.sum(axis=0)
        return {size: int(sums[size]) for size in range(1, self.max_size + 1)}

    @property
    def smallest(self) -> np.ndarray:
        """How few keys are enough to single out each record; 0 where none are."""
        return np.where(self.scores > 0, (self.minimal_uniques > 0).argmax(axis=1), 0)


def special_uniques(
    codes: np.ndarray, max_size: int | None = None, *, run: Run | None = None
) -> SpecialUniques:
    """Find the minimal uniques of up to ``max_size`` keys (by default all) in a table of numbers.

    ``codes[record, key]`` are numbers from 0 on, −1 for a missing value: it matches nothing, and is in no minimal unique.
    Where the time of a ``run`` is limited, small sets are looked at before larger ones; when it is over, those sizes count that
    were looked at as a whole.

    >>> uniques = special_uniques(np.array([[0, 0], [0, 1], [0, 1], [1, 0]]))
    >>> uniques.by_size, uniques.scores.tolist(), uniques.contributions.tolist()
    ({1: 1, 2: 1}, [1.0, 0.0, 0.0, 1.0], [100.0, 50.0])
    """
    return Wanted.of(codes, max_size).look(run)


@dataclass(frozen=True, eq=False)
class Wanted:
    """Records whose special uniques of up to ``asked_size`` keys can be looked for: there are not too many sets."""

    columns: list[np.ndarray]
    kinds: list[int]
    groups: Groups
    asked_size: int

    @classmethod
    def of(cls, codes: np.ndarray, max_size: int | None) -> "Wanted":
        """An ``InputError`` where there is nothing to look for, or too much."""
        records, keys = codes.shape
        if records == 0 or keys == 0:
            raise InputError("there are no records, or no keys, to look for special uniques in")
        largest_size = (
            keys if max_size is None else min(keys, whole(max_size, parameter("max_size"), least=1))
        )
        columns, kinds = _dense(codes)
        groups = group([column + 1 for column in columns], [size + 1 for size in kinds])
        _check_size(keys, largest_size, groups.number)
        return cls(columns, kinds, groups, largest_size)

    def look(self, run: Run | None = None) -> SpecialUniques:
        """Look for them."""
        columns, groups, keys = self.columns, self.groups, len(self.columns)
        records = groups.of_record.size
        numbers = np.bincount(groups.of_record, minlength=groups.number)
        # Keys with many values last, so that classes become small early.
        order = np.argsort(self.kinds, kind="stable")
        back = np.argsort(order)
        # Narrow numbers, of which more fit beside the processor.
        narrow = np.int16 if max(self.kinds) < 2**15 else np.int32
        ordered = np.stack([columns[key][groups.first].astype(narrow) for key in order])
        kinds = np.array(self.kinds, dtype=np.int64)[order]
        rows = _Rows(ordered, numbers > 1, kinds, endings_of(ordered, kinds))
        largest, uniques = _largest_looked_at(rows, self.asked_size, run or Budget().start())

        minimal = np.zeros((records, largest + 1), dtype=np.int32)
        minimal[groups.first] = uniques.by_size
        scores = np.zeros(records)
        scores[groups.first] = uniques.score
        shares = np.zeros((records, keys))
        shares[groups.first] = (uniques.by_key / np.where(uniques.score > 0, uniques.score, 1.0)[:, None])[
            :, back
        ]
        total = scores.sum()
        complete = np.logical_and.reduce([column[groups.first] >= 0 for column in columns])
        pairs = 2 * int((complete & (numbers == 2)).sum())
        return SpecialUniques(
            max_size=largest,
            minimal_uniques=minimal,
            scores=scores,
            dis_scores=chances_of_a_match(scores, pairs, keys),
            shares=shares,
            contributions=100.0 * uniques.by_key.sum(axis=0)[back] / total if total else np.zeros(keys),
            asked_size=self.asked_size,
        )


class _Rows(NamedTuple):
    """Different combinations of keys, those of several records, how many values each key has, and the endings."""

    columns: np.ndarray
    several: np.ndarray
    kinds: np.ndarray
    endings: Endings


def _largest_looked_at(rows: _Rows, largest_size: int, run: Run) -> tuple[int, MinimalUniques]:
    """The largest size up to which all sets were looked at while there was time, and what they say."""
    keys, number = rows.columns.shape
    # Nothing is known of anybody before the first size.
    done, uniques = (
        0,
        MinimalUniques(
            np.zeros((number, 1), dtype=np.int32),
            np.zeros(number),
            np.zeros((number, keys)),
            np.empty((0, 0)),
        ),
    )
    limited = run.budget.seconds is not None
    for largest in sizes_in_turn(keys, largest_size) if limited else [largest_size]:
        sets, weights = _sets(keys, largest), weights_by_size(keys, largest)
        state, own = begin(*rows, sets)
        every = 1 << keys
        while state.mask[0] < every and (chunk := run.chunk(max(1, _CHUNK // number))):
            run.spend(go_on(rows.columns, rows.kinds, rows.endings, sets, weights, state, own, chunk))
            run.report(phase="special uniques")
        if state.mask[0] < every:
            break
        done, uniques = largest, own
    return done, uniques


def sizes_in_turn(keys: int, largest_size: int) -> list[int]:
    """Up to which sizes to look at sets one time after the other, so that all together cost about twice the last.

    Each begins anew, since the sets of all sizes are gone through in one order; so there are twice as many sets each time.

    >>> sizes_in_turn(10, 10), sizes_in_turn(30, 3)
    ([1, 2, 3, 4, 10], [1, 2, 3])
    """
    upto = list(accumulate(comb(keys, size) for size in range(1, largest_size + 1)))
    uniques, last = [], 0
    for size, sets in enumerate(upto[:-1], start=1):
        if 2 * last <= sets <= upto[-1] / 2:
            uniques.append(size)
            last = sets
    return [*uniques, largest_size]


def _dense(codes: np.ndarray) -> tuple[list[np.ndarray], list[int]]:
    """Every key with numbers from 0 to below how many values it has; −1 stays."""
    columns, kinds = [], []
    for key in range(codes.shape[1]):
        column = np.ascontiguousarray(codes[:, key], dtype=np.int64)
        low, high = int(column.min()), int(column.max())
        if low < -1:
            raise InputError("codes of keys are numbers from 0 on, or -1 for a missing value")
        if high >= 4 * column.size:
            values, numbers = np.unique(column, return_inverse=True)
            column, high = numbers.reshape(-1) - int(values[0] < 0), values.size - 1 - int(values[0] < 0)
        columns.append(column)
        kinds.append(high + 1)
    return columns, kinds


def _check_size(keys: int, largest: int, rows: int) -> None:
    """An ``InputError`` if there are more sets of keys than can be gone through."""
    every = sum(comb(keys, size) for size in range(1, largest + 1))
    remembered = sum(comb(keys, size) for size in range(1, largest))
    if keys <= _MOST_KEYS and every <= _MOST_SETS and remembered * ((rows + 63) // 64) * 8 <= _MOST_BYTES:
        return
    raise InputError(
        f"{keys} keys have {every:,} sets of up to {largest}, too many to look for special uniques in all of them; give fewer "
        f"keys, or a smaller {parameter('max_size')}"
    )


def _sets(keys: int, largest: int) -> Sets:
    binomials = [[comb(n, k) for k in range(largest + 1)] for n in range(keys + 1)]
    first = np.concatenate(
        [[0, 0], np.cumsum([comb(keys, size) for size in range(1, largest)], dtype=np.int64)]
    )
    return Sets(np.array(binomials, dtype=np.int64), first.astype(np.int64), largest)


def endings_of(columns: np.ndarray, kinds: np.ndarray) -> Endings:
    """The endings of rows, over as many of the first keys as have few enough combinations of values.

    >>> endings = endings_of(np.array([[0, 1, -1], [2, 0, 1]]), np.array([2, 3]))
    >>> endings.keys, endings.number, endings.of_row.tolist()
    (2, 9, [6, 1, 5])
    """
    gaps = (columns < 0).any(axis=1)
    digits = kinds + gaps
    keys, number = 0, 1
    while keys < digits.size and number * int(digits[keys]) <= _MOST_ENDINGS:
        number *= int(digits[keys])
        keys += 1
    of_row, factor = np.zeros(columns.shape[1], dtype=np.int32), 1
    values = np.zeros((keys, number), dtype=np.int64)
    for key in range(keys):
        # A missing value is the last one.
        own = np.where(columns[key] < 0, kinds[key], columns[key]).astype(np.int32)
        of_row += factor * own
        values[key] = np.arange(number) // factor % digits[key]
        factor *= int(digits[key])
    return Endings(keys, number, of_row, _alike(values, kinds))


def _alike(values: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """For each set of the lowest keys and each ending the bits of those with the same values there."""
    keys, number = values.shape
    words = (number + 63) // 64
    alike = np.zeros((1 << keys, number, words), dtype=np.uint64)
    for chosen in range(1 << keys):
        same = np.ones((number, number), dtype=bool)
        for key in range(keys):
            if chosen >> key & 1:
                known = values[key] < kinds[key]
                same &= (values[key][:, None] == values[key][None, :]) & known[:, None] & known[None, :]
        bits = np.zeros((number, words * 64), dtype=np.uint8)
        bits[:, :number] = same
        alike[chosen] = np.packbits(bits, axis=1, bitorder="little").view("<u8")
    return alike


def warm_up() -> None:
    """Compile the kernels."""
    special_uniques(np.array([[0, 0], [0, 1], [1, -1]]))
