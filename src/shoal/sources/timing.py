"""When a slot begins and ends, from the columns a table of slots may have."""

from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import polars as pl

from shoal.errors import InputError

DEFAULT_MINUTES = 60


def spans(slots: pl.DataFrame, timezone: str | None = None) -> list[tuple[datetime, datetime]]:
    """Beginning and end of each slot.

    A slot has ``start`` (a date and time), or ``date`` and ``hour``; and ``end`` or ``minutes``, else an hour. Times without a
    zone are of ``timezone``, or of no zone in particular.

    >>> spans(pl.DataFrame({"date": ["2026-03-02"], "hour": [9], "minutes": [30]}))[0][1].isoformat()
    '2026-03-02T09:30:00'
    """
    names = {column.lower(): column for column in slots.columns}
    zone = _zone(timezone)
    if "start" in names:
        begins = [_moment(value, "start") for value in slots[names["start"]].to_list()]
    elif "date" in names and "hour" in names:
        begins = [
            datetime.combine(_day(day), _clock(hour))
            for day, hour in zip(slots[names["date"]].to_list(), slots[names["hour"]].to_list(), strict=True)
        ]
    else:
        raise InputError("calendars need a column 'start', or 'date' and 'hour', in the slots")
    if "end" in names:
        ends = [_moment(value, "end") for value in slots[names["end"]].to_list()]
    else:
        minutes = slots[names["minutes"]].to_list() if "minutes" in names else [DEFAULT_MINUTES] * len(begins)
        try:
            ends = [
                begin + timedelta(minutes=float(length))
                for begin, length in zip(begins, minutes, strict=True)
            ]
        except (TypeError, ValueError):
            raise InputError("column 'minutes' of the slots must hold numbers") from None
    found = [(_in_zone(begin, zone), _in_zone(end, zone)) for begin, end in zip(begins, ends, strict=True)]
    if any(end <= begin for begin, end in found):
        raise InputError("a slot ends before it begins")
    return found


def _zone(name: str | None) -> ZoneInfo | None:
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise InputError(f"'{name}' is not a time zone; an example is Europe/Madrid") from None


def _in_zone(moment: datetime, zone: ZoneInfo | None) -> datetime:
    return moment.replace(tzinfo=zone) if moment.tzinfo is None and zone is not None else moment


def _moment(value: Any, name: str) -> datetime:
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        raise InputError(
            f"column '{name}' of the slots must hold dates with times, like 2026-03-02T09:00"
        ) from None


def _day(value: Any) -> date:
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise InputError("column 'date' of the slots must hold dates, like 2026-03-02") from None


def _clock(value: Any) -> time:
    if isinstance(value, time):
        return value
    text = str(value).strip()
    try:
        if ":" in text:
            return time.fromisoformat(text.zfill(5))
        return time(int(float(text)))
    except ValueError:
        raise InputError("column 'hour' of the slots must hold hours, like 9 or 09:30") from None
