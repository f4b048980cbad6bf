"""The page somebody signs before appointments go out: what they do to anonymity, and what cannot be helped."""

from typing import TYPE_CHECKING

from shoal.report.page import Page

if TYPE_CHECKING:
    from shoal.anonymity.vector import AnonymityVector
    from shoal.appointments.api import Appointments


def page(plan: "Appointments") -> Page:
    """The report of a plan; it holds numbers of people only."""
    from shoal.report import charts
    from shoal.report.bins import Bin, merge_small

    people = plan.waiting.people
    known = "the slot" if plan.known is None else ", ".join(plan.known) or "nothing of the slot"
    out = Page(
        "Appointments and anonymity",
        f"{people:,} people, {plan.slots.ids.len()} slots; quasi-identifiers: {', '.join(plan.quasi)}; "
        f"an attacker knows {known}",
    )
    out.facts(
        [
            ("K before any appointment", plan.k_before),
            ("K with these appointments", plan.k),
            ("best K possible", plan.k_bound),
            ("K if seats were drawn at random", plan.random.k),
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
    if plan.exposed_before:
        out.warning(
            f"{plan.exposed_before:,} people are in crowds below {plan.k_required} before any appointment is given. "
            "No plan can help them: generalise their attributes or withhold their records."
        )
    caused = plan.exposed - plan.exposed_before
    if caused > 0:
        out.warning(f"{caused:,} more people come below {plan.k_required} by these appointments.")
    if plan.homogeneous:
        out.note(
            f"In {plan.homogeneous} slots all people of this plan belong to one crowd: who is seen there gives away the "
            "quasi-identifiers of that crowd."
        )
    bars = {}
    for name, vector in {"before": plan.vector_before, "now": plan.vector, "random": plan.random}.items():
        bars[name] = merge_small([Bin(size, size, number) for size, number in _grouped(vector)])
    if bars["now"]:
        out.chart(
            charts.bars(
                [b.name for b in bars["now"]],
                [b.count for b in bars["now"]],
                x="size of the crowd",
                y="people",
            ),
            "How many people are in crowds of which size. Bars stand for at least 10 people.",
        )
    out.section("Load of the slots")
    out.table(
        ["slot", "seats", "taken"],
        [
            [str(name), int(seats), int(load)]
            for name, seats, load in zip(
                plan.slots.ids.to_list(), plan.slots.capacities, plan.loads, strict=True
            )
        ],
    )
    settings = [("method", plan.method), ("objective", plan.objective), ("stopped by", str(plan.stopped_by))]
    settings += [(name, value) for name, value in plan.settings.items() if value is not None]
    out.provenance(settings, "seats, capacities, eligibility, K and vector recounted from single people")
    return out


def _proof(plan: "Appointments") -> str:
    if plan.optimal:
        return "proved: no plan is better for this objective, these slots and this attacker"
    return f"not proved; no plan can have K above {plan.k_bound}"


def _grouped(vector: "AnonymityVector") -> list[tuple[int, int]]:
    # Small sizes one by one, larger ones by powers of two, so that the chart stays readable.
    grouped: dict[int, int] = {}
    for size, people in vector.people.items():
        key = size if size < 10 else 10 * 2 ** ((size // 10).bit_length() - 1)
        grouped[key] = grouped.get(key, 0) + people
    return sorted(grouped.items())
