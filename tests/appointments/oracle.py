"""Slow and obvious: every assignment there is. The judge of the fast code."""

from itertools import product

import numpy as np

from shoal.appointments.problem import Problem


def splits(total, caps, allowed):
    """All ways to put ``total`` people into slots."""
    if not caps:
        return [[]] if total == 0 else []
    found = []
    for first in range(min(total, caps[0]) if allowed[0] else 0, -1, -1):
        found += [[first, *rest] for rest in splits(total - first, caps[1:], allowed[1:])]
    return found


def every_matrix(problem):
    """All assignments of a small problem."""

    def extend(row, caps):
        if row == problem.rows:
            yield []
            return
        for split in splits(int(problem.sizes[row]), caps, problem.eligible[row].tolist()):
            left = [cap - used for cap, used in zip(caps, split)]
            for rest in extend(row + 1, left):
                yield [split, *rest]

    yield from extend(0, problem.capacities.tolist())


def cell_sizes(problem, rows):
    """Sorted sizes of the occupied cells, computed the long way round; ``None`` if a cell is not diverse enough."""
    cells, kinds = {}, {}
    for crowd, label in product(range(problem.pinned.shape[0]), range(problem.pinned.shape[1])):
        if problem.pinned[crowd, label]:
            cells[crowd, label] = int(problem.pinned[crowd, label])
            kinds[crowd, label] = {
                kind
                for kind in range(problem.pinned_kinds.shape[2])
                if problem.pinned_kinds[crowd, label, kind]
            }
    touched = set()
    for row, slot in product(range(problem.rows), range(problem.slots)):
        if rows[row][slot]:
            place = int(problem.crowds[row]), int(problem.labels[slot])
            cells[place] = cells.get(place, 0) + rows[row][slot]
            kinds.setdefault(place, set()).add(int(problem.kinds[row]))
            touched.add(place)
    if problem.diversity > 1:
        owned = {}
        for row in range(problem.rows):
            owned.setdefault(int(problem.crowds[row]), set()).add(int(problem.kinds[row]))
        for (crowd, _), found in kinds.items():
            owned.setdefault(crowd, set()).update(found)
        for crowd, label in touched:
            if len(kinds[crowd, label]) < min(problem.diversity, len(owned[crowd])):
                return None
    return sorted(cells.values())


# Every method is asked about the same problems, and this asks for nothing but the problem.
_KNOWN = {}


def best_of_all(problem):
    """(best K, sorted cells of the best vector); ``None`` if no assignment obeys all rules. Looked for once."""
    arrays = (
        *(problem.sizes, problem.capacities, problem.crowds, problem.labels, problem.eligible),
        *(problem.pinned, problem.kinds, problem.pinned_kinds),
    )
    asked = (problem.diversity, *((array.shape, array.dtype.str, array.tobytes()) for array in arrays))
    if asked not in _KNOWN:
        _KNOWN[asked] = _best_of_all(problem)
    return _KNOWN[asked]


def _best_of_all(problem):
    best_k, best_cells = 0, None
    for rows in every_matrix(problem):
        cells = cell_sizes(problem, rows)
        if cells is None:
            continue
        best_k = max(best_k, cells[0])
        if best_cells is None or cells > best_cells:
            # With the same number of people, larger at the first difference is the smaller anonymity vector.
            best_cells = cells
    return (best_k, best_cells) if best_cells else None


def random_plain(generator, *, objective="k", most_groups=4, most_slots=4, most_people=12):
    """A small random problem of sizes and capacities."""
    while True:
        sizes = generator.integers(1, 7, generator.integers(1, most_groups + 1))
        capacities = generator.integers(1, 8, generator.integers(1, most_slots + 1))
        if sizes.sum() <= min(capacities.sum(), most_people):
            return Problem(sizes, capacities, objective)


def random_general(generator, *, objective="k", diverse=False):
    """A small random problem with crowds of several rows, shared labels, eligibility, pinned people and kinds."""
    from shoal.errors import Infeasible

    while True:
        rows, slots = int(generator.integers(1, 5)), int(generator.integers(2, 5))
        crowds = np.unique(generator.integers(0, rows, rows), return_inverse=True)[1]
        labels = np.unique(generator.integers(0, slots, slots), return_inverse=True)[1]
        shape = (int(crowds.max()) + 1, int(labels.max()) + 1)
        pinned = generator.integers(0, 4, shape) * (generator.random(shape) < 0.25)
        kinds = generator.integers(0, 3, rows) if diverse else None
        pinned_kinds = None
        if diverse:
            # At least as many people as kinds, and at least one kind where somebody is pinned.
            pinned_kinds = np.zeros((*shape, 3), bool)
            for crowd, label in zip(*np.nonzero(pinned)):
                for kind in generator.integers(0, 3, pinned[crowd, label]):
                    pinned_kinds[crowd, label, kind] = True
        try:
            return Problem(
                generator.integers(1, 5, rows),
                generator.integers(1, 6, slots),
                objective,
                crowds=crowds,
                labels=labels,
                eligible=generator.random((rows, slots)) < 0.75,
                pinned=pinned,
                kinds=kinds,
                pinned_kinds=pinned_kinds,
                diversity=2 if diverse else 1,
            )
        except Infeasible:
            continue
