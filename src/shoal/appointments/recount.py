"""The figures of a plan of appointments, counted again from the people with their slots, and who can be told apart by them."""

from collections import Counter
from typing import Any

import polars as pl

from shoal import sources
from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.people.slots import NAMES, Slots, with_names
from shoal.appointments.vector_rank import places
from shoal.errors import InputError
from shoal.exact_names import exactly
from shoal.operation_release import Evidence

# What the place of an appointment is called while it is counted; no column of people has such a name.
_WHERE = "where and when"


def slot_column(frame: pl.DataFrame) -> str:
    """The column that names slots, in a table of slots or of people who have one.

    >>> import polars as pl
    >>> slot_column(pl.DataFrame({"person": [1], "RESOURCE": ["S1"]}))
    'RESOURCE'
    """
    found = [name for name in frame.columns if name.lower() in NAMES]
    if len(found) != 1:
        raise InputError(f"{len(found)} columns could name the slots ({', '.join(NAMES)}); one has to")
    return found[0]


def seen_of(
    settings: Any, people: pl.DataFrame, slots: pl.DataFrame | None
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """What may be known of everybody, without and with what may be known of the slot; the latter may need the slots."""
    told = [settings.eligible] if settings.eligibility_known and settings.eligible in people.columns else []
    before = people.select(exactly(*settings.quasi, *told))
    seen = before.with_columns(people.select(_named(slot_column(people), _WHERE)).to_series())
    if settings.known is None:
        return before, seen
    if slots is None:
        return before, None
    slots = with_names(slots)
    name = slot_column(slots)
    of_slots = [
        _named(name if item.lower() in NAMES else item, f"{item} of the slot") for item in settings.known
    ]
    return before, seen.join(slots.select(_named(name, _WHERE), *of_slots), on=_WHERE, how="left").drop(
        _WHERE
    )


def _named(column: str, name: str) -> pl.Expr:
    return exactly(column).cast(pl.String).alias(name)


def recounted(evidence: Evidence) -> dict[str, Any]:
    """Crowds, K and vectors before and after, and the loads of the slots."""
    settings, told = evidence.settings, evidence.stated
    stated: dict[str, Any] = {name: getattr(settings, name) for name in ("method", "objective", "known")}
    if not evidence.complete or not isinstance(settings.slots, str) or "tables" in told:
        return stated
    frame = sources.read(settings.slots).frame
    seated = sources.read(str(evidence.folder / "release.parquet")).frame
    before, after = seen_of(settings, seated, frame)
    assert after is not None

    def vector(keys: pl.DataFrame) -> AnonymityVector:
        return AnonymityVector.from_sizes(keys.group_by(keys.columns).len()["len"].to_list())

    own, base = vector(after), vector(before)
    required = int(told["k_required"])
    stated |= {
        "people": seated.height,
        "crowds": base.classes,
        "k": own.k,
        "k_before": base.k,
        "vector": {str(size): count for size, count in own.items()},
        "vector_before": {str(size): count for size, count in base.items()},
        "mean_crowd": own.weighted_mean_size,
        "mean_crowd_before": base.weighted_mean_size,
        "exposed": own.below(required),
        "exposed_before": base.below(required),
    }
    ranked = places(own, base, base)
    if ranked is not None:
        stated |= {
            "rank": str(ranked.rank),
            "rank_before": str(ranked.before),
            "vectors": str(ranked.vectors),
        }
        stated |= {"position": ranked.position, "distance": str(ranked.distance)}
    slots = Slots.read(frame)
    taken = Counter(str(name) for name in seated[slot_column(seated)].to_list())
    stated["slots"] = [
        {"slot": str(name), "capacity": int(seats), "load": taken[str(name)] + int(booked)}
        for name, seats, booked in zip(slots.ids.to_list(), slots.capacities, slots.booked, strict=True)
    ]
    return stated
