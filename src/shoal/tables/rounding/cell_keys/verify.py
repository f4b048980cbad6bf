"""The independent check of a perturbed table: the perturbation table by its sums, and every cell again from the records.

Keys are added record by record with Python's own whole numbers, and chances in fractions; nothing is shared with what makes them.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from shoal.runtime.secrets import Secret
from shoal.tables.rounding.cell_keys.problem import DesignProblem
from shoal.tables.rounding.cell_keys.solution import PerturbationTable


def verify_design(problem: DesignProblem, design: PerturbationTable) -> None:
    """Raise ``AssertionError`` unless every row of chances is one, without bias, within its limits and of its variance."""
    wide = problem.deviation
    changes = np.arange(-wide, wide + 1)
    assert design.chances.shape == (problem.rows, 2 * wide + 1), "the perturbation table has another size"
    assert (design.chances >= 0).all(), "a chance is negative"
    assert design.chances[0, wide] == 1.0, "a count of 0 may change"
    entropy = 0.0
    for count, row in enumerate(design.chances):
        assert abs(row.sum() - 1.0) < 1e-9, f"the chances of {count} do not add up to 1"
        assert abs(float(row @ changes)) < 1e-7, f"the changes of {count} have a bias"
        published = count + changes[row > 0]
        assert (published >= 0).all(), f"{count} may become negative"
        assert count == 0 or not ((published >= 1) & (published <= problem.small)).any(), (
            f"{count} may become small"
        )
        variance = float(row @ changes**2)
        entropy -= float((row[row > 0] * np.log2(row[row > 0])).sum())
        if count and abs(variance - problem.variance) > 1e-6:
            _expect_nearest(problem, count, variance)
    assert abs(entropy - design.value) < 1e-6, "the entropy is another"
    assert design.bound is None or design.bound >= entropy - 1e-9, "the bound is below the entropy"


def verify_external(design: PerturbationTable) -> None:
    """Raise ``AssertionError`` unless the rows of a table that somebody gave are chances without bias, within its limits."""
    wide = design.deviation
    assert design.intervals is not None and len(design.intervals) == len(design.chances), "a count is missing"
    for count, (changes, ends) in enumerate(design.intervals):
        below, drift = Fraction(0), Fraction(0)
        for change, end in zip(changes.tolist(), ends.tolist(), strict=True):
            chance = Fraction(end) - below
            assert chance >= 0, f"the intervals of {count} overlap"
            assert abs(chance - Fraction(float(design.chances[count, change + wide]))) < Fraction(1, 10**5), (
                f"an interval of {count} is not as wide as its chance"
            )
            assert abs(change) <= wide and count + change >= 0, f"{count} may become negative"
            drift += chance * change
            below = Fraction(end)
        assert below == 1, f"the chances of {count} do not add up to 1"
        assert abs(drift) < Fraction(1, 10**4), f"the changes of {count} have a bias"
        assert count or set(changes.tolist()) == {0}, "a count of 0 may change"


def _expect_nearest(problem: DesignProblem, count: int, variance: float) -> None:
    """The variance is the least or the largest there is without bias: that of two changes next to 0, or of the two furthest."""
    allowed = [
        d
        for d in range(-problem.deviation, problem.deviation + 1)
        if count + d == 0 or count + d > problem.small
    ]
    allowed = [d for d in allowed if count + d >= 0]
    below, above = [d for d in allowed if d <= 0], [d for d in allowed if d >= 0]
    least = 0.0 if 0 in allowed else min(-a * b for a in below for b in above)
    largest = max(-a * b for a in below for b in above)
    wanted = least if problem.variance < least else largest
    assert abs(variance - wanted) < 1e-6, f"the variance of {count} could be nearer to what was asked"


def verify_table(
    cells: Mapping[str, Sequence[Any]],
    lineages: Mapping[str, Mapping[str, Sequence[str]]],
    records: Sequence[tuple[str, ...]],
    keys: Sequence[int],
    secret: Secret | None,
    design: PerturbationTable,
    published: Sequence[int],
) -> None:
    """Raise ``AssertionError`` unless every published count is what the keys of its records make of it.

    ``cells`` are the coordinates of the cells, ``lineages`` name for each code of a dimension all that contain it, and
    ``records`` are the codes of each record. With a ``secret`` cells are looked up by what it makes of their sums of keys.
    """
    names = list(cells)
    counts: dict[tuple[str, ...], int] = {}
    sums: dict[tuple[str, ...], int] = {}
    for codes, key in zip(records, keys, strict=True):
        for cell in product(*(lineages[name][code] for name, code in zip(names, codes, strict=True))):
            counts[cell] = counts.get(cell, 0) + 1
            sums[cell] = (sums.get(cell, 0) + int(key)) % 2**53
    if secret is not None:
        drawn = secret.draws("cell keys").uniforms(np.array(list(sums.values()), dtype=np.uint64))
        sums = {cell: int(place * 2**53) for cell, place in zip(sums, drawn.tolist(), strict=True)}
    if design.intervals is not None:
        _verify_intervals(names, cells, counts, sums, design.intervals, published)
        return
    chances = [[Fraction(float(chance)) for chance in row] for row in design.chances]
    for number, cell in enumerate(zip(*(map(str, cells[name]) for name in names), strict=True)):
        count = counts.get(cell, 0)
        row = chances[min(count, len(chances) - 1)]
        place, running, change = Fraction(sums.get(cell, 0) % 2**53, 2**53), Fraction(0), 0
        possible = [d for d, chance in enumerate(row) if chance > 0]
        for change in possible:
            running += row[change]
            if place < running - Fraction(1, 10**12):
                break
        # Where a key lies at the very border of two changes, either is right.
        borders = {change - design.deviation}
        if abs(place - running) < Fraction(1, 10**9) and change != possible[-1]:
            borders.add(possible[possible.index(change) + 1] - design.deviation)
        before = running - row[change]
        if abs(place - before) < Fraction(1, 10**9) and change != possible[0]:
            borders.add(possible[possible.index(change) - 1] - design.deviation)
        assert int(published[number]) - count in borders, (
            f"the cell {_named(names, cell)} is not what its records make of it"
        )


def _verify_intervals(
    names: Sequence[str],
    cells: Mapping[str, Sequence[Any]],
    counts: Mapping[tuple[str, ...], int],
    sums: Mapping[tuple[str, ...], int],
    intervals: Sequence[tuple[np.ndarray, np.ndarray]],
    published: Sequence[int],
) -> None:
    """The same for a table whose intervals are given: the key lies in that of the change, or at its very border."""
    border = Fraction(1, 10**9)
    for number, cell in enumerate(zip(*(map(str, cells[name]) for name in names), strict=True)):
        count = counts.get(cell, 0)
        place = Fraction(sums.get(cell, 0) % 2**53, 2**53)
        changes, ends = intervals[min(count, len(intervals) - 1)]
        below, able = Fraction(0), set()
        for change, end in zip(changes.tolist(), ends.tolist(), strict=True):
            if below - border <= place <= Fraction(end) + border:
                able.add(change)
            below = Fraction(end)
        assert int(published[number]) - count in able, (
            f"the cell {_named(names, cell)} is not what its records make of it"
        )


def _named(names: Sequence[str], cell: Sequence[str]) -> str:
    return ", ".join(f"{name} '{code}'" for name, code in zip(names, cell, strict=True))
