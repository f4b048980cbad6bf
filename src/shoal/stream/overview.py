"""What first passes over the files tell: how many records, which ranges, exact sums, means and correlations."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.exact_names import exactly
from shoal.microdata.microaggregation.leaves.moments import Moments
from shoal.microdata.microaggregation.leaves.overview import Overview, check_records, check_units
from shoal.microdata.microaggregation.leaves.request import Request
from shoal.microdata.microaggregation.leaves.scale import ColumnSums, step_of
from shoal.stream.records import Source, as_unchanged, fingerprint, joined, numbers_of, unit_hash


class _Sums:
    """Sums of values and of their products, slice by slice, near the middle of their ranges."""

    def __init__(self, known: Overview) -> None:
        self._known, width = known, len(known.least)
        self._total, self._products = np.zeros(width), np.zeros((width, width))

    def add(self, values: np.ndarray) -> None:
        moved = (values - self._known.middle) / self._known.units
        self._total += moved.sum(axis=0)
        self._products += moved.T @ moved

    def moments(self) -> Moments:
        known = self._known
        return Moments.of_sums(
            known.records, known.middle, self._total, self._products, known.varying, known.units
        )


def overview(
    source: Source, size: int, columns: Sequence[pl.Expr], request: Request, unchanged: Sequence[str]
) -> Overview:
    """One pass; an ``InputError`` for what cannot be protected."""
    width = len(columns)
    gaps, endless = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    least, largest = np.full(width, np.inf), np.full(width, -np.inf)
    records, marks = 0, (0, 0)
    complete, units = 0, set[int]()
    rest = [
        as_unchanged(name, source.schema[name]).alias(f"r{place}") for place, name in enumerate(unchanged)
    ]
    unit = [] if request.unit is None else [unit_hash(request.unit, source.schema[request.unit])]
    for frame in source.slices(size, *columns, *rest, *unit):
        values, keep = numbers_of(frame, width)
        gaps += np.isnan(values).sum(axis=0)
        endless += np.isinf(values).sum(axis=0)
        records += len(values)
        whole = frame.filter(pl.Series(keep))
        if rest:
            marks = joined(marks, fingerprint(whole, [f"r{place}" for place in range(len(unchanged))]))
        if unit and len(units) < request.k:
            units.update(whole["unit"].unique().head(request.k).to_list())
        values = values[keep]
        complete += len(values)
        if not len(values) or endless.any():
            continue
        least, largest = np.minimum(least, values.min(axis=0)), np.maximum(largest, values.max(axis=0))
    check_records(
        request,
        records,
        complete,
        gaps=gaps.tolist(),
        endless=endless.tolist(),
        sizes=np.maximum(np.abs(least), np.abs(largest)).tolist(),
    )
    if unit:
        check_units(request, len(units))
    return Overview(
        complete,
        records - complete,
        complete,
        tuple(least.tolist()),
        tuple(largest.tolist()),
        _distinct_values(source, [name for name in request.may_be_rare() if name in unchanged]),
        marks,
    )


def _distinct_values(source: Source, names: Sequence[str]) -> dict[str, int]:
    """About how many distinct values columns have."""
    if not names:
        return {}
    asked = [exactly(name).approx_n_unique().alias(f"n{place}") for place, name in enumerate(names)]
    row = source.plan.select(asked).collect(engine="streaming").row(0)
    return dict(zip(names, row, strict=True))


def exact_sums(
    source: Source, size: int, columns: Sequence[pl.Expr], known: Overview
) -> tuple[list[ColumnSums], Moments]:
    """The sums that the scale of the distances is made from, in whole numbers; and the moments, in the same pass."""
    width, sums = len(columns), _Sums(known)
    steps, squares = [0] * width, [0] * width
    for frame in source.slices(size, *columns):
        values = frame.drop_nulls().to_numpy()
        sums.add(values)
        for place in range(width):
            step = step_of(values[:, place], known.least[place], known.largest[place])
            high, low = step >> 14, step & (2**14 - 1)
            steps[place] += int(step.sum())
            # Products of halves: no sum of a slice can overflow.
            squares[place] += (
                (int((high * high).sum()) << 28) + (int((high * low).sum()) << 15) + int((low * low).sum())
            )
    columns_ = zip(known.least, known.largest, steps, squares, strict=True)
    return [ColumnSums(known.records, *about) for about in columns_], sums.moments()


def moments_after(source: Source, size: int, columns: Sequence[pl.Expr], known: Overview) -> Moments:
    """The moments of what is released."""
    sums = _Sums(known)
    for frame in source.slices(size, *columns):
        sums.add(numbers_of(frame, len(columns))[0])
    return sums.moments()
