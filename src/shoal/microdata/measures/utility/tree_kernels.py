"""Classification trees on binned columns: how they are grown and read."""

from typing import NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel


class Tree(NamedTuple):
    """Nodes in the order they were made: the column a node asks about (-1: a leaf), which bins go left, the node on the left
    (that on the right follows it), and the share of positive cases.
    """

    column: np.ndarray
    goes_left: np.ndarray
    left: np.ndarray
    share: np.ndarray


@kernel
def grow(bins, positive, rows, ordered, sizes, depth, fewest):  # type: ignore[no-untyped-def]
    """Grow a tree on some rows, by the largest fall of the Gini index.

    ``bins[i, c]`` is below ``sizes[c]``. Bins of a column that is not ``ordered`` are put in the order of their share of
    positive cases, which is as good as trying all ways to part them. At least ``fewest`` rows are left in a leaf.
    """
    columns = bins.shape[1]
    widest = sizes.max()
    most = 2 ** (depth + 1)
    asked = np.full(most, -1, dtype=np.int64)
    goes_left = np.zeros((most, widest), dtype=np.bool_)
    left = np.zeros(most, dtype=np.int64)
    share = np.zeros(most)
    begin, end, level = (
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
    )
    members = rows.copy()
    end[0] = members.shape[0]
    made, node = 1, 0
    count, hits = np.zeros(widest), np.zeros(widest)
    while node < made:
        size = end[node] - begin[node]
        right_ones = 0.0
        for place in range(begin[node], end[node]):
            right_ones += positive[members[place]]
        share[node] = right_ones / size if size else 0.5
        if level[node] == depth or size < 2 * fewest or right_ones == 0.0 or right_ones == size:
            node += 1
            continue
        best, best_column, best_upto = 1e-12, -1, 0
        best_order = np.arange(widest)
        whole = right_ones * right_ones / size
        for column in range(columns):
            wide = sizes[column]
            count[:wide] = 0.0
            hits[:wide] = 0.0
            for place in range(begin[node], end[node]):
                row = members[place]
                count[bins[row, column]] += 1.0
                hits[bins[row, column]] += positive[row]
            order = np.arange(wide)
            if not ordered[column]:
                order = np.argsort(hits[:wide] / np.maximum(count[:wide], 1.0), kind="mergesort")
            held, held_hits = 0.0, 0.0
            for upto in range(wide - 1):
                held += count[order[upto]]
                held_hits += hits[order[upto]]
                if held < fewest or size - held < fewest or count[order[upto]] == 0.0:
                    continue
                other = right_ones - held_hits
                gain = held_hits * held_hits / held + other * other / (size - held) - whole
                if gain > best * (1.0 + 1e-12):
                    best, best_column, best_upto = gain, column, upto
                    best_order[:wide] = order
        if best_column < 0:
            node += 1
            continue
        for upto in range(best_upto + 1):
            goes_left[node, best_order[upto]] = True
        asked[node] = best_column
        left[node] = made
        # The rows that go left come first, in the order they had.
        kept = members[begin[node] : end[node]].copy()
        place = begin[node]
        for row in kept:
            if goes_left[node, bins[row, best_column]]:
                members[place] = row
                place += 1
        middle = place
        for row in kept:
            if not goes_left[node, bins[row, best_column]]:
                members[place] = row
                place += 1
        begin[made], end[made], level[made] = begin[node], middle, level[node] + 1
        begin[made + 1], end[made + 1], level[made + 1] = middle, end[node], level[node] + 1
        made += 2
        node += 1
    return asked[:made], goes_left[:made], left[:made], share[:made]


@kernel
def read(tree, bins, rows):  # type: ignore[no-untyped-def]
    """The share of positive cases in the leaf of each row."""
    found = np.empty(rows.shape[0])
    for place in range(rows.shape[0]):
        node = 0
        while tree.column[node] >= 0:
            here = tree.goes_left[node, bins[rows[place], tree.column[node]]]
            node = tree.left[node] + (0 if here else 1)
        found[place] = tree.share[node]
    return found


def warm_up() -> None:
    """Compile the kernels."""
    bins = np.array([[0], [1], [0], [1]], dtype=np.int64)
    grown = Tree(
        *grow(
            bins,
            np.array([0.0, 1.0, 0.0, 1.0]),
            np.arange(4),
            np.array([False]),
            np.array([2], dtype=np.int64),
            2,
            1,
        )
    )
    read(grown, bins, np.arange(4))
