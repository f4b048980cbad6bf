"""Appointments that single out as few people as possible, with a random plan beside them."""

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from shoal.errors import InputError
from shoal.web.activities.activity import Activity, Request
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    import polars as pl

    from shoal.appointments.assign import Appointments

# A picture of more crowds or slots could not be read.
_DRAWN = 40


class Assign(Request):
    """People, slots, and what counts; the names are those of the command line."""

    people: str
    slots: str
    quasi: list[str] = Field(min_length=1, description="what may be known of a person")
    objective: Literal["k", "vector"] = "k"
    method: str = Field("auto", max_length=40)
    options: dict[str, Any] = Field(default_factory=dict, description="options of the method")
    known: list[str] | None = Field(
        None, description="slot attributes an attacker knows; the slot itself if not given"
    )
    eligible: str | None = Field(None, description="a column of the people that says where they may go")
    eligibility_known: bool = False
    pinned: str | None = Field(None, description="a column with slots given already")
    diverse: str | None = Field(
        None, description="a column of which every crowd at a slot holds several values"
    )
    diversity: int = Field(2, ge=2, le=100)
    k: int = Field(5, ge=1, le=1_000_000, description="crowds below this count as exposed")
    key: str | None = Field(None, description="the column that identifies a person")
    timezone: str | None = Field(None, max_length=60)
    iterations: int | None = Field(None, ge=0, le=10**12)
    time_limit: float | None = Field(None, gt=0, le=7 * 86400)
    seed: int | None = Field(
        None, ge=0, le=2**53 - 1, description="repeats a run; without it seats are truly random"
    )


def run(request: Assign, context: Context) -> dict[str, Any]:
    """Find the plan, check it, and write it with its report."""
    import os

    import shoal

    people, slots = context.datasets.frame(request.people), context.datasets.frame(request.slots)
    taken = [name for name in ("REC_RAND", "REC_INTELLIGENT") if name in people.columns]
    common: dict[str, Any] = {
        "quasi": request.quasi,
        "objective": request.objective,
        "known": request.known,
        "eligible": request.eligible,
        "eligibility_known": request.eligibility_known,
        "pinned": request.pinned,
        "diverse": request.diverse,
        "diversity": request.diversity,
        "k": request.k,
        "seed": request.seed,
    }
    context.say("searching")
    plan = shoal.assign(
        people.drop(taken),
        slots,
        method=request.method,
        options=request.options or None,
        threads=os.cpu_count() or 1,
        budget=context.budget(request.iterations, request.time_limit),
        observer=context.observe,
        **common,
    )
    context.flush()
    context.say("drawing a random plan for comparison")
    random = None if request.diverse else shoal.assign(people.drop(taken), slots, method="random", **common)
    context.say("writing")
    notes = _write(request, people, plan, random, context)
    context.report(plan.report())
    return {**figures(plan), "notes": notes, "can_update": context.keep("update.parquet").is_file()}


def figures(plan: "Appointments") -> dict[str, Any]:
    """The figures of the command line, and the matrix of the largest crowds."""
    import numpy as np

    crowds = plan.waiting.crowd
    order = np.argsort(-np.bincount(crowds), kind="stable")[:_DRAWN]
    matrix = np.zeros((int(crowds.max()) + 1, plan.slots.ids.len()), dtype=np.int64)
    np.add.at(matrix, (crowds, plan.slot_of), 1)
    return {
        "method": plan.method,
        "objective": plan.objective,
        "people": plan.waiting.people,
        "crowds": int(plan.waiting.crowd_sizes.size),
        "k": plan.k,
        "k_before": plan.k_before,
        "k_bound": plan.k_bound,
        "k_random": plan.random.k,
        "vector": _vector(plan.vector),
        "vector_before": _vector(plan.vector_before),
        "vector_random": _vector(plan.random),
        "below": {
            str(limit): [vector.below(limit) for vector in (plan.vector_before, plan.vector, plan.random)]
            for limit in (2, 3, 5, 10)
        },
        "optimal": plan.optimal,
        "k_required": plan.k_required,
        "exposed": plan.exposed,
        "exposed_before": plan.exposed_before,
        "homogeneous_slots": plan.homogeneous,
        "slots": [
            {"slot": str(name), "capacity": int(seats), "load": int(load)}
            for name, seats, load in zip(
                plan.slots.ids.to_list(), plan.slots.capacities, plan.loads, strict=True
            )
        ],
        "matrix": matrix[order, :_DRAWN].tolist(),
        "matrix_crowds": [int(size) for size in np.bincount(crowds)[order]],
        "stopped_by": str(plan.stopped_by),
    }


def _vector(vector: Any) -> dict[str, int]:
    return {str(size): count for size, count in vector.items()}


def _write(
    request: Assign,
    people: "pl.DataFrame",
    plan: "Appointments",
    random: "Appointments | None",
    context: Context,
) -> list[str]:
    from shoal import sources

    sources.write(plan.people, context.file("release.csv", "Appointments (CSV)"), force=True)
    sources.write(plan.people, context.file("release.parquet", "Appointments (Parquet)"), force=True)
    if plan.people.height <= 200_000:
        sources.write(plan.people, context.file("release.xlsx", "Appointments (Excel)"), force=True)
    _for_update(request, people, plan, random, context)
    return _exchange(request, people, plan, context)


def _for_update(
    request: Assign,
    people: "pl.DataFrame",
    plan: "Appointments",
    random: "Appointments | None",
    context: Context,
) -> None:
    """Keep what would be written back into a table made for it."""
    import polars as pl

    key = request.key or next((name for name in people.columns if name.lower() == "id"), None)
    if key is None or random is None or not {"REC_RAND", "REC_INTELLIGENT"} <= set(people.columns):
        return
    ids = plan.slots.ids
    pl.DataFrame(
        [
            people[key],
            ids.gather(random.slot_of).alias("REC_RAND"),
            ids.gather(plan.slot_of).alias("REC_INTELLIGENT"),
        ]
    ).write_parquet(context.keep("update.parquet"))


def _exchange(request: Assign, people: "pl.DataFrame", plan: "Appointments", context: Context) -> list[str]:
    """Calendars and a FHIR bundle where the slots have times; a note says why not otherwise."""
    import zipfile

    import polars as pl

    from shoal import sources
    from shoal.search import Seeds
    from shoal.sources.calendars import appointment_calendars
    from shoal.sources.fhir import appointments_bundle

    persons = people[request.key].to_list() if request.key else None
    slots = pl.DataFrame(
        [
            plan.slots.ids,
            pl.Series("capacity", plan.slots.capacities),
            pl.Series("booked", plan.slots.booked),
            *plan.slots.attributes.get_columns(),
        ]
    )
    common: dict[str, Any] = {"persons": persons, "timezone": request.timezone}
    common["seeds"] = Seeds(request.seed).child("exchange")
    try:
        calendars = appointment_calendars(slots, plan.slot_of.tolist(), **common)
        bundle = appointments_bundle(slots, plan.slot_of.tolist(), **common)
    except InputError as problem:
        return [f"no calendar: {problem}"]
    place = context.file("calendars.zip", "Calendars (iCalendar)")
    with (
        sources.atomically(place, force=True) as unfinished,
        zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, content in calendars.items():
            archive.writestr(name, content)
    with sources.atomically(context.file("appointments.fhir.json", "FHIR bundle"), force=True) as unfinished:
        unfinished.write_text(bundle, encoding="utf-8")
    return []


def _title(request: Assign) -> str:
    return f"{request.people} in {request.slots}: {request.objective}, {request.method}"


ACTIVITY = Activity("assign", "Appointments", Assign, run, _title, search=True)
