"""Group attributes: what its page draws besides the figures."""

from typing import TYPE_CHECKING, Any

from shoal.microdata.grouping.operation import OPERATION
from shoal.web.activities.operation_activity import activity
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    from shoal.microdata.grouping.result import AttributeGrouping
    from shoal.runtime.evolution import OperatorStatistics

# A chart of operators by generation is drawn in so many steps.
_STEPS = 30


def picture(result: "AttributeGrouping", settings: object, context: Context) -> dict[str, Any]:
    """The course of the search, and how its operators fared."""
    course = result.solution.course
    return {
        "course": {"best": list(course.best), "mean": list(course.mean), "groups": list(course.groups)},
        "operators": _operators(result.solution.statistics),
    }


def _operators(statistics: "OperatorStatistics | None") -> dict[str, Any] | None:
    """How often each operator was used over the search, and how often it helped."""
    import numpy as np

    if statistics is None or statistics.made.shape[1] == 0:
        return None
    generations = statistics.made.shape[1]
    edges = np.unique(np.linspace(0, generations, min(_STEPS, generations) + 1).astype(int))
    made = np.add.reduceat(statistics.made, edges[:-1], axis=1)
    improved = np.add.reduceat(statistics.improved, edges[:-1], axis=1)
    return {
        "names": list(statistics.operators),
        "generations": edges[:-1].tolist(),
        "made": made.tolist(),
        "improved": improved.tolist(),
        "totals": {
            what: getattr(statistics, what).sum(axis=1).tolist()
            for what in ("made", "survived", "improved", "equal", "worse")
        },
    }


ACTIVITY = activity(OPERATION, picture)
