"""Inequalities from several that are known: sums of them, rounded once more with nearly chosen cells counted from above.

Complemented mixed-integer rounding (Marchand and Wolsey 2001) of Σ a·y ≥ b over 0-1 variables: cells with a large share are
written as 1 − ȳ, all is divided and rounded. Of sums of an odd number of rows that share cells, dividing by 2 gives
the {0, ½}-cuts of Caprara and Fischetti (1996), which tree augmentation is known to need. All rows have right-hand side 1.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel

# Most rows in a sum, and how many sums begin with each row.
LONGEST, BEGINNINGS = 5, 4
# Cells counted from the other side, one after the other, to see whether that is better.
_TURNED = 20
# Most divisors that are tried for a sum.
_DIVISORS = 32
# Roundings whose fraction is nearer to a whole number gain nothing or magnify errors.
_NEAREST = 0.01


class Rowwise(NamedTuple):
    """Rows Σ value·y ≥ 1 over the cells of the support: those of row r are ``cells[starts[r] : starts[r + 1]]``."""

    starts: np.ndarray
    cells: np.ndarray
    values: np.ndarray


class Sums(NamedTuple):
    """Sums of rows: their numbers in ascending order of being added, −1 behind them, and how deep the point is cut off."""

    rows: np.ndarray
    depth: np.ndarray


@kernel
def rounded(value: float, divisor: float, part: float) -> Any:
    """The coefficient after rounding, times the fraction ``part`` of the right-hand side."""
    quotient = value / divisor
    whole = np.floor(quotient)
    return whole * part + min(quotient - whole, part)


@kernel
def _violation(
    values: np.ndarray, x: np.ndarray, turned: np.ndarray, size: int, rhs: float, divisor: float
) -> Any:
    # By how much the point misses the rounded inequality: as a distance, and as a share of the right-hand side.
    left = rhs
    for j in range(size):
        if turned[j]:
            left -= values[j]
    ceiling = np.ceil(left / divisor)
    part = left / divisor - (ceiling - 1.0)
    if part > 1.0 - _NEAREST or part < _NEAREST:
        return 0.0, 0.0
    missing = part * ceiling
    scale = missing
    norm = 0.0
    for j in range(size):
        if turned[j]:
            value = rounded(-values[j], divisor, part)
            missing -= value * (1.0 - x[j])
            scale -= value
        else:
            value = rounded(values[j], divisor, part)
            missing -= value * x[j]
        norm += value * value
    if norm <= 0.0 or scale <= 0.01:
        return 0.0, 0.0
    return missing / np.sqrt(norm), missing / scale


@kernel
def best_rounding(values: np.ndarray, x: np.ndarray, size: int, rhs: float, turned: np.ndarray) -> Any:
    """The deepest rounding found: its depth, its violation and its divisor; ``turned`` marks cells counted from above."""
    divisors = np.empty(_DIVISORS)
    count = 0
    largest = 0.0
    for j in range(size):
        turned[j] = x[j] > 0.5
        largest = max(largest, values[j])
        if 1e-6 < x[j] < 1.0 - 1e-6 and values[j] > 1e-4 and count < _DIVISORS - 1:
            fresh = True
            for i in range(count):
                if abs(divisors[i] - values[j]) < 1e-6:
                    fresh = False
            if fresh:
                divisors[count] = values[j]
                count += 1
    divisors[count] = largest + 1e-3
    count += 1
    best, violated, divisor = 0.0, 0.0, 0.0
    for i in range(count):
        depth, missing = _violation(values, x, turned, size, rhs, divisors[i])
        if depth > best:
            best, violated, divisor = depth, missing, divisors[i]
    if divisor == 0.0:
        return 0.0, 0.0, 0.0
    whole = divisor
    for share in (0.5, 0.25, 0.125):
        depth, missing = _violation(values, x, turned, size, rhs, share * whole)
        if depth > best:
            best, violated, divisor = depth, missing, share * whole
    # Nearest to one half first.
    done, last = -1.0, -1
    for _ in range(_TURNED):
        nearest, which = 0.5 - 1e-6, -1
        for j in range(size):
            far = abs(x[j] - 0.5)
            if far < nearest and (far > done or (far == done and j > last)):
                nearest, which = far, j
        if which < 0:
            break
        done, last = nearest, which
        turned[which] = not turned[which]
        depth, missing = _violation(values, x, turned, size, rhs, divisor)
        if depth > best + 1e-9:
            best, violated = depth, missing
        else:
            turned[which] = not turned[which]
    return best, violated, divisor


@kernel
def _sums(
    rows: Rowwise, slack: np.ndarray, x: np.ndarray, first: np.ndarray, least: float, sums: Sums
) -> Any:
    # Begins with each of the rows ``first``, and goes on with rows that share what the sum has an odd number of times.
    count = rows.starts.shape[0] - 1
    size = x.shape[0]
    of_starts = np.zeros(size + 1, dtype=np.int64)
    for k in range(rows.cells.shape[0]):
        of_starts[rows.cells[k] + 1] += 1
    for j in range(size):
        of_starts[j + 1] += of_starts[j]
    of_rows = np.empty(rows.cells.shape[0], dtype=np.int64)
    filled = of_starts[:size].copy()
    for r in range(count):
        for k in range(rows.starts[r], rows.starts[r + 1]):
            of_rows[filled[rows.cells[k]]] = r
            filled[rows.cells[k]] += 1
    open_ = np.minimum(x, 1.0 - x)
    total = np.zeros(size)
    odd = np.zeros(size, dtype=np.uint8)
    members = np.empty(size, dtype=np.int64)
    values = np.empty(size)
    shares = np.empty(size)
    turned = np.zeros(size, dtype=np.uint8)
    seen = np.zeros(count, dtype=np.int64)
    chain = np.empty(LONGEST, dtype=np.int64)
    gains = np.empty(BEGINNINGS + 1)
    next_ = np.empty(BEGINNINGS + 1, dtype=np.int64)
    tick = 0
    kept = 0
    for begin in first:
        for turn in range(BEGINNINGS):
            r = begin
            length = 0
            here = 0
            while r >= 0:
                chain[length] = r
                length += 1
                for k in range(rows.starts[r], rows.starts[r + 1]):
                    j = rows.cells[k]
                    if total[j] == 0.0:
                        members[here] = j
                        here += 1
                    total[j] += rows.values[k]
                    odd[j] ^= 1
                if length > 1 or turn == 0:
                    for i in range(here):
                        values[i] = total[members[i]]
                        shares[i] = x[members[i]]
                    depth, missing, _ = best_rounding(values, shares, here, float(length), turned)
                    if missing > least and kept < sums.depth.shape[0]:
                        sums.depth[kept] = depth
                        for i in range(LONGEST):
                            sums.rows[kept, i] = chain[i] if i < length else -1
                        kept += 1
                r = -1
                if length == LONGEST:
                    break
                tick += 1
                choices = 0
                for i in range(here):
                    j = members[i]
                    if odd[j] == 0 or open_[j] < 1e-4:
                        continue
                    for k in range(of_starts[j], of_starts[j + 1]):
                        other = of_rows[k]
                        if seen[other] == tick:
                            continue
                        seen[other] = tick
                        inside = False
                        for z in range(length):
                            if chain[z] == other:
                                inside = True
                        if inside:
                            continue
                        gain = -slack[other]
                        for p in range(rows.starts[other], rows.starts[other + 1]):
                            share = open_[rows.cells[p]] * min(1.0, rows.values[p])
                            gain += share if odd[rows.cells[p]] == 1 else -share
                        place = choices
                        while place > 0 and gains[place - 1] < gain:
                            if place < BEGINNINGS:
                                gains[place] = gains[place - 1]
                                next_[place] = next_[place - 1]
                            place -= 1
                        if place < BEGINNINGS:
                            gains[place] = gain
                            next_[place] = other
                            choices = min(choices + 1, BEGINNINGS)
                wanted = turn if length == 1 else 0
                if wanted < choices:
                    r = next_[wanted]
            for i in range(here):
                total[members[i]] = 0.0
                odd[members[i]] = 0
    return kept


def sums(rows: Rowwise, slack: np.ndarray, x: np.ndarray, first: np.ndarray, least: float) -> Sums:
    """Sums of rows, each beginning with one of ``first``, that rounding turns into inequalities the point ``x`` violates.

    ``slack`` is by how much the point more than meets each row; ``least`` is the least violation, as a share of the
    right-hand side. A row alone counts as a sum.
    """
    most = BEGINNINGS * LONGEST * first.size
    found = Sums(np.empty((most, LONGEST), dtype=np.int64), np.empty(most))
    size = _sums(rows, slack, x, first, least, found)
    return Sums(found.rows[:size], found.depth[:size])


def _fraction(rhs: float, divisor: float) -> float:
    return float(rhs / divisor - (np.ceil(rhs / divisor) - 1.0))


def _all_rounded(values: np.ndarray, divisor: float, part: float) -> np.ndarray:
    quotient = values / divisor
    whole = np.floor(quotient)
    made: np.ndarray = whole * part + np.minimum(quotient - whole, part)
    return made


class Combination(NamedTuple):
    """All that is needed to write such an inequality over any columns: the numbers of the rows it is a sum of, the cells
    counted from above, what they leave of the right-hand side, the divisor, and what the result is divided by.
    """

    parts: tuple[int, ...]
    turned: np.ndarray
    rest: float
    divisor: float
    scale: float

    def coefficients(self, total: np.ndarray, turned: np.ndarray) -> np.ndarray:
        """The inequality of right-hand side 1, from the sum over some cells and a mask of those counted from above."""
        values = _all_rounded(
            np.where(turned, -total, total), self.divisor, _fraction(self.rest, self.divisor)
        )
        made: np.ndarray = np.minimum(np.where(turned, -values, values) / self.scale, 1.0)
        return made


def combination(
    parts: tuple[int, ...], cells: np.ndarray, total: np.ndarray, x: np.ndarray, least: float
) -> Combination | None:
    """The best rounding of a sum at a point, given over its support; ``None`` if the point meets it."""
    turned = np.zeros(cells.size, dtype=np.uint8)
    _, missing, divisor = best_rounding(total, x, cells.size, float(len(parts)), turned)
    if missing <= least:
        return None
    above = turned != 0
    rest = float(len(parts) - total[above].sum())
    part = _fraction(rest, divisor)
    scale = part * np.ceil(rest / divisor) - _all_rounded(-total[above], divisor, part).sum()
    return Combination(parts, cells[above].astype(np.int64), rest, float(divisor), float(scale))
