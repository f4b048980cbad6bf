"""Bring data into the workspace: a file that was received, a table of a database, or a sample."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from shoal.errors import InputError, spelled
from shoal.sources.fingerprint import file_fingerprint
from shoal.web.activities import table_files
from shoal.web.activities.activity import Activity, Request
from shoal.web.jobs.context import Context
from shoal.web.spelling import field_names

SAMPLES = {
    "people": "2,000 people of a screening programme: age, postcode, sex",
    "firms": "1,200 firms of five regions and eight sectors: staff, turnover, costs, wages",
    "slots": "40 appointments at four centres with room for the people",
}


class Load(Request):
    """Read one thing; exactly one of file, connection with table, and sample is given."""

    file: str | None = Field(None, description="name of a received file in the workspace")
    title: str = Field("", max_length=200, description="what the file was called")
    connection: str | None = None
    table: str | None = Field(None, max_length=200)
    sample: Literal["people", "firms", "slots"] | None = None
    separator: str | None = Field(None, max_length=10)
    decimal: str | None = Field(None, max_length=10)
    encoding: str | None = Field(None, max_length=40)
    sheet: str | None = Field(None, max_length=40, description="a sheet of a workbook; without it the first")
    header_row: int | None = Field(
        None, ge=0, description="the line or row with the column names; 0: there are none"
    )


def run(request: Load, context: Context) -> dict[str, Any]:
    """Read, look at the columns, and put the records on the shelf."""
    from shoal import sources

    notes: tuple[str, ...] = ()
    table = connection = general = received = address = None
    name = request.sample or request.title or request.file or request.table or ""
    if request.sample is not None:
        frame, origin = _sample(request.sample), "sample data, invented"
    elif request.file is not None:
        path = context.workspace.path("incoming", request.file)
        context.say("reading")
        try:
            received = file_fingerprint(path)
            if name.lower().endswith(table_files.ENDINGS):
                frame, notes, general = table_files.read(path, name)
            else:
                frame, notes = _read(path, request)
        except InputError as error:
            # The file has a made-up name in the workspace; the user knows it by its own.
            raise InputError(error.template.replace(str(path), name).replace(path.name, name)) from None
        finally:
            path.unlink(missing_ok=True)
        origin = name
    elif request.connection is not None and request.table is not None:
        url = context.secret(request.connection)
        context.say("reading")
        data = sources.read(f"{url}::{request.table}")
        frame, notes, table = data.frame, data.notes, request.table
        connection = request.connection
        origin = address = str(data.address)
        if origin.startswith("sqlite"):
            name_only = origin.rpartition("/")[2]
            origin, address = f"sqlite: {name_only}", f"sqlite:///{name_only}"
    else:
        raise InputError("say what to load: a file, a table of a connected database, or a sample")
    context.say("looking at the columns")
    spoken = tuple(spelled(note, field_names("load")) for note in notes)
    found = context.datasets.add(
        frame, name, origin, spoken, table, connection, received, _as_a_file(request, name), address
    )
    if general is not None:
        context.datasets.attach(found.name, *general)
    return {
        "data": found.name,
        "records": found.records,
        "columns": list(found.columns),
        "types": list(found.types),
        "roles": found.roles,
        "reasons": found.reasons,
        "notes": list(found.notes),
    }


def _read(path: Path, request: Load) -> tuple[Any, tuple[str, ...]]:
    """A file of records, or the slots of a calendar or a FHIR bundle."""
    from shoal import sources
    from shoal.appointments.exchange.readers import READERS

    if path.suffix in READERS:
        return READERS[path.suffix](path), ()

    if request.sheet is not None and path.suffix.lower() != ".xlsx":
        raise InputError(f"'{path.name}' has no sheets: only a workbook (.xlsx) has")
    place = sources.FileAddress(path, request.sheet) if request.sheet is not None else path
    dialect = request.model_dump(include={"separator", "decimal", "encoding", "header_row"})
    data = sources.read(place, **dialect)
    return data.frame, data.warnings + data.notes


def _as_a_file(request: Load, name: str) -> str | None:
    """The place by which a command reads the same from the file; none if it was told how the file is written."""
    told = (request.separator, request.decimal, request.encoding, request.header_row)
    if request.file is None or any(value is not None for value in told):
        return None
    return name if request.sheet is None else f"{name}::{request.sheet}"


def _sample(name: str) -> Any:
    from shoal.generate import people
    from shoal.runtime import Seeds

    if name == "people":
        return people.people(2000, distribution="spain", min_age=16, max_age=74, postcodes=6, seeds=Seeds(1))
    if name == "slots":
        return _timetable(Seeds(1))
    return _firms(Seeds(1))


def _timetable(seeds: Any) -> Any:
    """A day of screening: four centres, ten hours, places for everybody."""
    from datetime import datetime, timedelta

    import polars as pl

    random = seeds.child("slots").generator()
    rows = []
    for centre in ("north", "east", "south", "west"):
        for hour in range(8, 18):
            begin = datetime(2027, 3, 1, hour)
            room, end = int(random.integers(45, 76)), begin + timedelta(hours=1)
            rows.append((f"{centre}-{hour:02}", room, centre, hour, begin, end))
    return pl.DataFrame(rows, schema=["slot", "capacity", "centre", "hour", "start", "end"], orient="row")


def _firms(seeds: Any) -> Any:
    """Firms with skewed, related figures, as business surveys have them."""
    import numpy as np
    import polars as pl

    random = seeds.child("firms").generator()
    count = 1200
    staff = np.maximum(1, np.round(np.exp(random.normal(2.4, 1.3, count)))).astype(np.int64)
    turnover = np.round(staff * np.exp(random.normal(4.4, 0.5, count)), 1)
    wages = np.round(staff * np.exp(random.normal(3.3, 0.25, count)), 1)
    costs = np.round(turnover * random.uniform(0.45, 0.9, count), 1)
    places, kinds = ["north", "east", "south", "west", "islands"], [
        "food", "textiles", "metal", "building", "trade", "transport", "hotels", "computing"
    ]  # fmt: skip
    regions = pl.Series(places).gather(random.choice(5, count, p=[0.4, 0.25, 0.2, 0.12, 0.03]))
    shares = np.array([12, 4, 9, 20, 30, 12, 10, 3]) / 100
    sectors = pl.Series(kinds).gather(random.choice(8, count, p=shares))
    return pl.DataFrame(
        {
            "firm_id": np.arange(1001, 1001 + count),
            "region": regions,
            "sector": sectors,
            "staff": staff,
            "turnover": turnover,
            "costs": costs,
            "wages": wages,
        }
    )


def _title(request: Load) -> str:
    return f"Load {request.title or request.table or request.sample or request.file or 'data'}"


ACTIVITY = Activity("load", "Load data", Load, run, _title, internal=True)
