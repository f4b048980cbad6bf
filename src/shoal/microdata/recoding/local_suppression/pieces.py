"""An assignment told as pieces of the problem's tuples."""

from typing import Any

import numpy as np

from shoal.microdata.recoding.local_suppression.assignment import LEFT_OUT, Assignment
from shoal.microdata.recoding.local_suppression.masks import Masks
from shoal.microdata.recoding.loss import Loss


def pieces(masks: Masks, assignment: Assignment) -> dict[str, Any]:
    """The fields of a ``Recoding``: which tuples, how many records, at which levels, kept or not.

    Tuples that are one combination at the lowest levels get its parts one after the other.
    """
    instance = masks.instance
    problem = instance.problem
    tuples = np.flatnonzero(problem.records > 0)
    tuples = tuples[np.argsort(instance.groups[tuples], kind="stable")]
    # Parts and tuples both cut the records, sorted by combination, into runs: a piece is where two runs meet.
    ends = np.cumsum(problem.records[tuples])
    cuts = np.cumsum(assignment.records)
    stops = np.union1d(ends, cuts)
    records = np.diff(stops, prepend=0)
    of_tuple = tuples[np.searchsorted(ends, stops)]
    part = np.searchsorted(cuts, stops)
    places = assignment.masks[part]
    kept = places != LEFT_OUT
    bits = np.where(kept, masks.bits[np.maximum(0, places)], 0)
    levels = np.tile(np.array(problem.lowest, dtype=np.int8), (stops.size, 1))
    for bit, column in enumerate(instance.columns):
        levels[(bits >> bit & 1) == 1, column] = problem.heights[column]
    order = np.lexsort((places, of_tuple))
    return {
        "tuples": of_tuple[order],
        "records": records[order],
        "levels": levels[order],
        "kept": kept[order],
    }


def value_of(masks: Masks, made: dict[str, Any]) -> float:
    """The loss of the pieces, from the problem's own tables."""
    problem = masks.instance.problem
    loss = Loss(problem)
    rates = np.zeros(made["tuples"].size)
    for column, hierarchy in enumerate(problem.hierarchies):
        levels, leaves = made["levels"][:, column], problem.keys[made["tuples"], column]
        for level in np.unique(levels):
            here = levels == level
            rates[here] += loss.tables[column][level][hierarchy.nodes[level][leaves[here]]]
    rates[~made["kept"]] = loss.full
    total = float((rates * made["records"]).sum()) - loss.nothing
    return total / problem.size if problem.measure == "loss" else total
