"""What a plan of appointments leaves behind: tables, calendars, FHIR bundles, and what goes back to a database."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    import polars as pl

    from shoal.appointments.api import Appointments

_LARGEST_SHEET = 200_000


def release_name(place: int, tables: int) -> str:
    """The file of released records of one of several tables.

    >>> release_name(0, 1), release_name(2, 5)
    ('release.parquet', 'release-2.parquet')
    """
    return "release.parquet" if tables == 1 else f"release-{place}.parquet"


def update_name(place: int) -> str:
    """The file of what is written back into one of the tables of people."""
    return f"update-{place}.parquet"


def write_one(plan: "Appointments", context: Context) -> None:
    """The released records of one table in every form."""
    from shoal import sources

    sources.write(plan.people, context.file("release.csv", "Appointments (CSV)"), force=True)
    sources.write(plan.people, context.file("release.parquet", "Appointments (Parquet)"), force=True)
    if plan.people.height <= _LARGEST_SHEET:
        sources.write(plan.people, context.file("release.xlsx", "Appointments (Excel)"), force=True)


def write_several(plans: "Mapping[str, Appointments]", context: Context) -> None:
    """The released records of several tables: kept one by one, and together in one archive."""
    for place, plan in enumerate(plans.values()):
        plan.people.write_parquet(context.keep(release_name(place, len(plans))))
    texts = {f"{name}.csv": plan.people.write_csv() for name, plan in plans.items()}
    _archive(context.file("appointments.zip", "Appointments of all tables (CSV)"), texts)


def keep_for_update(
    people: "pl.DataFrame",
    plan: "Appointments",
    random: "Appointments | None",
    key: str | None,
    place: Path,
) -> bool:
    """Keep what would be written back into a table made for it; whether it is one."""
    import polars as pl

    key = key or next((name for name in people.columns if name.lower() == "id"), None)
    if key is None or random is None or not {"REC_RAND", "REC_INTELLIGENT"} <= set(people.columns):
        return False
    ids = plan.slots.ids
    pl.DataFrame(
        [
            people[key],
            ids.gather(random.slot_of).alias("REC_RAND"),
            ids.gather(plan.slot_of).alias("REC_INTELLIGENT"),
        ]
    ).write_parquet(place)
    return True


def exchange(plan: "Appointments", persons: list[Any] | None, timezone: str | None, seed: int | None) -> Any:
    """Calendars by name and a FHIR bundle; an ``InputError`` says what the slots lack."""
    from shoal.appointments.exchange.calendars import appointment_calendars
    from shoal.appointments.exchange.fhir import appointments_bundle
    from shoal.search import Seeds

    slots = plan.slots.frame
    common: dict[str, Any] = {
        "persons": persons,
        "timezone": timezone,
        "seeds": Seeds(seed).child("exchange"),
    }
    places = plan.slot_of.tolist()
    return appointment_calendars(slots, places, **common), appointments_bundle(slots, places, **common)


def write_exchange(
    plans: "Mapping[str, Appointments]",
    persons: Mapping[str, list[Any] | None],
    timezone: str | None,
    seed: int | None,
    context: Context,
) -> list[str]:
    """Calendars and FHIR bundles where the slots have times; a note says why not otherwise."""
    from shoal import sources

    calendars: dict[str, str] = {}
    bundles: dict[str, str] = {}
    for name, plan in plans.items():
        try:
            found, bundle = exchange(plan, persons[name], timezone, seed)
        except InputError as problem:
            return [f"no calendar: {problem}"]
        folder = "" if len(plans) == 1 else f"{name}/"
        calendars |= {f"{folder}{file}": content for file, content in found.items()}
        bundles[f"{name}.fhir.json"] = bundle
    _archive(context.file("calendars.zip", "Calendars (iCalendar)"), calendars)
    if len(plans) > 1:
        _archive(context.file("fhir.zip", "FHIR bundles"), bundles)
        return []
    with sources.atomically(context.file("appointments.fhir.json", "FHIR bundle"), force=True) as unfinished:
        unfinished.write_text(next(iter(bundles.values())), encoding="utf-8")
    return []


def _archive(place: Path, texts: Mapping[str, str]) -> None:
    from shoal import sources

    with (
        sources.atomically(place, force=True) as unfinished,
        zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, content in texts.items():
            archive.writestr(name, content)
