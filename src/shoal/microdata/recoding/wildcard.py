"""Blanks that match anything, as sdcMicro counts them: fewer are needed, and they protect less.

A wholly blank record matches everybody, so k − 1 of them satisfy this count for any data. It is offered for those who need
it; K is told both ways.
"""

from dataclasses import replace

import numpy as np

from shoal.errors import InputError, parameter
from shoal.microdata.recoding.all_losses import measured_losses
from shoal.microdata.recoding.loss_tables import Loss
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.release import piece_keys
from shoal.microdata.recoding.solution import Recoding
from shoal.microdata.recoding.wildcard_kernels import take_back

# Every pair of pieces is compared for every blank.
_MOST_PIECES = 20_000


def check_wildcard(problem: Problem, traits: frozenset[str]) -> None:
    """An ``InputError`` for what cannot be judged where classes overlap."""
    if problem.models:
        raise InputError(
            f"with {parameter('null', 'wildcard')} records have matches, not classes, which models are about; "
            f"leave out {parameter('models')}, or count blanks as values"
        )
    if "mixed" in traits:
        raise InputError(
            f"{parameter('null', 'wildcard')} is about blanks, which this method does not write alone"
        )
    if problem.spread is not None or problem.keep_suppressed or (problem.people != problem.records).any():
        raise InputError(
            f"{parameter('null', 'wildcard')} counts records of one unit each that are released with their keys"
        )


def with_wildcards(problem: Problem, solution: Recoding) -> Recoding:
    """The same release with blanks taken back as long as everybody matches k people; dearest blanks first.

    >>> from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
    >>> sexes, ages = Hierarchy([("f",), ("m",)]), Hierarchy([("31",), ("38",)])
    >>> problem = Problem.of([np.array([0, 0, 1]), np.array([0, 1, 0])], [sexes, ages], k=2, measure="cells")
    >>> strict = Recoding(value=4.0, tuples=np.arange(3), records=np.ones(3, dtype=int),
    ...                   levels=np.array([[0, 1], [0, 1], [1, 0]]), released=np.ones(3, dtype=bool))
    >>> int((with_wildcards(problem, strict).levels == 1).sum())
    2
    """
    kept = np.flatnonzero(solution.released)
    if kept.size > _MOST_PIECES:
        return solution
    # What is not blank is released at these levels; a key that nobody shows has none to go back to.
    heights, base = np.array(problem.heights), solution.levels[kept].min(axis=0).astype(np.int64)
    blank = (solution.levels[kept] == heights) & (base < heights)
    labels, _ = piece_keys(problem, replace(solution, levels=np.tile(base, (solution.tuples.size, 1))))
    costs = _costs(problem, solution, base)[kept] * solution.records[kept, None]
    cells = np.flatnonzero(blank.ravel())
    order = cells[np.argsort(-costs.ravel()[cells], kind="stable")]
    stay = take_back(labels[kept].astype(np.int64), blank, solution.records[kept], order, problem.k)
    levels = solution.levels.copy()
    levels[kept] = np.where(blank & ~stay, base, levels[kept])
    changed = replace(solution.without_proof(), levels=levels, uniform=None)
    return replace(changed, value=measured_losses(problem, changed)[problem.measure])


def _costs(problem: Problem, solution: Recoding, base: np.ndarray) -> np.ndarray:
    """What a blank in each key costs a record of each piece."""
    loss = Loss(problem)
    columns = []
    for column, hierarchy in enumerate(problem.hierarchies):
        low = int(base[column])
        nodes = hierarchy.nodes[low][problem.keys[solution.tuples, column]]
        columns.append(loss.tables[column][-1][0] - loss.tables[column][low][nodes])
    return np.stack(columns, axis=1)
