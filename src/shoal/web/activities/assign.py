"""Appointments that single out as few people as possible, with a random plan beside them; of one table or several."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from shoal.appointments.methods import METHODS
from shoal.errors import Infeasible, InputError
from shoal.web.activities import appointment_files as files
from shoal.web.activities.activity import Activity, Request
from shoal.web.activities.appointment_figures import figures
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    import polars as pl

    from shoal.appointments.api import Appointments

_MOST_TABLES = 50
#: Columns of the people that an earlier plan was written into; they are the answer, and no question.
WRITTEN_BACK = ("REC_RAND", "REC_INTELLIGENT")
Names = Annotated[list[str], Field(min_length=1, max_length=_MOST_TABLES)]


class Assign(Request):
    """People, slots, and what counts; the names are those of the command line."""

    people: str | Names = Field(description="a table of people, or several")
    slots: str | Names | None = Field(
        None, description="the slots of each; 'tabla_resource' for 'tabla' if not given"
    )
    quasi: list[str] = Field(min_length=1, description="what may be known of a person")
    objective: Literal["k", "vector"] = "k"
    method: str = Field("auto", max_length=40)
    options: dict[str, Any] = Field(default_factory=dict, description="options of the method")
    known: list[str] | None = Field(
        None, description="slot attributes an attacker knows; the slot itself if not given"
    )
    eligible: str | None = Field(None, description="a column of the people that says where they may go")
    eligible_table: str | None = Field(None, description="data that joins people to slots they may go to")
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
    time_limit: float | None = Field(None, gt=0, le=7 * 86400, description="seconds for each table")
    seed: int | None = Field(
        None, ge=0, le=2**53 - 1, description="repeats a run; without it seats are truly random"
    )

    def pairs(self) -> dict[str, str]:
        """The slots of each table of people."""
        people = [self.people] if isinstance(self.people, str) else self.people
        slots = [self.slots] if isinstance(self.slots, str) else self.slots
        if len(set(people)) < len(people):
            raise InputError("a table of people is named twice")
        if slots is None:
            slots = [f"{name}_resource" for name in people]
        if len(slots) != len(people):
            raise InputError(
                f"{len(people)} tables of people need {len(people)} tables of slots, not {len(slots)}"
            )
        return dict(zip(people, slots, strict=True))


def run(request: Assign, context: Context) -> dict[str, Any]:
    """Find the plans, check them, and write them with their report."""
    pairs = request.pairs()
    # Everything is there before the first search begins.
    tables = {
        name: (context.datasets.frame(name), context.datasets.frame(slots)) for name, slots in pairs.items()
    }
    plans: dict[str, Appointments] = {}
    summaries: list[dict[str, Any]] = []
    can_update = []
    for place, (name, (people, slots)) in enumerate(tables.items()):
        where = f"{name} ({place + 1} of {len(tables)}): " if len(tables) > 1 else ""
        try:
            plan, random = _plan(request, people, slots, context, where)
        except (InputError, Infeasible) as problem:
            raise type(problem)(f"{name}: {problem}" if where else str(problem)) from None
        plans[name] = plan
        summaries.append({"table": name, "slots_of": pairs[name], **figures(plan, random)})
        update = context.keep(files.update_name(place))
        can_update.append(files.keep_for_update(people, plan, random, request.key, update))
    context.say("writing")
    if len(plans) == 1:
        files.write_one(next(iter(plans.values())), context)
    else:
        files.write_several(plans, context)
    persons = {
        name: people[request.key].to_list() if request.key else None for name, (people, _) in tables.items()
    }
    notes = files.write_exchange(plans, persons, request.timezone, request.seed, context)
    context.report(_page(request, plans))
    ending = {"notes": notes, "can_update": all(can_update)}
    if len(summaries) == 1:
        return {**summaries[0], **ending}
    return {"tables": summaries, **ending}


def _plan(
    request: Assign, people: "pl.DataFrame", slots: "pl.DataFrame", context: Context, where: str
) -> "tuple[Appointments, Appointments | None]":
    import shoal
    from shoal.search import silent
    from shoal.search.threads import available_cores

    people = people.drop([name for name in WRITTEN_BACK if name in people.columns])
    if request.eligible_table is not None and request.eligible is not None:
        raise InputError("say where people may go by a column or by a table, not by both")
    eligible: Any = request.eligible
    if request.eligible_table is not None:
        eligible = context.datasets.frame(request.eligible_table)
    common: dict[str, Any] = {
        "quasi": request.quasi,
        "objective": request.objective,
        "known": request.known,
        "eligible": eligible,
        "eligibility_known": request.eligibility_known,
        "pinned": request.pinned,
        "diverse": request.diverse,
        "diversity": request.diversity,
        "k": request.k,
        "seed": request.seed,
    }
    context.say(f"{where}searching")
    plan = shoal.assign(
        people,
        slots,
        method=request.method,
        options=request.options or None,
        threads=available_cores(),
        budget=context.budget(request.iterations, request.time_limit),
        # The curves of several searches would not make one picture.
        observer=silent if where else context.observe,
        **common,
    )
    context.flush()
    context.say(f"{where}drawing a random plan for comparison")
    if request.diverse:
        return plan, None
    random = shoal.assign(people, slots, method="random", **common)
    # The plan that is written back as REC_RAND is the one whose figures are shown.
    return replace(plan, random=random.vector), random


def _page(request: Assign, plans: "dict[str, Appointments]") -> Any:
    from shoal.report.page import Page

    if len(plans) == 1:
        return next(iter(plans.values())).report()
    page = Page(
        f"Appointments of {len(plans)} tables",
        f"{sum(plan.waiting.people for plan in plans.values()):,} people; "
        f"quasi-identifiers: {', '.join(request.quasi)}; an attacker knows "
        + ("the slot" if request.known is None else ", ".join(request.known)),
    )
    page.section("All tables")
    page.table(
        ["table", "people", "K before", "K now", "best K possible", "K at random", "proved optimal"],
        [
            (
                name,
                plan.waiting.people,
                plan.k_before,
                plan.k,
                plan.k_bound,
                plan.random.k,
                "yes" if plan.optimal else "no",
            )
            for name, plan in plans.items()
        ],
    )
    page.section("Who stands out")
    page.table(
        ["table", f"people in crowds below {request.k} before", "now", "slots of one crowd", "stopped by"],
        [
            (name, plan.exposed_before, plan.exposed, plan.homogeneous, str(plan.stopped_by))
            for name, plan in plans.items()
        ],
    )
    lost = sum(plan.exposed_before for plan in plans.values())
    if lost:
        page.warning(
            f"{lost:,} people are in crowds below {request.k} before any appointment is given. No plan can help them: "
            "generalise their attributes or withhold their records."
        )
    settings = next(iter(plans.values())).settings
    page.provenance(
        [
            ("method", request.method),
            ("objective", request.objective),
            *[(name, value) for name, value in settings.items() if value is not None],
        ],
        "seats, capacities, eligibility, K and vector of every table recounted from single people",
    )
    return page


def _title(request: Assign) -> str:
    pairs = request.pairs()
    which = next(iter(pairs)) if len(pairs) == 1 else f"{len(pairs)} tables, {next(iter(pairs))} …"
    aim = "K" if request.objective == "k" else "vector"
    slots = f" in {next(iter(pairs.values()))}" if len(pairs) == 1 else ""
    return f"{which}{slots}: {aim}, {request.method}"


ACTIVITY = Activity("assign", "Appointments", Assign, run, _title, search=True, methods=METHODS)
