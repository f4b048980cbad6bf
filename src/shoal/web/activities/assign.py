"""Appointments: what their page draws besides the figures."""

from typing import TYPE_CHECKING, Any

from shoal.appointments.operation import OPERATION, Assigned
from shoal.web.activities.operation_activity import activity, columns_file
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    import numpy as np

    from shoal.appointments.results import Appointments
    from shoal.appointments.settings import AssignSettings

#: What is written back into one of the tables, if they are made for it.
UPDATE = "update.parquet"
# A picture of more crowds or slots could not be read.
_DRAWN = 40


def picture(result: list[Assigned], settings: "AssignSettings", context: Context) -> dict[str, Any]:
    """Each table with the matrix of crowds by slots, and whether the plans can go back into their tables."""
    tables = [_drawn(table) for table in result]
    shown = tables[0] if len(tables) == 1 else {"tables": tables}
    return {**shown, "can_update": context.keep(columns_file(UPDATE, 0)).is_file()}


def _drawn(table: Assigned) -> dict[str, Any]:
    plan = table.plan
    vectors = (plan.vector_before, plan.vector, plan.random)
    return {
        "table": table.people.name,
        "slots_of": table.slots,
        **OPERATION.reporter_module.table_figures(table),
        "below": {str(limit): [vector.below(limit) for vector in vectors] for limit in (2, 3, 5, 10)},
        "matrices": matrices(plan),
    }


def matrices(plan: "Appointments") -> list[dict[str, Any]]:
    """People by crowd and slot: of all crowds, or of the largest and of the smallest where there are many."""
    import numpy as np

    crowd = plan.population.crowd
    sizes = np.bincount(crowd)
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 0]
    if order.size <= _DRAWN:
        return [_matrix("all", order, sizes, plan)]
    return [
        _matrix("largest", order[:_DRAWN], sizes, plan),
        _matrix("smallest", order[-_DRAWN:], sizes, plan),
    ]


def _matrix(which: str, rows: "np.ndarray", sizes: "np.ndarray", plan: "Appointments") -> dict[str, Any]:
    import numpy as np

    line = np.full(sizes.size, -1)
    line[rows] = np.arange(rows.size)
    of_person = line[plan.population.crowd]
    drawn = of_person >= 0

    def count(slot_of: "np.ndarray") -> "np.ndarray":
        # Only the lines that are drawn: all crowds by all slots may be more than memory holds.
        table = np.zeros((rows.size, plan.slots.ids.len()), dtype=np.int64)
        np.add.at(table, (of_person[drawn], slot_of[drawn]), 1)
        return table

    ours = count(plan.slot_of)
    theirs = None if plan.random_slot_of is None else count(plan.random_slot_of)
    used = ours.sum(axis=0)
    # Of many slots those in which these crowds are, in the order of the timetable.
    columns = np.sort(np.argsort(-used, kind="stable")[:_DRAWN])
    names = plan.slots.ids.to_list()
    return {
        "which": which,
        "crowds": sizes[rows].tolist(),
        "slots": [str(names[place]) for place in columns],
        "plan": ours[:, columns].tolist(),
        "random": None if theirs is None else theirs[:, columns].tolist(),
    }


ACTIVITY = activity(OPERATION, picture)
