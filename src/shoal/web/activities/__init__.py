"""Everything the workbench can do. Adding an activity is adding a file and a line here; jobs and the API follow."""

from collections.abc import Mapping

from shoal.web.activities import (
    adjust,
    anonymity,
    assign,
    audit,
    compare,
    generate,
    group,
    hierarchy,
    load,
    microaggregate,
    perturb,
    perturb_table,
    recode,
    risk,
    round,
    study,
    suppress,
    tabulate,
    update,
    write,
)
from shoal.web.activities.activity import Activity

ACTIVITIES: Mapping[str, Activity] = {
    activity.kind: activity
    for activity in (
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
        hierarchy.ACTIVITY,
        compare.ACTIVITY,
        tabulate.ACTIVITY,
        suppress.ACTIVITY,
        audit.ACTIVITY,
        round.ACTIVITY,
        adjust.ACTIVITY,
        perturb_table.ACTIVITY,
        assign.ACTIVITY,
        study.ACTIVITY,
    )
}
