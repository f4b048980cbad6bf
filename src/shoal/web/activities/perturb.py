"""Perturb records: what its page draws besides the figures."""

from typing import TYPE_CHECKING, Any

from shoal.microdata.perturbation.operation import OPERATION, removed
from shoal.operation import Records
from shoal.web.activities.operation_activity import activity
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    from shoal.microdata.perturbation.result import Perturbed
    from shoal.microdata.perturbation.settings import PerturbSettings


def picture(result: "Perturbed", settings: "PerturbSettings", context: Context) -> dict[str, Any]:
    """The columns that were removed."""
    dataset = context.datasets[settings.data]
    nobody = context.datasets.head(settings.data, 0)
    return {"dropped": removed(settings, Records(dataset.name, nobody, dataset.roles))}


ACTIVITY = activity(OPERATION, picture)
