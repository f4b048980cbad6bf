"""Slots of other programs, by the ending of their files."""

from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl

from shoal.appointments.exchange import calendars, fhir

READERS: Mapping[str, Callable[[Path], pl.DataFrame]] = {
    ".ics": calendars.read_slots,
    ".json": fhir.read_slots,
}
