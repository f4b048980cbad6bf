"""``assign`` as an operation: from tables of people and slots by their names to checked plans, or from sizes to a matrix."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from shoal.appointments import writing
from shoal.appointments.inputs import (
    diverse_in,
    eligible_where,
    has_sizes,
    is_location,
    method_of,
    pairs,
    sizes_and_seats,
    tables_of_people,
    who_came,
)
from shoal.appointments.settings import AssignSettings
from shoal.errors import Infeasible, InputError, messages, parameter, unknown
from shoal.operation import DataName, Operation, Product, Records, Workplace, call
from shoal.operation_release import AppointmentsRelease

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from shoal.appointments.results import Appointments, Plan


@dataclass(frozen=True, repr=False)
class Assigned:
    """A table of people with its plan; ``came`` says who kept their appointment, if that was asked for."""

    people: Records
    slots: str
    plan: "Appointments"
    came: "np.ndarray | None"


#: Plans of one table or several, or of sizes alone.
Result: TypeAlias = "list[Assigned] | Plan"


@dataclass(frozen=True, repr=False)
class _PlanInputs:
    """What a plan is to be made of."""

    people: Records
    slots: Records
    came: "np.ndarray | None"
    eligible: "str | pl.DataFrame | None"


def run(settings: AssignSettings, workplace: Workplace) -> Result:
    """Find a plan for each table, or a matrix for sizes."""
    if has_sizes(settings):
        return _from_sizes(settings, workplace)
    # Everything is there before the first search begins.
    workplace.say("reading")
    asked = [_read(people, slots, settings, workplace) for people, slots in pairs(settings)]
    several = len(asked) > 1
    found = []
    for number, table in enumerate(asked, start=1):
        where = f"{table.people.name} ({number} of {len(asked)}): " if several else ""
        try:
            plan = _plan(table, settings, workplace, where)
        except (InputError, Infeasible) as problem:
            if not several:
                raise
            raise problem.about(table.people.name) from None
        plan = replace(plan, warnings=messages(_not_counted(table.people, settings.quasi or [])))
        found.append(Assigned(table.people, table.slots.name, plan, table.came))
    return found


def _from_sizes(settings: AssignSettings, workplace: Workplace) -> "Plan":
    from shoal.appointments.api import assign_sizes

    sizes, seats, asked = sizes_and_seats(settings, workplace)
    method, options = method_of(settings)
    own = {"group_sizes": sizes, "capacities": seats, "method": method, "options": options}
    plan: Plan = call(assign_sizes, settings, workplace, **own, seed=settings.seed or 0)
    if asked is None:
        return plan
    from shoal.appointments.reductions import answer

    question = (asked.name, asked.numbers, asked.padding, asked.k)
    try:
        return replace(plan, answer=answer(*question, plan.k, plan.k_bound, plan.matrix))
    except InputError:
        raise InputError(
            "the numbers of this instance do not make its groups; make it again with 'shoal generate instance'"
        ) from None


def _read(people: DataName, slots: DataName, settings: AssignSettings, workplace: Workplace) -> _PlanInputs:
    from shoal.appointments.exchange.calendars import calendar_names
    from shoal.appointments.exchange.readers import READERS

    records = workplace.records(people)
    room = workplace.companion(slots, READERS)
    workplace.wanted("calendar", calendar_names(room.frame))
    if settings.key is not None and settings.key not in records.frame.columns:
        raise unknown("column", settings.key, records.frame.columns, where="in the people")
    came = None if settings.attended is None else who_came(records.frame, settings.attended)
    return _PlanInputs(records, room, came, eligible_where(settings, records.frame, workplace))


def _plan(table: _PlanInputs, settings: AssignSettings, workplace: Workplace, where: str) -> "Appointments":
    from shoal.appointments.api import assign
    from shoal.appointments.random_plan import with_random_plan
    from shoal.runtime.overall import Overall

    frame, compared = table.people.frame, workplace.wanted("update")
    if compared:
        frame = frame.drop([name for name in writing.WRITTEN_BACK if name in frame.columns])
    method, options = method_of(settings)
    diverse, diversity = diverse_in(settings, frame.columns)
    workplace.say(f"{where}searching")
    plan = call(
        assign,
        settings,
        workplace,
        people=frame,
        slots=table.slots.frame,
        method=method,
        options=options,
        eligible=table.eligible,
        diverse=diverse,
        diversity=diversity,
        # The curves of several searches would not make one picture.
        observer=Overall(workplace.observe) if where else workplace.observe,
    )
    if not compared:
        return plan
    workplace.say(f"{where}drawing a random plan for comparison")
    return with_random_plan(plan, settings.seed)


def _not_counted(people: Records, quasi: list[str]) -> list[str]:
    """A warning if people have more columns that somebody may know than those over which K is counted."""
    others = [f"'{name}'" for name in people.knowable if name not in (*quasi, *writing.WRITTEN_BACK)]
    if not others:
        return []
    return [
        f"K is counted over {', '.join(quasi)}; {', '.join(others)} may be known of a person, too: "
        f"name them in {parameter('quasi')} if so, or K is lower than stated"
    ]


def reads(settings: AssignSettings) -> list[DataName]:
    """People, slots and who may go where."""
    slots = [settings.slots] if isinstance(settings.slots, str) else settings.slots or []
    eligible = settings.eligible if settings.eligible and is_location(settings.eligible) else None
    more = [name for name in (eligible, settings.eligible_table, settings.instance) if name is not None]
    return [*tables_of_people(settings), *slots, *more]


_BOTH_SIZES = f"{parameter('group_sizes')} and {parameter('capacities')}"


def check(settings: AssignSettings, written: frozenset[str]) -> None:
    """Refuse what cannot go together on the command line, before anything is read."""
    if settings.level is not None and (
        settings.objective != "vector" or settings.method not in ("auto", "lexicographic")
    ):
        raise InputError(
            f"{parameter('level')} is for {parameter('objective', 'vector')} with method lexicographic"
        )
    if has_sizes(settings):
        _check_sizes(settings, written)
        return
    if settings.people is None:
        raise InputError(f"name the people and the slots, or give {_BOTH_SIZES}")
    if not settings.quasi:
        raise InputError(f"name the columns that may be known of a person with {parameter('quasi')}")
    if {"update", "output"} <= written:
        raise InputError(f"{parameter('update')} writes into the table of people; leave out -o")
    if settings.tables > 1:
        if "update" not in written:
            raise InputError(f"several tables need {parameter('update')}")
        if settings.slots is not None:
            raise InputError(
                "with several tables the slots are those of PEOPLE0_resource, PEOPLE1_resource, …"
            )
        for name in ("calendar", "fhir"):
            if name in written:
                raise InputError(f"{parameter(name)} is for one table, not for several")
    elif settings.slots is None and "://" not in str(settings.people):
        raise InputError("name the slots: a file with columns slot and capacity")


def _check_sizes(settings: AssignSettings, written: frozenset[str]) -> None:
    both = settings.group_sizes is not None and settings.capacities is not None
    if settings.people is not None or not (both or settings.instance is not None):
        raise InputError(f"give {_BOTH_SIZES} together, or {parameter('people')} and {parameter('slots')}")
    if settings.instance is not None and (settings.group_sizes, settings.capacities) != (None, None):
        raise InputError(f"{parameter('instance')} holds the sizes; leave out {_BOTH_SIZES}")
    of_people = ("quasi", "known", "eligible", "pinned", "diverse", "attended")
    if written or any(getattr(settings, name) is not None for name in of_people):
        raise InputError(
            f"with {parameter('group_sizes')} there are no people to write about; only the matrix is printed"
        )


def gate(result: Result, settings: AssignSettings) -> str | None:
    """The smallest K of all tables has to be what is required."""
    worst = min(table.plan.k for table in result) if isinstance(result, list) else result.k
    if settings.require_k is None or worst >= settings.require_k:
        return None
    return f"K is {worst}, below the required {settings.require_k}"


def titled(settings: AssignSettings) -> str:
    """A line by which a person recognises the run."""
    tables = pairs(settings)
    people, slots = tables[0]
    which = f"{people} in {slots}" if len(tables) == 1 else f"{len(tables)} tables, {people} …"
    return f"{which}: {'K' if settings.objective == 'k' else 'vector'}, {settings.method}"


_APPOINTMENTS = "the appointments"

OPERATION = Operation(
    name="assign",
    title="Appointments",
    summary="Give out appointments that single out as few people as possible.",
    description="Being seen at a centre at an hour tells something about a person. Crowds of people who cannot be told apart are "
    "kept together, and K, the anonymity vector and the best that is possible are printed.",
    examples=(
        "shoal assign people.csv slots.csv --quasi zip,sex,age -o appointments.csv",
        "shoal assign --group-sizes 4,4,5,2 --capacities 4,2,4,3,2 --objective vector",
        "shoal assign sqlite:///clinic.db::tabla --tables 5 --quasi AGE,CP,SEX --update",
    ),
    doing="assigning",
    settings=AssignSettings,
    run=run,
    reads=reads,
    check=check,
    columns_in=lambda settings: [] if has_sizes(settings) else pairs(settings),
    writes=lambda settings: not has_sizes(settings),
    gate=gate,
    titled=titled,
    products=(
        Product(
            "output",
            "Where to write.",
            writing.released,
            short="-o",
            metavar="DATA",
            internal=True,
            like_input=True,
            files=(
                ("release.csv", "Appointments (CSV)"),
                ("release.parquet", "Appointments (Parquet)"),
                ("release.xlsx", "Appointments (Excel)"),
            ),
            archive=("appointments.zip", "Appointments of all tables (CSV)"),
            subject=_APPOINTMENTS,
        ),
        Product(
            "update",
            "Write REC_RAND and REC_INTELLIGENT back into the table of people.",
            writing.columns,
            form="columns",
            metavar="",
            into=tables_of_people,
            files=(("update.parquet", ""),),
            lacking="",
            subject=_APPOINTMENTS,
        ),
        Product(
            "calendar",
            "Write iCalendar files, one per centre.",
            writing.calendars,
            form="folder",
            metavar="FOLDER",
            internal=True,
            files=(("calendars.zip", "Calendars (iCalendar)"),),
            lacking="no calendar",
            subject=_APPOINTMENTS,
        ),
        Product(
            "fhir",
            "Write a FHIR bundle.",
            writing.bundles,
            form="text",
            metavar="FILE.json",
            internal=True,
            files=(("appointments.fhir.json", "FHIR bundle"),),
            archive=("fhir.zip", "FHIR bundles"),
            lacking="no FHIR bundle",
            subject=_APPOINTMENTS,
        ),
    ),
    methods="shoal.appointments.methods:METHODS",
    reporter="shoal.appointments.report",
    function="shoal.appointments.api:assign",
    release=AppointmentsRelease(
        recounts="shoal.appointments.recount:recounted",
        written=replace(AppointmentsRelease.written, joined=(("diverse", "diversity"),)),
    ),
    apart=frozenset(
        {
            # Frames of these names; without people there are sizes.
            *("people", "slots", "quasi", "group_sizes", "capacities", "instance", "tables"),
            *("iterations", "time_limit", "level", "require_k"),
            *("attended", "eligible_table", "key", "timezone"),
        }
    ),
)
