"""How appointments are told: figures, facts, tables, and the page somebody signs before they go out."""

from typing import TYPE_CHECKING, Any

from shoal.appointments.assurances import assurances as assurances
from shoal.appointments.definitions import DEFINITIONS, large
from shoal.operation import Rows
from shoal.report.definitions import in_words
from shoal.report.page import Page

if TYPE_CHECKING:
    from shoal.anonymity.vector import AnonymityVector
    from shoal.appointments.operation import Assigned, Result
    from shoal.appointments.results import Appointments, Plan
    from shoal.appointments.settings import AssignSettings
    from shoal.report.bins import Bin
    from shoal.runtime import Progress

_SLOTS_SHOWN = 30
_PLACES = ("gain", "position", "rank", "rank_before", "rank_random", "distance")
# A matrix of more cells would not be read.
_CELLS_SHOWN = 2000


def glimpse(progress: "Progress") -> str:
    """How far the search is."""
    if progress.value is None:
        return ""
    value = progress.value if isinstance(progress.value, int) else progress.value.k
    bound = progress.bound if isinstance(progress.bound, int) or progress.bound is None else progress.bound.k
    return f"K {value}" + ("" if bound is None else f" of at most {bound}")


def figures(result: "Result", settings: "AssignSettings") -> dict[str, Any]:
    """The figures of a plan; of several tables those of each, and of sizes the matrix, too."""
    if not isinstance(result, list):
        return result.to_dict()
    if len(result) == 1:
        return table_figures(result[0])
    return {"tables": [{"table": table.people.name, **table_figures(table)} for table in result]}


def table_figures(table: "Assigned") -> dict[str, Any]:
    """The figures of one table of people."""
    plan, assignment = table.plan, table.plan.assignment
    return {
        **plan.to_dict(),
        "known": None if plan.known is None else list(plan.known),
        "work": 0 if assignment is None else assignment.work,
        "seconds": 0.0 if assignment is None else assignment.seconds,
        **_attended(table),
        "warnings": list(plan.warnings),
    }


def _attended(table: "Assigned") -> dict[str, Any]:
    """What the appointments say of those who came, if that is known."""
    if table.came is None:
        return {}
    from shoal.appointments.results import crowds

    vector = table.plan.attended(table.came)
    return {
        "attended": int(table.came.sum()),
        "k_attended": vector.k,
        "vector_attended": crowds(vector),
        "exposed_attended": vector.below(table.plan.k_required),
    }


def facts(result: "Result", settings: "AssignSettings") -> list[tuple[str, Any]]:
    """What a person wants to know first; of several tables all is in one table."""
    if not isinstance(result, list):
        return [*_k_facts(result), *_search_facts(result)]
    return _facts(result[0]) if len(result) == 1 else []


def _k_facts(plan: "Plan | Appointments") -> list[tuple[str, Any]]:
    return [
        ("K", f"{plan.k} (before any slot is known: {plan.k_before}; at random: {plan.random.k})"),
        ("best K possible", plan.k_bound),
        ("anonymity vector", str(plan.vector)),
        ("mean crowd of a person", _means(plan)),
        *_rank_facts(plan),
        ("proved optimal", "yes" if plan.optimal else "no"),
    ]


def _means(plan: "Plan | Appointments") -> str:
    before, chance = plan.vector_before.weighted_mean_size, plan.random.weighted_mean_size
    return f"{plan.vector.weighted_mean_size:.2f} (before: {before:.2f}; at random: {chance:.2f})"


def _rank_facts(plan: "Plan | Appointments") -> list[tuple[str, Any]]:
    """Rank, position, distance and gain, as far as there are not too many people for them."""
    found = plan.places
    if found is None:
        return []
    ranks = f"{large(found.rank)} of {large(found.vectors - 1)}"
    return [
        ("rank of the vector", f"{ranks} (before: {large(found.before)}; at random: {large(found.random)})"),
        (
            "gain over random seats",
            "not defined: everybody is alone before any slot" if found.gain is None else f"{found.gain:.4f}",
        ),
    ]


def _search_facts(plan: "Plan") -> list[tuple[str, Any]]:
    """What the search counted, and the answer to what was asked with a certificate that anybody can check."""
    found: list[tuple[str, Any]] = []
    assignment = plan.assignment
    if assignment.nodes is not None:
        found.append(("nodes visited", f"{assignment.nodes:,}"))
    if assignment.course:
        generations, last, _ = assignment.course[-1]
        first = next((at for at, _, broken in assignment.course if not broken), None)
        obeyed = "" if first is None else f"; the rules are obeyed from generation {first:,} on"
        reached = next(at for at, k, broken in assignment.course if k == last and not broken)
        found.append(("course", f"K {last} since generation {reached:,} of {generations:,}{obeyed}"))
    if plan.answer is not None:
        found.append(("answer", str(plan.answer)))
        if plan.answer.halves is not None:
            one, other = (" + ".join(map(str, half)) for half in plan.answer.halves)
            found.append(("certificate", f"{one} = {other}"))
    return found


def _facts(table: "Assigned") -> list[tuple[str, Any]]:
    plan = table.plan
    pairs: list[tuple[str, Any]] = [
        ("people", f"{plan.population.people:,} in {plan.population.crowd_sizes.size:,} crowds"),
        *_k_facts(plan),
        (
            f"people below {plan.k_required}",
            f"{plan.exposed:,} ({plan.exposed_before:,} before any slot, whom no plan can help; at random "
            f"{plan.random.below(plan.k_required):,})",
        ),
    ]
    came = _attended(table)
    if came:
        words = f"K {came['k_attended']}, {came['exposed_attended']:,} of {came['attended']:,} below {plan.k_required}"
        pairs.append(("of those who came", words))
    if plan.homogeneous:
        words = f"{plan.homogeneous} (whoever is seen there gives the crowd away)"
        pairs.append(("slots with a single crowd", words))
    return pairs


def tables(result: "Result", settings: "AssignSettings") -> list[Rows]:
    """The load of the slots, or of several tables a line each; of sizes the matrix."""
    if not isinstance(result, list):
        return _matrix(result)
    if len(result) > 1:
        header = ["table", "people", "K", "best K", "K before", "K at random", "optimal"]
        return [Rows(header, [_row(table.people.name, table.plan) for table in result])]
    slots = [(str(name), int(seats), int(load)) for name, seats, load in result[0].plan.loads_by_slot()]
    more = len(slots) - _SLOTS_SHOWN
    rest = f"… and {more} more slots" if more > 0 else ""
    return [Rows(["slot", "capacity", "load"], slots[:_SLOTS_SHOWN], rest=rest)]


def _row(name: str, plan: "Appointments") -> tuple[Any, ...]:
    return (name, plan.population.people, plan.k, plan.k_bound, plan.k_before, plan.random.k, plan.optimal)


def _matrix(plan: "Plan") -> list[Rows]:
    sizes, seats = plan.problem.sizes.tolist(), plan.problem.capacities.tolist()
    if len(sizes) * len(seats) > _CELLS_SHOWN:
        return []
    rows = [
        [f"{size}", *(value or "" for value in row)] for size, row in zip(sizes, plan.matrix, strict=True)
    ]
    return [Rows(["group", *(f"slot of {seat}" for seat in seats)], rows)]


def page(result: "Result", settings: "AssignSettings") -> Page:
    """The report of the plans; it holds numbers of people only."""
    assert isinstance(result, list), "of sizes there is no report"
    if len(result) == 1:
        return plan_page(result[0].plan)
    plans = {table.people.name: table.plan for table in result}
    out = Page(
        f"Appointments of {len(plans)} tables",
        f"{sum(plan.population.people for plan in plans.values()):,} people; "
        f"quasi-identifiers: {', '.join(settings.quasi or ())}; an attacker knows "
        + ("the slot" if settings.known is None else ", ".join(settings.known)),
    )
    out.section("All tables")
    out.table(
        ["table", "people", "K now", "best K possible", "K before", "K at random", "proved optimal"],
        [(*_row(name, plan)[:-1], "yes" if plan.optimal else "no") for name, plan in plans.items()],
    )
    out.section("Who stands out")
    out.table(
        ["table", f"people in crowds below {settings.k} before", "now", "slots of one crowd", "stopped by"],
        [
            (name, plan.exposed_before, plan.exposed, plan.homogeneous, str(plan.stopped_by))
            for name, plan in plans.items()
        ],
    )
    _beyond_help(out, sum(plan.exposed_before for plan in plans.values()), settings.k)
    shared = next(iter(plans.values()))
    out.provenance(
        [
            ("method", shared.method),
            ("objective", shared.objective),
            *[(name, value) for name, value in shared.settings.items() if value is not None],
        ],
        "seats, capacities, eligibility, K and vector of every table recounted from single people",
    )
    return out


def _beyond_help(out: Page, people: int, k: int) -> None:
    if people:
        out.warning(
            f"{people:,} people are in crowds below {k} before any appointment is given. "
            "No plan can help them: generalise their attributes or withhold their records."
        )


def plan_page(plan: "Appointments") -> Page:
    """The report of one plan."""
    from shoal.report import charts
    from shoal.report.bins import merge_small

    people = plan.population.people
    known = "the slot" if plan.known is None else ", ".join(plan.known) or "nothing of the slot"
    out = Page(
        "Appointments and anonymity",
        f"{people:,} people, {plan.slots.ids.len()} slots; quasi-identifiers: {', '.join(plan.quasi)}; "
        f"an attacker knows {known}",
    )
    out.facts(
        [
            *in_words(DEFINITIONS, plan.to_dict(), ("people", "k_before", "k", "k_bound", "k_random")),
            *in_words(DEFINITIONS, plan.to_dict(), ("mean_crowd", *_PLACES)),
            *in_words(DEFINITIONS, plan.to_dict(), ("exposed", "exposed_before", "homogeneous_slots")),
            ("best possible", _proof(plan)),
        ]
    )
    out.section("Who stands out")
    limits = (2, 3, 5, 10)
    out.table(
        ["people in crowds below", "before", "now", "at random"],
        [
            [limit, *(vector.below(limit) for vector in (plan.vector_before, plan.vector, plan.random))]
            for limit in limits
        ],
    )
    _beyond_help(out, plan.exposed_before, plan.k_required)
    caused = plan.exposed - plan.exposed_before
    if caused > 0:
        out.warning(f"{caused:,} more people come below {plan.k_required} by these appointments.")
    if plan.homogeneous:
        out.note(
            f"In {plan.homogeneous} slots all people of this plan belong to one crowd: who is seen there gives away the "
            "quasi-identifiers of that crowd."
        )
    bins = merge_small(_grouped(plan.vector))
    if bins:
        out.chart(
            charts.bars([b.name for b in bins], [b.count for b in bins], x="size of the crowd", y="people"),
            "How many people are in crowds of which size. Bars stand for at least 10 people.",
        )
    out.section("Load of the slots")
    out.table(
        ["slot", "seats", "taken"],
        [[str(name), int(seats), int(load)] for name, seats, load in plan.loads_by_slot()],
    )
    settings = [("method", plan.method), ("objective", plan.objective), ("stopped by", str(plan.stopped_by))]
    settings += [(name, value) for name, value in plan.settings.items() if value is not None]
    out.provenance(settings, "seats, capacities, eligibility, K and vector recounted from single people")
    return out


def _proof(plan: "Appointments") -> str:
    if plan.optimal:
        return "proved: no plan is better for this objective, these slots and this attacker"
    return f"not proved; no plan can have K above {plan.k_bound}"


def _grouped(vector: "AnonymityVector") -> "list[Bin]":
    from shoal.report.bins import Bin

    # Small sizes one by one, larger ones by powers of two, so that the chart stays readable.
    grouped: dict[tuple[int, int], int] = {}
    for size, people in vector.people.items():
        least = size if size < 10 else 10 * 2 ** ((size // 10).bit_length() - 1)
        sizes = (least, size if size < 10 else 2 * least - 1)
        grouped[sizes] = grouped.get(sizes, 0) + people
    return [Bin(*sizes, people) for sizes, people in sorted(grouped.items())]
