"""What a plan of appointments says of singling out, linking and inference."""

from typing import TYPE_CHECKING

from shoal.numbers import counted
from shoal.report.provenance import Assurances

if TYPE_CHECKING:
    from shoal.appointments.operation import Result
    from shoal.appointments.results import Appointments


def assurances(result: "Result", settings: object = None) -> Assurances:
    """Of several tables those of the one with the smallest K."""
    assert isinstance(result, list), "of sizes there is no report"
    worst = min(result, key=lambda table: table.plan.k)
    where = f"In {worst.people.name}, the worst of {len(result)} tables: " if len(result) > 1 else ""
    return of_plan(worst.plan, where)


def of_plan(plan: "Appointments", where: str = "") -> Assurances:
    """By the crowds of people who share what is known of them and of their slot."""
    seen = "the slot" if plan.known is None else ", ".join(plan.known) or "nothing of the slot"
    over, people = ", ".join(plan.quasi), plan.population.people
    risk = plan.vector.maximum_risk
    return Assurances(
        f"somebody who knows {over} of a person and sees {seen} of the appointment. Whoever knows more of a person, or sees more "
        "of the appointment, is not meant.",
        f"{where}K is {plan.k}: "
        + (
            f"{counted(plan.vector.below(2), 'person is', 'people are')} alone with {over} and {seen}. "
            if plan.k < 2
            else f"everybody shares {over} and {seen} with at least {counted(plan.k - 1, 'other')}. "
        )
        + f"{plan.exposed:,} of {people:,} are in crowds below {plan.k_required}, {plan.exposed_before:,} of them before any "
        "appointment was given.",
        f"{where}who is seen at an appointment is taken for the right person of the list with a chance of at most {risk:.3g} "
        "(1/K). Not measured: several appointments of one person, and people who come together.",
        f"{where}in {counted(plan.homogeneous, 'slot')} all people of this plan belong to one crowd: whoever is seen there gives "
        f"away {over}. Not measured: what the appointment itself says (that somebody is in the programme), and "
        "what a crowd shares besides, such as results of the screening (shoal anonymity, with confidential columns).",
    )
