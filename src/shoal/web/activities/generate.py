"""Invent people and slots, as many tables as asked for."""

from typing import Any, Literal

from pydantic import Field

from shoal.errors import InputError
from shoal.web.activities.activity import Activity, Request
from shoal.web.jobs.context import Context


class Generate(Request):
    """What to invent; several tables get an index, as on the command line."""

    what: Literal["people", "slots"] = "people"
    name: str = Field(
        "tabla",
        min_length=1,
        max_length=60,
        pattern=r"^[A-Za-z][A-Za-z0-9_]*$",
        description="letters, digits and '_', a letter first",
    )
    tables: int = Field(1, ge=1, le=50)
    population: int = Field(100, ge=1, le=5_000_000)
    distribution: Literal["uniform", "spain"] = "uniform"
    sex: Literal["man", "woman"] | None = None
    min_age: int = Field(0, ge=0, le=150)
    max_age: int = Field(100, ge=1, le=150)
    postcodes: int = Field(3, ge=1, le=72_000)
    slots: int = Field(5, ge=1, le=100_000)
    min_capacity: int = Field(10, ge=1, le=1_000_000)
    max_capacity: int = Field(25, ge=1, le=1_000_000)
    seed: int = Field(0, ge=0, le=2**53 - 1)
    connection: str | None = Field(None, description="also write the tables to this database")
    force: bool = Field(default=False, description="replace tables of these names")


def run(request: Generate, context: Context) -> dict[str, Any]:
    """Invent the tables and put them on the shelf."""
    from shoal import sources
    from shoal.generate import people, slots
    from shoal.runtime import Seeds

    if request.min_age > request.max_age:
        raise InputError(f"the youngest ({request.min_age}) is older than the oldest ({request.max_age})")
    if request.min_capacity > request.max_capacity:
        raise InputError(
            f"the smallest capacity ({request.min_capacity}) is above the largest ({request.max_capacity})"
        )
    names = _names(request)
    url = None if request.connection is None else context.secret(request.connection)
    inputs = () if url is None else context.datasets.tables(url)
    outputs = sources.Outputs(force=request.force, inputs=inputs)
    if url is not None:
        for name in names:
            outputs.data("the table", f"{url}::{name}")
    frames = []
    for index, name in enumerate(names):
        context.say(f"inventing {name}")
        seeds = Seeds(request.seed).child("table", index)
        if request.what == "people":
            own = request.model_dump(include={"distribution", "sex", "min_age", "max_age", "postcodes"})
            frames.append(people.people(request.population, **own, seeds=seeds))
        else:
            own = request.model_dump(include={"min_capacity", "max_capacity"})
            frames.append(slots.slots(request.slots, request.population, **own, seeds=seeds))
    with outputs.together() as writing:
        for output, frame in zip(outputs, frames):
            writing.data(output, frame)
    made = [
        context.datasets.add(frame, name, f"generated, seed {request.seed}", table=name)
        for name, frame in zip(names, frames, strict=True)
    ]
    return {
        "data": made[0].name,
        "records": sum(item.records for item in made),
        "tables": [item.name for item in made],
        "written": names if outputs else [],
    }


def _names(request: Generate) -> list[str]:
    """The names of the tables: one has the name itself, several an index; slots say whose they are."""
    ending = "" if request.what == "people" else "_resource"
    if request.tables == 1:
        return [f"{request.name}{ending}"]
    return [f"{request.name}{index}{ending}" for index in range(request.tables)]


def _title(request: Generate) -> str:
    return f"Generate {request.what}: {request.name}" + (f" × {request.tables}" if request.tables > 1 else "")


ACTIVITY = Activity("generate", "Generate data", Generate, run, _title, internal=True)
