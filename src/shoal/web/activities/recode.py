"""Recode keys: what its page draws besides the figures."""

from typing import TYPE_CHECKING, Any

from shoal.microdata.recoding.operation import OPERATION, removed
from shoal.operation import Records
from shoal.web.activities.operation_activity import activity
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    from shoal.microdata.recoding.result import Recoded
    from shoal.microdata.recoding.settings import RecodeSettings


def picture(result: "Recoded", settings: "RecodeSettings", context: Context) -> dict[str, Any]:
    """Every key with its level and what changed; no label of it."""
    from shoal.microdata.recoding.margins import largest_change

    dataset = context.datasets[settings.data]
    nobody = context.datasets.head(settings.data, 0)
    keys = [
        {
            "column": item.column,
            "level": result.levels[item.column],
            "height": item.hierarchy.height,
            "labels": list(item.sizes),
            "blanked": result.suppressed_cells[item.column],
            "largest_change": largest_change(result.margins[item.column]),
            "rule": item.rule,
        }
        for item in result.proposals
    ]
    return {
        "keys": keys,
        "people": sum(part.problem.units for part in result.parts),
        "limit": result.limit,
        "below": {str(size): result.anonymity.below(size) for size in (3, 5, 10)},
        "maximum_risk": result.anonymity.maximum_risk,
        "dropped": removed(settings, Records(dataset.name, nobody, dataset.roles)),
    }


ACTIVITY = activity(OPERATION, picture)
