"""Tables of two periods of which everybody knows that little changed: one system, in which the same cell ties both.

No figure changed by more than a share of itself, whichever period it is counted from. So of a cell that one table shows the other
has bounds, and of a cell that both hide each figure is at most so much larger than the other.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.tables.public_table import Key, Look, PublicTable, Relation, Tie, go_on
from shoal.tables.safety.judging import Shown, within_over

_NEAR = 1e-9


def moved_further(tables: Sequence[PublicTable], change: float) -> int:
    """How many figures that both show changed by more than this share, counted from the one that is nearer to 0.

    >>> last, now = (PublicTable(("a",), {("x",): value, ("y",): 5.0}, ()) for value in (10.0, 50.0))
    >>> moved_further([last, now], 0.9), moved_further([last, now], 4.0)
    (1, 0)
    """
    pairs = [
        (one, two)
        for key, one in tables[0].cells.items()
        if one is not None and (two := tables[1].cells.get(key)) is not None
    ]
    off = 2.0 * sum(table.slack for table in tables)
    return sum(abs(one - two) > change * min(abs(one), abs(two)) * (1 + _NEAR) + off for one, two in pairs)


def around(value: float, change: float, slack: float = 0.0, *, signed: bool = False) -> tuple[float, float]:
    """What a figure may be if the other one, which may be off by ``slack``, is at most so much of it away, and it of the other.

    >>> around(6.0, 0.5), around(-6.0, 0.5, signed=True), around(6.0, 2.0, signed=True)
    ((4.0, 9.0), (-9.0, -4.0), (-6.0, 18.0))
    """
    low, high = value - slack, value + slack
    if signed and change >= 1.0:
        # It may have another sign, and then nothing keeps it away from 0.
        away = change * max(abs(low), abs(high))
        return low - away, high + away
    more = 1.0 + change
    return low / more if low > 0 else low * more, high * more if high > 0 else high / more


def intervals_of_periods(
    shown: tuple[Shown, Shown], tables: Sequence[PublicTable], change: float, look: Look = go_on
) -> list[Mapping[Key, tuple[float, float]]] | None:
    """What everybody can narrow the hidden cells of each of them down to; ``None`` if no figures fit."""
    both = PublicTable(
        (*tables[0].dimensions, "period"),
        {(*key, period): value for period, table in _periods(tables) for key, value in table.cells.items()},
        tuple(
            Relation((*item.total, period), tuple((*part, period) for part in item.parts))
            for period, table in _periods(tables)
            for item in table.relations
        ),
        slack=max(table.slack for table in tables),
    )
    anyway = [within_over([own], table) for own, table in zip(shown, tables, strict=True)]
    low = min((low for _, low in anyway if low is not None), default=None)
    # Figures of either sign may change by any share of what is hidden.
    signed = (
        low is not None or min((value for value in both.cells.values() if value is not None), default=0.0) < 0
    )
    bounds: dict[Key, tuple[float, float]] = {}
    for (known, _), other, (period, table) in zip(anyway, tables[::-1], _periods(tables), strict=True):
        for key in table.hidden:
            least, most = known.get(key, (-np.inf, np.inf))
            value = other.cells.get(key)
            if value is not None:
                ends = around(value, change, other.slack, signed=signed)
                least, most = max(least, ends[0]), min(most, ends[1])
            bounds[(*key, period)] = least, most
    ties = (
        []
        if signed
        else [
            Tie((*key, one), (*key, two), 1.0 + change)
            # In the order of the table: what a solver finds in its last digits depends on that of its rows.
            for key in tables[0].hidden
            if key in tables[1].cells and tables[1].cells[key] is None
            for one, two in (("0", "1"), ("1", "0"))
        ]
    )
    found = both.intervals(low, bounds=bounds, ties=ties, look=look)
    if found is None:
        return None
    return [{key: found[*key, period] for key in table.hidden} for period, table in _periods(tables)]


def _periods(tables: Sequence[PublicTable]) -> list[tuple[str, PublicTable]]:
    return [(str(place), table) for place, table in enumerate(tables)]
