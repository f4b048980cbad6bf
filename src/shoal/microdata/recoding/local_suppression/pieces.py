"""An assignment told as pieces of the problem's tuples."""

from typing import Any

import numpy as np

from shoal.microdata.recoding.local_suppression.assignment import LEFT_OUT, Assignment
from shoal.microdata.recoding.local_suppression.masks import Masks


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
        "released": kept[order],
    }
