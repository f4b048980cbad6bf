"""Slots and appointments as iCalendar files (RFC 5545), one for each centre; needs the extra ``exchange``.

Nothing that describes a person is written but an identifier the caller names: titles say only that there is an appointment,
and the UID is random.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID

import polars as pl

from shoal._version import __version__
from shoal.errors import InputError, needs_extra, unreadable
from shoal.numbers import whole
from shoal.runtime.seeds import Seeds
from shoal.sources.internal import WORD
from shoal.sources.timing import spans

CAPACITY, BOOKED, SLOT, PERSON = "X-SHOAL-CAPACITY", "X-SHOAL-BOOKED", "X-SHOAL-SLOT", "X-SHOAL-PERSON"
NOTE = "X-SHOAL-NOTE"


def library() -> ModuleType:
    """The library that reads and writes calendars."""
    try:
        import icalendar
    except ImportError:
        raise needs_extra("a calendar", "exchange") from None
    return icalendar


def slots_calendar(slots: pl.DataFrame, *, timezone: str | None = None, seeds: Seeds | None = None) -> bytes:
    """The slots as one calendar; capacity and booked seats are kept in properties of their own."""
    icalendar = library()
    calendar = _calendar(icalendar)
    name, seats, booked = named(slots, "slot", "resource"), named(slots, "capacity"), named(slots, "booked")
    centre = named(slots, "centre", "center", "location")
    uids = random_ids(len(slots), seeds)
    for line, (begin, end), uid in zip(
        slots.iter_rows(named=True), spans(slots, timezone), uids, strict=True
    ):
        event = _event(icalendar, "Appointment slot", begin, end, uid)
        event.add(SLOT, str(line[name or ""]))
        event.add(CAPACITY, str(line[seats or ""]))
        if booked:
            event.add(BOOKED, str(line[booked]))
        if centre:
            event.add("location", str(line[centre]))
        calendar.add_component(event)
    found: bytes = calendar.to_ical()
    return found


def read_slots(path: Path) -> pl.DataFrame:
    """The slots of a calendar: ``slot``, ``capacity``, ``booked`` (if any), ``centre``, ``start``, ``end``."""
    icalendar = library()
    try:
        calendar = icalendar.Calendar.from_ical(Path(path).read_bytes())
    except OSError as error:
        raise unreadable("calendar", path, error) from None
    except (ValueError, IndexError):
        raise InputError(f"'{path}' is not an iCalendar file") from None
    lines = []
    for number, event in enumerate(calendar.walk("VEVENT")):
        begin = event.get("dtstart")
        if begin is None or event.get(CAPACITY) is None:
            raise InputError(f"an event of '{path}' has no beginning or no {CAPACITY}")
        end = event.get("dtend")
        lines.append(
            {
                "slot": str(event.get(SLOT, number)),
                "capacity": _seats(event.get(CAPACITY), path),
                "booked": _seats(event.get(BOOKED, 0), path),
                "centre": str(event.get("location", "")),
                "start": begin.dt.isoformat(),
                "end": (end.dt if end is not None else begin.dt).isoformat(),
            }
        )
    if not lines:
        raise InputError(f"'{path}' has no events")
    return pl.DataFrame(lines)


def _seats(value: Any, path: Path) -> int:
    try:
        return whole(int(str(value)), "the number of seats")
    except ValueError:
        raise InputError(f"an event of '{path}' does not say how many seats it has") from None


def appointment_calendars(
    slots: pl.DataFrame,
    slot_of: Sequence[int],
    *,
    persons: Sequence[Any] | None = None,
    timezone: str | None = None,
    seeds: Seeds | None = None,
) -> dict[str, bytes]:
    """Everybody's appointment, one calendar for each centre (or one for all); file name → content."""
    icalendar = library()
    centre = named(slots, "centre", "center", "location")
    times = spans(slots, timezone)
    centres = [str(value) for value in slots[centre].to_list()] if centre else ["appointments"] * len(slots)
    calendars = {name: _calendar(icalendar) for name in dict.fromkeys(centres)}
    for calendar in calendars.values():
        calendar.add(NOTE, WORD)
    for person, (place, uid) in enumerate(zip(slot_of, random_ids(len(slot_of), seeds), strict=True)):
        event = _event(icalendar, "Appointment", *times[place], uid)
        if centre:
            event.add("location", centres[place])
        if persons is not None:
            event.add(PERSON, str(persons[person]))
        calendars[centres[place]].add_component(event)
    stems = _stems(slots)
    return {f"{stems[name]}.ics": calendar.to_ical() for name, calendar in calendars.items()}


def calendar_names(slots: pl.DataFrame) -> list[str]:
    """The names of the files that ``appointment_calendars`` makes for these slots."""
    return [f"{stem}.ics" for stem in _stems(slots).values()]


def _stems(slots: pl.DataFrame) -> dict[str, str]:
    """A file name for each centre, no two of them alike, not even but for their case."""
    centre = named(slots, "centre", "center", "location")
    centres = [str(value) for value in slots[centre].to_list()] if centre else ["appointments"]
    stems: dict[str, str] = {}
    for name in dict.fromkeys(centres):
        stem, number = _file_name(name), 1
        while stem.casefold() in {other.casefold() for other in stems.values()}:
            number += 1
            stem = f"{_file_name(name)}-{number}"
        stems[name] = stem
    return stems


def _calendar(icalendar: ModuleType) -> Any:
    calendar = icalendar.Calendar()
    calendar.add("prodid", f"-//shoal//appointments {__version__}//EN")
    calendar.add("version", "2.0")
    return calendar


def _event(icalendar: ModuleType, summary: str, begin: datetime, end: datetime, uid: str) -> Any:
    event = icalendar.Event()
    event.add("uid", uid)
    event.add("dtstamp", datetime.now(UTC).replace(microsecond=0))
    event.add("dtstart", begin)
    event.add("dtend", end)
    event.add("summary", summary)
    return event


def random_ids(number: int, seeds: Seeds | None) -> list[str]:
    """Random identifiers, of the system's entropy unless seeded."""
    generator = (seeds or Seeds(None)).child("uid").generator()
    return [str(UUID(bytes=generator.bytes(16), version=4)) for _ in range(number)]


def named(frame: pl.DataFrame, *names: str) -> str | None:
    """The column of a frame that has one of these names, whatever their case."""
    return next((column for column in frame.columns if column.lower() in names), None)


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "_", text).strip("._") or "appointments"
