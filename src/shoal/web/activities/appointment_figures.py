"""The figures of a plan for the page: those of the command line, and the matrix of crowds by slots."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from shoal.appointments.api import Appointments

# A picture of more crowds or slots could not be read.
_DRAWN = 40


def figures(plan: "Appointments", random: "Appointments | None") -> dict[str, Any]:
    """What the page shows of a plan, with the random one beside it if there is one."""
    vectors = (plan.vector_before, plan.vector, plan.random)
    return {
        **plan.to_dict(),
        "below": {str(limit): [vector.below(limit) for vector in vectors] for limit in (2, 3, 5, 10)},
        "matrices": matrices(plan, random),
    }


def matrices(plan: "Appointments", random: "Appointments | None") -> list[dict[str, Any]]:
    """People by crowd and slot: of all crowds, or of the largest and of the smallest where there are many."""
    import numpy as np

    crowd = plan.waiting.crowd
    sizes = np.bincount(crowd)
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 0]
    if order.size <= _DRAWN:
        return [_matrix("all", order, sizes, plan, random)]
    return [
        _matrix("largest", order[:_DRAWN], sizes, plan, random),
        _matrix("smallest", order[-_DRAWN:], sizes, plan, random),
    ]


def _matrix(
    which: str, rows: "np.ndarray", sizes: "np.ndarray", plan: "Appointments", random: "Appointments | None"
) -> dict[str, Any]:
    import numpy as np

    line = np.full(sizes.size, -1)
    line[rows] = np.arange(rows.size)
    of_person = line[plan.waiting.crowd]
    drawn = of_person >= 0

    def count(slot_of: "np.ndarray") -> "np.ndarray":
        # Only the lines that are drawn: all crowds by all slots may be more than memory holds.
        table = np.zeros((rows.size, plan.slots.ids.len()), dtype=np.int64)
        np.add.at(table, (of_person[drawn], slot_of[drawn]), 1)
        return table

    ours = count(plan.slot_of)
    theirs = None if random is None else count(random.slot_of)
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
