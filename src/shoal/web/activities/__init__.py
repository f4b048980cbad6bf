"""Everything the workbench can do: every operation, what is drawn of some, and what is none; jobs and the API follow."""

from collections.abc import Mapping

from shoal.operation import Operation
from shoal.operation_release import ChangedTableRelease
from shoal.operations import OPERATIONS
from shoal.web.activities import (
    anonymity,
    assign,
    audit,
    compare,
    generate,
    group,
    load,
    microaggregate,
    perturb,
    recode,
    risk,
    study,
    suppress,
    tabulate,
    update,
    write,
)
from shoal.web.activities.activity import Activity
from shoal.web.activities.changed_table import picture
from shoal.web.activities.operation_activity import activity


def _plain(operation: Operation) -> Activity:
    """An operation of which a page draws nothing of its own."""
    changed = isinstance(operation.release, ChangedTableRelease)
    return activity(operation, picture if changed else lambda result, settings, context: {})


_OWN = {
    item.kind: item
    for item in (
        load.ACTIVITY,
        generate.ACTIVITY,
        write.ACTIVITY,
        update.ACTIVITY,
        anonymity.ACTIVITY,
        risk.ACTIVITY,
        recode.ACTIVITY,
        microaggregate.ACTIVITY,
        perturb.ACTIVITY,
        group.ACTIVITY,
        compare.ACTIVITY,
        tabulate.ACTIVITY,
        suppress.ACTIVITY,
        audit.ACTIVITY,
        assign.ACTIVITY,
        study.ACTIVITY,
    )
}
ACTIVITIES: Mapping[str, Activity] = _OWN | {
    name: _plain(operation) for name, operation in OPERATIONS.items() if name not in _OWN
}
