"""Unions of areas that differ from areas of another table by a small count.

An area that lies across two others lies in their union as a whole. So whoever adds up the published areas S of one breakdown,
and takes away the areas T of the other that lie in S as a whole, knows how many people live in the rest. Whether some S and T
leave a count from 1 to n − 1 is an integer programme: t ≤ s for each area of T and each one of S that it meets, 1 ≤ v ≤ n − 1.
Where cells are hidden, v is not a figure but an interval. That everybody can compute both of its ends from what is shown is, by
the duality of linear programmes, a condition with multipliers of the relations, and so the programme stays linear.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.runtime.linear_programmes import is_optimal, programme, quiet_highs
from shoal.tables.public_table import TOTAL, Key, Look, PublicTable, Relation, go_on

# A search of one slice ends with so many unions, and so many nodes of the integer programme for each.
_MOST = 20
_NODES = 5_000
# Ends of intervals are computed: what is less than this away from a whole number is one.
_NEAR = 1e-2


@dataclass(frozen=True)
class Choice:
    """What can be added up in one slice: the cells of ``wholes``, less those of ``parts``, each with the wholes it meets."""

    wholes: tuple[Key, ...]
    parts: Mapping[Key, tuple[int, ...]]


@dataclass(frozen=True)
class SmallUnion:
    """Areas added up, and those taken away from them: what is left is a small count."""

    wholes: tuple[Key, ...]
    parts: tuple[Key, ...]


@dataclass(frozen=True)
class SmallUnions:
    """The smallest such unions; ``complete`` if there are no others but those that contain one of them."""

    smallest: tuple[SmallUnion, ...]
    complete: bool


def small_unions(
    table: PublicTable,
    choices: Sequence[Choice],
    below: int,
    known: Sequence[frozenset[Key]] = (),
    look: Look = go_on,
) -> SmallUnions:
    """The smallest unions in every slice that leave a count from 1 to ``below`` − 1; none that contains one of ``known``.

    >>> cells = {("d1", "total"): 9.0, ("d2", "total"): 8.0, ("total", "g1"): 5.0, ("total", "g2"): 11.0}
    >>> choice = Choice((("d1", "total"), ("d2", "total")), {("total", "g1"): (0,), ("total", "g2"): (0, 1)})
    >>> small_unions(PublicTable(("d", "g"), cells, ()), [choice], 3).smallest[0].parts
    (('total', 'g1'), ('total', 'g2'))
    """
    found: list[SmallUnion] = []
    complete = True
    for choice in choices:
        own, ended = _of_slice(table, choice, below, known, look)
        found += own
        complete = complete and ended
    return SmallUnions(tuple(found), complete)


def _of_slice(
    table: PublicTable, choice: Choice, below: int, known: Sequence[frozenset[Key]], look: Look
) -> tuple[list[SmallUnion], bool]:
    place = {key: number for number, key in enumerate(choice.wholes)}
    search = _Search(table, choice, below)
    for areas in known:
        if areas <= place.keys():
            search.without([place[key] for key in areas])
    found: list[SmallUnion] = []
    while len(found) < _MOST:
        look()
        chosen = search.next()
        if chosen is None:
            return found, search.complete
        wholes, parts = chosen
        search.without(wholes)
        item = SmallUnion(
            tuple(choice.wholes[number] for number in wholes), tuple(list(choice.parts)[n] for n in parts)
        )
        # The search computes with tolerances; what it finds is computed anew.
        if is_small(table, item, below):
            found.append(item)
    return found, False


def is_small(table: PublicTable, item: SmallUnion, below: int) -> bool:
    """Whether everybody knows that what is left is a count of at least 1 and below the limit."""
    figures = [table.cells[key] for key in (*item.wholes, *item.parts)]
    if None not in figures:
        signs = [1.0] * len(item.wholes) + [-1.0] * len(item.parts)
        return bool(1 <= round(float(np.dot(signs, np.array(figures, dtype=float)))) < below)
    added, left = ("added up",) * len(table.dimensions), ("what is left",) * len(table.dimensions)
    wider = replace(
        table,
        cells={**table.cells, added: None, left: None},
        relations=(
            *table.relations,
            Relation(added, item.wholes),
            Relation(added, (*item.parts, left)),
        ),
    )
    ends = wider.intervals(of=[left])
    assert ends is not None
    return bool(np.ceil(ends[left][0] - 1e-6) >= 1 and np.floor(ends[left][1] + 1e-6) < below)


class _Search:
    """The integer programme of one slice: columns are the wholes, the parts, and multipliers of the relations twice."""

    def __init__(self, table: PublicTable, choice: Choice, below: int) -> None:

        cells = [*choice.wholes, *choice.parts]
        signs = [1.0] * len(choice.wholes) + [-1.0] * len(choice.parts)
        wholes = len(choice.wholes)
        hidden = [key for key in cells if table.cells[key] is None]
        system = _system(table, hidden)
        first, second = len(cells), len(cells) + len(system.right)
        rows: list[dict[int, float]] = []
        ends: list[tuple[float, float]] = []
        touching: dict[int, list[int]] = {number: [] for number in range(wholes)}
        for number, (key, meets) in enumerate(choice.parts.items(), wholes):
            for whole in meets:
                touching[whole].append(number)
                rows.append({number: 1.0, whole: -1.0})
                ends.append((-np.inf, 0.0))
            if table.cells[key] is not None:
                # Leaving out a figure that is shown tells nothing new.
                rows.append({number: 1.0, **dict.fromkeys(meets, -1.0)})
                ends.append((1.0 - len(meets), np.inf))
        for whole, parts in touching.items():
            if table.cells[choice.wholes[whole]] is not None:
                # Adding a figure that is shown, and taking nothing away from it, tells nothing new; a hidden one may.
                rows.append({whole: -1.0, **dict.fromkeys(parts, 1.0)})
                ends.append((0.0, np.inf))
        rows.append(dict.fromkeys(range(wholes, len(cells)), 1.0))
        ends.append((1.0, np.inf))
        column = {key: number for number, key in enumerate(cells)}
        # Multipliers of which the sum is at least the coefficient of each hidden cell, and others of which it is at most.
        for start, low, high in ((first, 0.0, np.inf), (second, -np.inf, 0.0)):
            for key, own in system.columns.items():
                row = {start + number: sign for number, sign in own}
                if key in column:
                    row[column[key]] = -signs[column[key]]
                rows.append(row)
                ends.append((low, high))
        shown = {
            number: sign * float(table.cells[key] or 0.0)
            for number, (key, sign) in enumerate(zip(cells, signs, strict=True))
            if table.cells[key] is not None
        }
        for start, limits in ((first, (-np.inf, below - _NEAR)), (second, (_NEAR, np.inf))):
            rows.append({**shown, **{start + number: right for number, right in enumerate(system.right)}})
            ends.append(limits)
        size = second + len(system.right)
        cost = np.zeros(size)
        cost[:wholes] = 1.0
        lower, upper = np.full(size, -np.inf), np.full(size, np.inf)
        lower[:first], upper[:first] = 0.0, 1.0
        starts = np.cumsum([0, *(len(row) for row in rows)])
        index = np.array([number for row in rows for number in row], dtype=np.int64)
        value = np.array([item for row in rows for item in row.values()])
        sides = np.array(ends).T
        kinds = np.arange(size) < first
        model = programme(cost, lower, upper, (starts, index, value), sides[0], sides[1], whole=kinds)
        self._solver = quiet_highs(model, mip_rel_gap=0.0, mip_abs_gap=0.5, mip_max_nodes=_NODES)
        self._wholes, self._cells = wholes, first
        self.complete = True

    def next(self) -> tuple[list[int], list[int]] | None:
        """Numbers of the wholes and of the parts; ``None`` if there are none, or none within so many nodes."""
        import highspy

        self._solver.run()
        statuses = highspy.HighsModelStatus
        if not is_optimal(self._solver):
            self.complete = self._solver.getModelStatus() == statuses.kInfeasible
            return None
        values = np.array(self._solver.getSolution().col_value)
        taken = np.flatnonzero(values[: self._cells] > 0.5)
        return taken[taken < self._wholes].tolist(), (taken[taken >= self._wholes] - self._wholes).tolist()

    def without(self, wholes: Sequence[int]) -> None:
        """Look for no union that has all of these from now on."""
        self._solver.addRow(
            -np.inf, len(wholes) - 1.0, len(wholes), np.array(wholes, np.int32), np.ones(len(wholes))
        )


@dataclass(frozen=True)
class _System:
    """Relations between hidden cells: for each of them its relations with signs, and what each relation comes to."""

    columns: Mapping[Key, list[tuple[int, float]]]
    right: list[float]


def _system(table: PublicTable, wanted: Sequence[Key]) -> _System:
    """The relations that say something of some hidden cells, directly or through others."""
    touching: dict[Key, list[Relation]] = {}
    for relation in table.relations:
        every = (relation.total, *relation.parts)
        if all(key in table.cells for key in every):
            for key in every:
                if table.cells[key] is None:
                    touching.setdefault(key, []).append(relation)
    reached = dict.fromkeys(wanted)
    queue = list(wanted)
    chosen: dict[Relation, int] = {}
    while queue:
        for relation in touching.get(queue.pop(), []):
            if relation in chosen:
                continue
            chosen[relation] = len(chosen)
            for key in (relation.total, *relation.parts):
                if table.cells[key] is None and key not in reached:
                    reached[key] = None
                    queue.append(key)
    columns: dict[Key, list[tuple[int, float]]] = {key: [] for key in reached}
    right = []
    for relation, number in chosen.items():
        signed = [(relation.total, -1.0), *((key, 1.0) for key in relation.parts)]
        for key, sign in signed:
            if table.cells[key] is None:
                columns[key].append((number, sign))
        right.append(-sum(sign * float(table.cells[key] or 0.0) for key, sign in signed))
    return _System(columns, right)


def choices_of(
    table: PublicTable, part: str, whole: str, meets: Mapping[str, tuple[str, ...]]
) -> Iterator[Choice]:
    """For every cell of the other dimensions, the areas of both that can be added up; ``meets`` has those a part lies in.

    Of areas that contain each other only the smallest are taken, so that nobody is counted twice.
    """
    inner, outer = table.dimensions.index(part), table.dimensions.index(whole)

    def at(key: Key, dimension: int, code: str) -> Key:
        return (*key[:dimension], code, *key[dimension + 1 :])

    wanted = {code for every in meets.values() for code in every}
    slices: dict[Key, list[Key]] = {}
    for key in table.cells:
        if key[outer] in wanted and (inner == outer or key[inner] == TOTAL):
            slices.setdefault(at(key, outer, TOTAL), []).append(key)
    below: dict[Key, list[Key]] = {}
    for relation in table.relations:
        below.setdefault(relation.total, []).extend(relation.parts)
    for other, keys in slices.items():
        wholes = _lowest(keys, below)
        place = {key[outer]: number for number, key in enumerate(wholes)}
        listed = [
            key
            for code, every in meets.items()
            if (key := at(other, inner, code)) in table.cells and all(one in place for one in every)
        ]
        parts = {key: tuple(place[one] for one in meets[key[inner]]) for key in _lowest(listed, below)}
        if parts:
            yield Choice(tuple(wholes), parts)


def _lowest(keys: Sequence[Key], below: Mapping[Key, Sequence[Key]]) -> list[Key]:
    """Those of the cells of which no other one is a part."""
    wanted = set(keys)

    def has_part(key: Key) -> bool:
        queue, seen = list(below.get(key, ())), set()
        while queue:
            part = queue.pop()
            if part in wanted and part != key:
                return True
            if part not in seen:
                seen.add(part)
                queue += below.get(part, ())
        return False

    return [key for key in keys if not has_part(key)]
