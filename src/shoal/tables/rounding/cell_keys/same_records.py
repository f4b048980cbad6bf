"""What figures tell that differ: cells with the same records have the same key, and so the same figure.

Where a total and one of its parts show different figures, there are records in its other parts. Whoever knows the method knows
that, and an empty cell beside them is excluded.
"""

from dataclasses import replace

import numpy as np

from shoal.tables.model.table import Table
from shoal.tables.problem import Problem


def with_others(attack: Problem, published: np.ndarray) -> Problem:
    """The attacker's table with a cell for what is beside a part, at least 1, where its figure is not that of the total.

    The cells of the table itself come first. Where some other part is known to have records nothing is added.
    """
    table = attack.table
    low = attack.low.copy()
    told = _partings(table, published, low)
    for _, _, others in told:
        if others.size == 1:
            low[others] = np.maximum(low[others], 1.0)
    told = [item for item in told if item[2].size > 1 and low[item[2]].sum() < 1.0]
    if not told:
        return replace(attack, low=np.minimum(low, table.values))
    wide = _wider(table, told)
    more = len(told)
    return replace(
        attack,
        table=wide,
        low=np.minimum(np.concatenate([low, np.ones(more)]), wide.values),
        high=np.concatenate([attack.high, np.full(more, np.inf)]),
        cost=np.concatenate([attack.cost, np.zeros(more)]),
        candidates=np.concatenate([attack.candidates, np.ones(more, dtype=bool)]),
    )


_Parting = tuple[int, int, np.ndarray]


def _partings(table: Table, published: np.ndarray, low: np.ndarray) -> "list[_Parting]":
    """Relation, part and the other parts, wherever the figures of total and part say that the others are not all empty."""
    found: list[_Parting] = []
    for place in range(table.relations):
        members, signs = table.relation(place), table.signs_of(place)
        total, parts = members[signs < 0], members[signs > 0]
        if total.size != 1 or parts.size < 2:
            continue
        known = int((low[parts] >= 1.0).sum())
        differ = (published[parts] != published[total[0]]) & (known - (low[parts] >= 1.0) == 0)
        found += [(place, part, parts[parts != part]) for part in parts[differ].tolist()]
    return found


def _wider(table: Table, partings: "list[_Parting]") -> Table:
    """The table with a cell for the others of each part: the total is the part and them, and they are what they add up to."""
    relations = [
        list(zip(table.relation(place).tolist(), table.signs_of(place).tolist(), strict=True))
        for place in range(table.relations)
    ]
    values = table.values.tolist()
    split: set[int] = set()
    for place, part, others in partings:
        total = int(table.relation(place)[table.signs_of(place) < 0][0])
        cell = len(values)
        values.append(float(table.values[others].sum()))
        relations.append([(part, 1.0), (cell, 1.0), (total, -1.0)])
        if place not in split:
            # Not one more relation of the same cells: what was a network stays one.
            relations[place] = [*((int(other), 1.0) for other in others), (cell, -1.0)]
            split.add(place)
    keys = {
        name: np.concatenate([codes, np.array(["others"] * len(partings), dtype=object)])
        for name, codes in table.keys.items()
    }
    return Table.from_relations(values, relations, keys)
