"""From a solution to released columns: what every record shows of its keys."""

import numpy as np
import polars as pl

from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.solution import Recoding


def piece_of_records(problem: Problem, solution: Recoding, turns: np.ndarray | None = None) -> np.ndarray:
    """The piece of every record; of a tuple in several pieces the records whose ``turns`` come first are in the first.

    >>> ages = Hierarchy([("31", "30-39"), ("38", "30-39")])
    >>> problem = Problem.of([np.array([1, 0, 1])], [ages], k=1)
    >>> pieces = dict(tuples=np.array([0, 1, 1]), records=np.array([1, 1, 1]), levels=np.array([[0], [1], [0]]))
    >>> piece_of_records(problem, Recoding(value=0.0, released=np.ones(3, dtype=bool), **pieces)).tolist()
    [1, 0, 2]
    """
    assert problem.tuple_of is not None
    by_tuple = np.argsort(solution.tuples, kind="stable")
    # Records in the order of their tuples meet the pieces in the order of theirs.
    turns = np.zeros(problem.tuple_of.size) if turns is None else turns
    records = np.lexsort((turns, problem.tuple_of))
    pieces = np.empty(records.size, dtype=np.int64)
    pieces[records] = np.repeat(by_tuple, solution.records[by_tuple])
    return pieces


def released_column(name: str, hierarchy: Hierarchy, leaves: np.ndarray, levels: np.ndarray) -> pl.Series:
    """The labels of the records of one column."""
    labels = [label for number in range(hierarchy.height + 1) for label in hierarchy.labels[number]]
    starts = np.cumsum([0, *[len(level) for level in hierarchy.labels[:-1]]])
    index = starts[levels] + hierarchy.nodes[levels, leaves]
    return pl.Series(name, labels, dtype=pl.String).gather(index)


def identities(hierarchy: Hierarchy) -> tuple[np.ndarray, int]:
    """A number for the set of values over each leaf at each level, and how many there are; equal sets have one number."""
    seen: dict[tuple[int, int], int] = {}
    numbers = np.empty(hierarchy.nodes.shape, dtype=np.int32)
    for level, nodes in enumerate(hierarchy.nodes):
        firsts = np.flatnonzero(np.diff(nodes, prepend=-1))
        own = [
            seen.setdefault((int(first), int(size)), len(seen))
            for first, size in zip(firsts, hierarchy.sizes[level], strict=True)
        ]
        numbers[level] = np.array(own, dtype=np.int32)[nodes]
    return numbers, len(seen)


def piece_keys(problem: Problem, solution: Recoding) -> tuple[np.ndarray, np.ndarray]:
    """For every piece the numbers of the sets of values it shows, and how many sets each column has."""
    columns, cards = [], []
    for column, hierarchy in enumerate(problem.hierarchies):
        numbers, card = identities(hierarchy)
        columns.append(numbers[solution.levels[:, column], problem.keys[solution.tuples, column]])
        cards.append(card)
    return np.ascontiguousarray(np.stack(columns, axis=1)), np.array(cards, dtype=np.int64)
