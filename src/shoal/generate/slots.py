"""Invented appointment slots with enough room for everybody."""

from typing import TYPE_CHECKING

from shoal.errors import InputError
from shoal.generate.limits import check_count
from shoal.runtime.seeds import Seeds

if TYPE_CHECKING:
    import polars as pl


def slots(
    count: int,
    persons: int,
    *,
    min_capacity: int = 10,
    max_capacity: int = 25,
    seeds: Seeds | None = None,
) -> "pl.DataFrame":
    """A table of slots, ``RESOURCE`` from 0 and ``CAPACITY``, as the prototype of Cabana Ramírez (2016) makes it.

    Capacities are uniform in their range. When even full slots could not hold everybody there are more slots than
    asked for; when the slots drawn cannot, slots taken at random are enlarged up to ``max_capacity`` until they do.

    >>> table = slots(5, 100, seeds=Seeds(1))
    >>> table.columns, table.height, int(table["CAPACITY"].sum()) >= 100
    (['RESOURCE', 'CAPACITY'], 5, True)
    >>> slots(2, 100).height
    4
    """
    import numpy as np
    import polars as pl

    check_count("the number of slots", count)
    check_count("the number of persons", persons, least=0)
    check_count("the largest capacity", max_capacity)
    if not 1 <= min_capacity <= max_capacity:
        raise InputError(f"capacities must be a range from 1 up, not {min_capacity} to {max_capacity}")
    generator = (seeds or Seeds()).child("capacity").generator()
    count = max(count, -(-persons // max_capacity))
    capacities = generator.integers(min_capacity, max_capacity, count, endpoint=True)
    lacking = persons - int(capacities.sum())
    if lacking > 0:
        order = generator.permutation(count)
        room = max_capacity - capacities[order]
        before = np.cumsum(room) - room
        capacities[order] += np.clip(lacking - before, 0, room)
    return pl.DataFrame({"RESOURCE": np.arange(count, dtype=np.int64), "CAPACITY": capacities})
