"""The resumable row generator of the exhaustive search, and the search itself, as kernels.

The search of Moro Lías (2024, chapter 4) fixes the seats of one group after the other. Its program starts each row
again from the first possibility and remembers every prefix it has seen; going on from the last row visits exactly the same
nodes without either.
"""

import numpy as np

from shoal.runtime.kernels import kernel

# Fields of the state that is kept between calls.
DEPTH, BEST, NODES, FRESH, OVER = 0, 1, 2, 3, 4


@kernel
def next_row(row: np.ndarray, caps: np.ndarray, total: int, beat: int, fresh: bool) -> bool:
    """The next way to seat a group, in falling lexicographic order, with every piece above ``beat``.

    Begins with the first when ``fresh``, else after the one in ``row``, which is overwritten. Returns whether there is one.
    """
    slots = row.size
    later = np.zeros(slots + 1, np.int64)
    for j in range(slots - 1, -1, -1):
        later[j] = later[j + 1] + caps[j]
    if fresh:
        at, left = 0, total
        x = min(left, caps[0])
    else:
        # Pieces placed earlier may have become too small for the incumbent found since.
        at, left = 0, total
        while at < slots - 1 and (row[at] == 0 or row[at] > beat):
            left -= row[at]
            at += 1
        x = np.int64(0) if 0 < row[at] <= beat else row[at] - 1
    while True:
        if 0 < x <= beat:
            x = np.int64(0)
        if x < 0 or left - x > later[at + 1]:
            # Too little here cannot be made up for later: go back one place.
            at -= 1
            if at < 0:
                return False
            left += row[at]
            x = row[at] - 1
            continue
        rest = left - x
        row[at] = x
        if rest == 0:
            for j in range(at + 1, slots):
                row[j] = 0
            return True
        if rest <= beat or at == slots - 1:
            x -= 1
            continue
        left = rest
        at += 1
        x = min(left, caps[at])


@kernel
def search(
    sizes: np.ndarray,
    capacities: np.ndarray,
    bound: int,
    rows: np.ndarray,
    best: np.ndarray,
    state: np.ndarray,
    nodes: int,
) -> int:
    """Visit up to ``nodes`` further nodes; ``state`` and ``rows`` say where the search stands. Returns those visited.

    Ends when the incumbent reaches ``bound`` or nothing is left; ``state[OVER]`` is then 1 or 2.
    """
    groups, slots = rows.shape
    visited = 0
    caps = np.empty(slots, np.int64)
    while visited < nodes and state[OVER] == 0:
        depth = state[DEPTH]
        if state[BEST] >= bound:
            state[OVER] = 1
            break
        smallest = np.int64(2**62)
        for j in range(slots):
            caps[j] = capacities[j]
        for i in range(depth):
            for j in range(slots):
                x = rows[i, j]
                if x > 0:
                    caps[j] -= x
                    smallest = min(smallest, x)
        found = False
        if depth == 0 or smallest > state[BEST]:
            found = next_row(rows[depth], caps, sizes[depth], state[BEST], state[FRESH] == 1)
        if not found:
            if depth == 0:
                state[NODES] += 1  # the root itself counts once everything below it is done
                state[OVER] = 2
                break
            state[DEPTH] = depth - 1
            state[FRESH] = 0
            continue
        visited += 1
        state[NODES] += 1
        for j in range(slots):
            if rows[depth, j] > 0:
                smallest = min(smallest, rows[depth, j])
        if depth == groups - 1:
            if smallest > state[BEST]:
                state[BEST] = smallest
                best[:] = rows
            state[FRESH] = 0
        else:
            state[DEPTH] = depth + 1
            state[FRESH] = 1
    if state[OVER] == 0 and state[BEST] >= bound:
        state[OVER] = 1
    return visited
