"""What a first pass over all records tells, and what cannot be protected by it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import InputError, parameter
from shoal.microdata.microaggregation.leaves.scale import units_of
from shoal.numbers import counted

if TYPE_CHECKING:
    from shoal.microdata.microaggregation.leaves.request import Request


@dataclass(frozen=True, eq=False)
class Overview:
    """Records that take part and those set aside, ranges of the columns, and what is kept beside them.

    ``distinct`` is about how many points there are, ``values`` about how many distinct values each kept column has;
    ``unchanged_sums`` are sums over the hashes of what is kept.
    """

    records: int
    set_aside: int
    distinct: int
    least: tuple[float, ...]
    largest: tuple[float, ...]
    values: Mapping[str, int]
    unchanged_sums: tuple[int, int]

    @property
    def varying(self) -> np.ndarray:
        """Which columns hold more than one value."""
        return np.array(self.least) < np.array(self.largest)

    @property
    def middle(self) -> np.ndarray:
        """The middle of each range."""
        return np.array(self.least) / 2 + np.array(self.largest) / 2

    @property
    def units(self) -> np.ndarray:
        """In what the values of each column are told where sums of squares are taken."""
        return units_of(self.least, self.largest)


def check_records(
    request: "Request",
    records: int,
    complete: int,
    *,
    gaps: Sequence[int],
    endless: Sequence[int],
    sizes: Sequence[float],
) -> None:
    """An ``InputError`` for records that cannot be protected.

    ``gaps`` and ``endless`` count missing and infinite values by column, ``sizes`` are the largest absolute values.
    """
    names, aside = request.columns, records - complete
    if not records:
        raise InputError("there are no records")
    for name, count in zip(names, endless, strict=True):
        if count:
            raise InputError(f"column '{name}' holds {count} infinite values; remove or recode them")
    if any(gaps) and request.missing != "aside":
        told = ", ".join(f"{name} ({count})" for name, count in zip(names, gaps, strict=True) if count)
        raise InputError(
            f"{counted(aside, 'record has', 'records have')} missing values, in {told}; choose "
            f"{parameter('missing', 'aside')} (not released)"
        )
    if not complete:
        raise InputError("every record has a missing value in the columns to protect")
    if request.k > complete:
        others = counted(aside, "other with missing values is", "others with missing values are")
        raise InputError(
            f"k is {request.k}, but there are only {counted(complete, 'record')}"
            + (f"; {others} set aside" if aside else "")
        )
    most = np.finfo(float).max / (8.0 * complete)
    for name, size in zip(names, sizes, strict=True):
        if size > most:
            raise InputError(
                f"column '{name}' holds values beyond {most:.0e}, too large to be added up; give it another unit"
            )


def check_units(request: "Request", units: int) -> None:
    """An ``InputError`` if there are fewer than k units; more than k need not be told."""
    if units < request.k:
        raise InputError(
            f"k is {request.k}, but the records are those of only {units} distinct values of '{request.unit}'"
        )


def check_strata(request: "Request", strata: int, small: int, least: int) -> None:
    """An ``InputError`` if some strata have fewer than k records, or units."""
    if small:
        what = "records" if request.unit is None else f"distinct values of '{request.unit}'"
        raise InputError(
            f"{small} of {strata} strata by {', '.join(request.by)} have fewer than k = {request.k} {what}, the "
            f"smallest {least}"
        )
