"""What the figures of appointments are called and mean."""

from typing import Any

from shoal.report.definitions import Definition, Definitions, count, decimals, yes_or_no


def large(digits: Any) -> str:
    """A whole number that may have hundreds of digits.

    >>> large("3157"), large("24061467864032622473692149727991")
    ('3,157', '2.406·10^31')
    """
    number = int(digits)
    if abs(number) < 10**15:
        return f"{number:,}"
    text = str(abs(number))
    return f"{'-' if number < 0 else ''}{text[0]}.{text[1:4]}·10^{len(text) - 1}"


DEFINITIONS: Definitions = {
    "people": Definition("people", "People who get an appointment, or keep the one they have.", count),
    "k": Definition(
        "K with these appointments",
        "The size of the smallest crowd: people with the same quasi-identifiers and the same of what is known of their slot.",
        count,
    ),
    "k_before": Definition("K before any appointment", "The same by the quasi-identifiers alone.", count),
    "k_bound": Definition("best K possible", "No plan can have a larger K, as far as it is proved.", count),
    "k_random": Definition(
        "K if seats were drawn at random",
        "K of one plan drawn at random for the same people and slots.",
        count,
    ),
    "optimal": Definition("proved optimal", "Whether no plan is better by the objective.", yes_or_no),
    "gain": Definition(
        "gain over random seats (mejora)",
        "(rank − rank at random) / rank before any appointment. It looks at the smallest crowds first, and hardly moves "
        "for large ones: read K beside it.",
        decimals(4),
    ),
    "position": Definition(
        "position among all vectors",
        "The rank as a share of the highest there is: 1 when all are in one crowd, 0 when everybody is alone.",
        decimals(4),
    ),
    "rank": Definition(
        "rank of the vector",
        "The place among all anonymity vectors of so many people, counted from 0 at the worst.",
        large,
    ),
    "rank_before": Definition(
        "rank before any appointment", "The same by the quasi-identifiers alone.", large
    ),
    "rank_random": Definition(
        "rank if seats were drawn at random", "The same for one plan drawn at random.", large
    ),
    "distance": Definition(
        "distance to the vector before",
        "How many places the plan stands below what there was before any appointment.",
        large,
    ),
    "mean_crowd": Definition(
        "mean crowd of a person",
        "The mean size of a person's crowd: every size weighted by the people in it.",
        decimals(2),
    ),
    "exposed": Definition(
        "people below the required k", "People in crowds smaller than k, with these appointments.", count
    ),
    "exposed_before": Definition(
        "of them before any appointment",
        "People in crowds smaller than k by their quasi-identifiers alone: no plan helps them.",
        count,
    ),
    "homogeneous_slots": Definition(
        "slots with a single crowd", "Slots whose people of this plan all belong to one crowd.", count
    ),
}
