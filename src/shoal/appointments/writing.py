"""What a plan leaves behind: the people with their slots, what goes back into their tables, calendars and FHIR bundles."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, unknown

if TYPE_CHECKING:
    import polars as pl

    from shoal.appointments.operation import Assigned
    from shoal.appointments.settings import AssignSettings

#: Columns of the people that plans are written into; what an earlier one left there is an answer, and no question.
WRITTEN_BACK = ("REC_RAND", "REC_INTELLIGENT")


def released(
    result: "list[Assigned]", settings: "AssignSettings"
) -> "pl.DataFrame | Mapping[str, pl.DataFrame]":
    """The people with their appointments; of several tables by name."""
    frames = {table.people.name: table.plan.people for table in result}
    return frames if len(result) > 1 else result[0].plan.people


def columns(result: "list[Assigned]", settings: "AssignSettings") -> "list[pl.DataFrame]":
    """For each table its key and the columns to set: the random plan and this one."""
    return [_columns(table, settings.key) for table in result]


def _columns(table: "Assigned", key: str | None) -> "pl.DataFrame":
    import polars as pl

    frame, where = table.people.frame, table.people.name
    name = key or next((column for column in frame.columns if column.lower() == "id"), "ID")
    for column in (name, *WRITTEN_BACK):
        if column not in frame.columns:
            raise unknown("column", column, frame.columns, where=f"in {where}")
    if frame[name].is_duplicated().any() or frame[name].null_count():
        raise InputError(f"column '{name}' does not identify the people of {where}")
    ids, plan = table.plan.slots.ids, table.plan
    assert plan.random_slot_of is not None
    slots = (plan.random_slot_of, plan.slot_of)
    return pl.DataFrame(
        [
            frame[name],
            *(ids.gather(given).alias(column) for column, given in zip(WRITTEN_BACK, slots, strict=True)),
        ]
    )


def calendars(result: "list[Assigned]", settings: "AssignSettings") -> dict[str, bytes]:
    """Everybody's appointment in calendars by the name of their file; of several tables in folders."""
    from shoal.appointments.exchange.calendars import appointment_calendars

    found = {}
    for table in result:
        folder = "" if len(result) == 1 else f"{table.people.name}/"
        for name, content in appointment_calendars(**_exchanged(table, settings)).items():
            found[folder + name] = content
    return found


def bundles(result: "list[Assigned]", settings: "AssignSettings") -> str | dict[str, str]:
    """Everybody's appointment in a FHIR bundle; of several tables by the name of their file."""
    from shoal.appointments.exchange.fhir import appointments_bundle

    if len(result) == 1:
        return appointments_bundle(**_exchanged(result[0], settings))
    return {
        f"{table.people.name}.fhir.json": appointments_bundle(**_exchanged(table, settings))
        for table in result
    }


def _exchanged(table: "Assigned", settings: "AssignSettings") -> dict[str, Any]:
    from shoal.runtime import Seeds

    return {
        "slots": table.plan.slots.frame,
        "slot_of": table.plan.slot_of.tolist(),
        "persons": None if settings.key is None else table.people.frame[settings.key].to_list(),
        "timezone": settings.timezone,
        "seeds": Seeds(settings.seed).child("exchange"),
    }
