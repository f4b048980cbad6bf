"""What must hold of appointments: counted anew from the list of people with their slots."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import sources
from shoal.release.folder import RELEASE
from shoal.release.gates import GateOutcome
from shoal.release.plan import Step
from shoal.release.verify_public import counted_k

if TYPE_CHECKING:
    import polars as pl

SLOT = "slot"


def appointments_of(folder: Path) -> "pl.DataFrame":
    """The people with their slots, as a step left them."""
    return sources.read(str(folder / RELEASE)).frame


def appointments_gate(
    step: Step, limit: int, people: "pl.DataFrame", slots: "pl.DataFrame | None"
) -> GateOutcome | None:
    """K of those who are seen: people who share what may be known of them and of their slot.

    ``slots`` is needed where an intruder knows only some attributes of a slot; without it nothing is measured then.
    """
    settings: Any = step.settings
    quasi = list(settings.quasi)
    seen = people.select(
        *quasi,
        SLOT,
        *([settings.eligible] if settings.eligibility_known and settings.eligible in people.columns else []),
    )
    if settings.known is not None:
        if slots is None:
            return None
        seen = seen.join(
            slots.select(SLOT, *settings.known), on=SLOT, how="left", suffix=" of the slot"
        ).drop(SLOT)
    k = counted_k(seen, seen.columns)
    where = "the slot" if settings.known is None else ", ".join(settings.known) or "nothing"
    meaning = f"people alike in {', '.join(quasi)} for somebody who knows {where} of an appointment, at least"
    return GateOutcome(step.name, "k", limit, k, k >= limit, meaning)
