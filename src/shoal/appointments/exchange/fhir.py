"""Slots and appointments as HL7 FHIR R4B bundles in JSON; needs the extra ``exchange``.

Every resource is built with the validating models of ``fhir.resources``. FHIR slots have no capacity: it travels in an
extension. Of people only an identifier the caller names is written; identifiers of resources are random.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import polars as pl

from shoal.appointments.exchange.calendars import named, random_ids
from shoal.errors import InputError, needs_extra, unreadable
from shoal.runtime.seeds import Seeds
from shoal.sources.timing import spans

CAPACITY, BOOKED = "urn:shoal:slot-capacity", "urn:shoal:slot-booked"

#: Who sees whom when is restricted, in the words that FHIR has for it.
CONFIDENTIALITY = "http://terminology.hl7.org/CodeSystem/v3-Confidentiality"


def library() -> dict[str, Any]:
    """The models of the resources used here."""
    try:
        from fhir.resources.R4B.appointment import Appointment
        from fhir.resources.R4B.bundle import Bundle
        from fhir.resources.R4B.schedule import Schedule
        from fhir.resources.R4B.slot import Slot
    except ImportError:
        raise needs_extra("FHIR", "exchange") from None
    return {"Appointment": Appointment, "Bundle": Bundle, "Schedule": Schedule, "Slot": Slot}


def slots_bundle(slots: pl.DataFrame, *, timezone: str | None = None, seeds: Seeds | None = None) -> str:
    """The slots and the schedules (one for each centre) they belong to, as a bundle."""
    entries = [resource for _, resource in _slots(slots, timezone, seeds)[0]]
    return _bundle(entries)


def appointments_bundle(
    slots: pl.DataFrame,
    slot_of: Sequence[int],
    *,
    persons: Sequence[Any] | None = None,
    timezone: str | None = None,
    seeds: Seeds | None = None,
) -> str:
    """Slots, schedules and everybody's booked appointment, as a bundle; these appointments count as booked seats."""
    models = library()
    column = named(slots, "booked") or "booked"
    before = slots[column].to_list() if column in slots.columns else [0] * len(slots)
    given = Counter(slot_of)
    slots = slots.with_columns(
        pl.Series(column, [int(seats) + given[place] for place, seats in enumerate(before)])
    )
    made, ids = _slots(slots, timezone, seeds)
    entries = [resource for _, resource in made]
    times = spans(slots, timezone or "UTC")
    for person, (place, uid) in enumerate(
        zip(slot_of, random_ids(len(slot_of), (seeds or Seeds(None)).child("people")), strict=True)
    ):
        actor: dict[str, Any] = {"display": "person invited"}
        if persons is not None:
            actor = {"identifier": {"value": str(persons[person])}}
        begin, end = times[place]
        resource = {
            "resourceType": "Appointment",
            "id": uid,
            "status": "booked",
            "slot": [{"reference": f"Slot/{ids[place]}"}],
            "start": begin.isoformat(),
            "end": end.isoformat(),
            "participant": [{"actor": actor, "status": "accepted"}],
        }
        entries.append(_checked(models["Appointment"], resource))
    return _bundle(entries, restricted=True)


def read_slots(path: Path) -> pl.DataFrame:
    """The slots of a bundle: ``slot``, ``capacity``, ``booked``, ``centre``, ``start``, ``end``.

    A slot that is not free has no seat left, unless the bundle says how many are booked.
    """
    models = library()
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable("bundle", path, error) from None
    except (ValueError, RecursionError):
        raise InputError(f"'{path}' is not JSON") from None
    try:
        bundle = models["Bundle"].model_validate(content)
    except ValueError:
        raise InputError(f"'{path}' is not a FHIR R4B bundle") from None
    resources = [entry.resource for entry in bundle.entry or []]
    centres = {
        f"Schedule/{item.id}": (item.actor[0].display or "")
        for item in resources
        if type(item).__name__ == "Schedule"
    }
    lines = []
    for slot in resources:
        if type(slot).__name__ != "Slot":
            continue
        extra = {
            item.url: item.valueInteger for item in slot.extension or [] if item.valueInteger is not None
        }
        # A slot without the extension is for one person.
        capacity = int(extra.get(CAPACITY, 1))
        lines.append(
            {
                "slot": slot.identifier[0].value if slot.identifier else slot.id,
                "capacity": capacity,
                "booked": int(extra.get(BOOKED, 0 if slot.status == "free" else capacity)),
                "centre": centres.get(slot.schedule.reference, ""),
                "start": slot.start.isoformat(),
                "end": slot.end.isoformat(),
            }
        )
    if not lines:
        raise InputError(f"'{path}' has no slots")
    return pl.DataFrame(lines)


def _slots(
    slots: pl.DataFrame, timezone: str | None, seeds: Seeds | None
) -> tuple[list[tuple[str, Any]], list[str]]:
    models = library()
    seeds = seeds or Seeds(None)
    times = spans(slots, timezone or "UTC")
    name, seats, booked = named(slots, "slot", "resource"), named(slots, "capacity"), named(slots, "booked")
    centre = named(slots, "centre", "center", "location")
    centres = [str(value) for value in slots[centre].to_list()] if centre else ["centre"] * len(slots)
    names = list(dict.fromkeys(centres))
    schedule_ids = dict(zip(names, random_ids(len(names), seeds.child("schedules")), strict=True))
    made: list[tuple[str, Any]] = []
    for place in names:
        schedule: dict[str, Any] = {
            "resourceType": "Schedule",
            "id": schedule_ids[place],
            "actor": [{"type": "Location", "display": place}],
        }
        made.append((place, _checked(models["Schedule"], schedule)))
    ids = random_ids(len(slots), seeds.child("slots"))
    for line, (begin, end), uid, place in zip(slots.iter_rows(named=True), times, ids, centres, strict=True):
        capacity, taken = int(line[seats or ""]), int(line[booked]) if booked else 0
        extensions = [{"url": CAPACITY, "valueInteger": capacity}]
        if booked:
            extensions.append({"url": BOOKED, "valueInteger": taken})
        resource: dict[str, Any] = {
            "resourceType": "Slot",
            "id": uid,
            "identifier": [{"value": str(line[name or ""])}],
            "extension": extensions,
            "schedule": {"reference": f"Schedule/{schedule_ids[place]}"},
            "status": "free" if taken < capacity else "busy",
            "start": begin.isoformat(),
            "end": end.isoformat(),
        }
        made.append((place, _checked(models["Slot"], resource)))
    return made, ids


def _checked(model: Any, resource: dict[str, Any]) -> Any:
    return json.loads(model.model_validate(resource).model_dump_json())


def _bundle(resources: list[Any], *, restricted: bool = False) -> str:
    content = {
        "resourceType": "Bundle",
        **({"meta": {"security": [{"system": CONFIDENTIALITY, "code": "R"}]}} if restricted else {}),
        "type": "collection",
        "entry": [{"fullUrl": f"urn:uuid:{UUID(item['id'])}", "resource": item} for item in resources],
    }
    library()["Bundle"].model_validate(content)
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
