"""Recognise at once what cannot be protected, and name the cells at fault."""

from shoal.errors import Infeasible, parameter
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import hopeless


def refuse_hopeless(problem: Problem) -> None:
    """Raise ``Infeasible`` with the cells that stay unprotected even if everything that may be hidden is."""
    cells = hopeless(problem)
    if cells.size == 0:
        return
    named = "; ".join(problem.table.name(int(cell)) for cell in cells[:3])
    more = f" and {cells.size - 3} more" if cells.size > 3 else ""
    raise Infeasible(
        f"{cells.size} sensitive cell{'s' * (cells.size != 1)} cannot be protected even if all that may be hidden is: "
        f"{named}{more}"
        + (
            "; what sole contributors know is part of that: see " + parameter("insiders")
            if problem.insiders
            else ""
        )
    )
