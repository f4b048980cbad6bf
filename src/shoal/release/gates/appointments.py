"""What must hold of appointments: counted anew from the list of people with their slots."""

from typing import TYPE_CHECKING, Any

from shoal.appointments.recount import seen_of
from shoal.release.gates.judge import GateOutcome
from shoal.release.plan.plan import Step
from shoal.release.verify.public import counted_k

if TYPE_CHECKING:
    import polars as pl


def appointments_gate(
    step: Step, limit: int, people: "pl.DataFrame", slots: "pl.DataFrame | None"
) -> GateOutcome | None:
    """K of those who are seen: people who share what may be known of them and of their slot.

    ``slots`` is needed where an intruder knows only some attributes of a slot; without it nothing is measured then.
    """
    settings: Any = step.settings
    seen = seen_of(settings, people, slots)[1]
    if seen is None:
        return None
    k = counted_k(seen, seen.columns)
    where = "the slot" if settings.known is None else ", ".join(settings.known) or "nothing"
    meaning = f"people alike in {', '.join(settings.quasi)} for somebody who knows {where} of an appointment, at least"
    return GateOutcome(step.name, "k", limit, k, k >= limit, meaning)
