"""What must hold of appointments: counted anew from the list of people with their slots."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import sources
from shoal.appointments.people.slots import NAMES
from shoal.errors import InputError
from shoal.exact_names import exactly
from shoal.release.folder import RELEASE
from shoal.release.gates.judge import GateOutcome
from shoal.release.plan.plan import Step
from shoal.release.verify.public import counted_k

if TYPE_CHECKING:
    import polars as pl

# What the place of an appointment is called while it is counted; no column of people has such a name.
_WHERE = "where and when"


def slot_column(frame: "pl.DataFrame") -> str:
    """The column that names slots, in a table of slots or of people who have one.

    >>> import polars as pl
    >>> slot_column(pl.DataFrame({"person": [1], "RESOURCE": ["S1"]}))
    'RESOURCE'
    """
    found = [name for name in frame.columns if name.lower() in NAMES]
    if len(found) != 1:
        raise InputError(f"{len(found)} columns could name the slots ({', '.join(NAMES)}); one has to")
    return found[0]


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
    seen = seen_of(step, people, slots)[1]
    if seen is None:
        return None
    k = counted_k(seen, seen.columns)
    where = "the slot" if settings.known is None else ", ".join(settings.known) or "nothing"
    meaning = f"people alike in {', '.join(settings.quasi)} for somebody who knows {where} of an appointment, at least"
    return GateOutcome(step.name, "k", limit, k, k >= limit, meaning)


def seen_of(
    step: Step, people: "pl.DataFrame", slots: "pl.DataFrame | None"
) -> "tuple[pl.DataFrame, pl.DataFrame | None]":
    """What may be known of everybody, without and with what may be known of the slot; the latter may need the slots."""
    settings: Any = step.settings
    told = [settings.eligible] if settings.eligibility_known and settings.eligible in people.columns else []
    before = people.select(exactly(*settings.quasi, *told))
    seen = before.with_columns(people.select(_named(slot_column(people), _WHERE)).to_series())
    if settings.known is None:
        return before, seen
    if slots is None:
        return before, None
    name = slot_column(slots)
    of_slots = [
        _named(name if item.lower() in NAMES else item, f"{item} of the slot") for item in settings.known
    ]
    return before, seen.join(slots.select(_named(name, _WHERE), *of_slots), on=_WHERE, how="left").drop(
        _WHERE
    )


def _named(column: str, name: str) -> "pl.Expr":
    import polars as pl

    return exactly(column).cast(pl.String).alias(name)
