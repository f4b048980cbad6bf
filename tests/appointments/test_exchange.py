"""Calendars and FHIR bundles: valid for their own libraries, complete, and silent about people."""

import json

import polars as pl
import pytest

from shoal.errors import InputError
from shoal.runtime import Seeds

icalendar = pytest.importorskip("icalendar", reason="needs shoal[exchange]")
pytest.importorskip("fhir.resources", reason="needs shoal[exchange]")

from shoal.appointments.exchange import (  # noqa: E402
    calendars,
    fhir,
)
from shoal.sources.timing import spans  # noqa: E402

SLOTS = pl.DataFrame(
    {
        "slot": ["a", "b", "c"],
        "capacity": [3, 4, 2],
        "booked": [1, 0, 0],
        "centre": ["North", "South", "North"],
        "start": ["2026-03-02T09:00", "2026-03-02T10:00", "2026-03-02T10:00"],
        "end": ["2026-03-02T10:00", "2026-03-02T11:00", "2026-03-02T11:00"],
    }
)


def test_slots_survive_a_calendar(tmp_path):
    path = tmp_path / "slots.ics"
    path.write_bytes(calendars.slots_calendar(SLOTS, seeds=Seeds(1)))
    back = calendars.read_slots(path)
    assert back.drop("start", "end").equals(SLOTS.drop("start", "end"))
    assert back["start"].to_list()[0] == "2026-03-02T09:00:00"


def test_slots_survive_a_bundle(tmp_path):
    path = tmp_path / "slots.json"
    path.write_text(fhir.slots_bundle(SLOTS, timezone="Europe/Madrid", seeds=Seeds(1)))
    back = fhir.read_slots(path)
    assert back.drop("start", "end").equals(SLOTS.drop("start", "end"))
    assert spans(back)[0][0].isoformat().startswith("2026-03-02T09:00:00")


def test_one_calendar_for_each_centre():
    files = calendars.appointment_calendars(SLOTS, [0, 1, 1, 2], persons=[11, 12, 13, 14], seeds=Seeds(1))
    assert sorted(files) == ["North.ics", "South.ics"]
    north = icalendar.Calendar.from_ical(files["North.ics"])
    events = list(north.walk("VEVENT"))
    assert [str(event["X-SHOAL-PERSON"]) for event in events] == ["11", "14"]
    assert all(event["DTSTART"].dt < event["DTEND"].dt for event in events)
    assert (
        len(
            {
                str(event["UID"])
                for name in files.values()
                for event in icalendar.Calendar.from_ical(name).walk("VEVENT")
            }
        )
        == 4
    )
    assert {str(event["SUMMARY"]) for event in events} == {"Appointment"}
    assert str(north["X-SHOAL-NOTE"]) == "internal"
    assert calendars.calendar_names(SLOTS) == list(files)


def test_appointments_bundle_is_valid():
    from fhir.resources.R4B.bundle import Bundle

    text = fhir.appointments_bundle(SLOTS, [0, 1, 1, 2], persons=[11, 12, 13, 14], seeds=Seeds(1))
    bundle = Bundle.model_validate(json.loads(text))
    kinds = [type(entry.resource).__name__ for entry in bundle.entry]
    assert kinds.count("Appointment") == 4
    assert kinds.count("Slot") == 3
    assert kinds.count("Schedule") == 2
    ids = {f"Slot/{entry.resource.id}" for entry in bundle.entry if type(entry.resource).__name__ == "Slot"}
    booked = [entry.resource for entry in bundle.entry if type(entry.resource).__name__ == "Appointment"]
    assert {item.slot[0].reference for item in booked} <= ids
    assert all(item.status == "booked" and item.end > item.start for item in booked)


def test_seats_given_in_a_bundle_are_not_given_again(tmp_path):
    path = tmp_path / "appointments.json"
    path.write_text(fhir.appointments_bundle(SLOTS, [0, 1, 0, 1], seeds=Seeds(1)))
    assert fhir.read_slots(path)["booked"].to_list() == [3, 2, 0]
    slots = [e["resource"] for e in json.loads(path.read_text())["entry"] if "start" in e["resource"]][:3]
    assert [slot["status"] for slot in slots] == ["busy", "free", "free"]


def test_a_busy_slot_of_another_system_has_no_seat_left(tmp_path):
    content = json.loads(fhir.slots_bundle(SLOTS, seeds=Seeds(1)))
    for entry in content["entry"]:
        entry["resource"].pop("extension", None)
        if entry["resource"].get("identifier") == [{"value": "b"}]:
            entry["resource"]["status"] = "busy"
    path = tmp_path / "slots.json"
    path.write_text(json.dumps(content))
    back = fhir.read_slots(path)
    assert back["capacity"].to_list() == [1, 1, 1]
    assert back["booked"].to_list() == [0, 1, 0]


def test_nothing_of_a_person_but_the_identifier_asked_for():
    calendar = b"".join(calendars.appointment_calendars(SLOTS, [0, 1]).values())
    bundle = fhir.appointments_bundle(SLOTS, [0, 1])
    assert b"X-SHOAL-PERSON" not in calendar
    assert "identifier" not in json.dumps(
        [e for e in json.loads(bundle)["entry"] if e["resource"]["resourceType"] == "Appointment"]
    )


def test_times_from_date_and_hour():
    table = pl.DataFrame(
        {"slot": [1, 2], "capacity": [1, 1], "date": ["2026-03-02"] * 2, "hour": ["9", "13:30"]}
    )
    assert [begin.isoformat() for begin, _ in spans(table)] == ["2026-03-02T09:00:00", "2026-03-02T13:30:00"]
    with pytest.raises(InputError, match="'start', or 'date' and 'hour'"):
        spans(table.drop("hour"))
    with pytest.raises(InputError, match="not a time zone"):
        spans(table, "Mars/Olympus")
    with pytest.raises(InputError, match="ends before it begins"):
        spans(table.with_columns(minutes=pl.lit(0)))


def test_files_that_are_something_else(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("{}")
    with pytest.raises(InputError, match="bundle"):
        fhir.read_slots(path)
    path.write_text("no")
    with pytest.raises(InputError, match="not JSON"):
        fhir.read_slots(path)
    other = tmp_path / "x.ics"
    other.write_text("hello")
    with pytest.raises(InputError):
        calendars.read_slots(other)
