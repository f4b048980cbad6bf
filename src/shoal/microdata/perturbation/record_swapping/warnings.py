"""What a user must know of swapped households."""

from collections.abc import Iterator

import numpy as np

from shoal.errors import parameter
from shoal.microdata.perturbation.problem import Problem
from shoal.microdata.perturbation.record_swapping.households import Households, numbered
from shoal.numbers import counted
from shoal.remarks import Remark, danger, note, warning

# More than this times the share that was asked for is far more.
_FAR_MORE = 1.5


def notes_on_share(share: float, households: int, moved: int, at_risk: int) -> Iterator[Remark]:
    """That far more households moved than the share asks for, and why.

    >>> [remark] = notes_on_share(0.05, 500, 400, 389)
    >>> remark.text
    '5 % of the households were asked for and 80 % moved: 389 are at risk; fewer keys or a smaller k would move fewer'
    """
    wanted = np.ceil(share * households * (1 - 1e-12))
    if 0 < wanted * _FAR_MORE < moved and at_risk:
        yield note(
            "more-households",
            f"{100 * share:.3g} % of the households were asked for and {100 * moved / households:.3g} % moved: {at_risk:,} are "
            "at risk; fewer keys or a smaller k would move fewer",
        )


def warnings_on_order(problem: Problem) -> Iterator[Remark]:
    """Regions named from the finest to the coarsest: every one of the first lies in one of the next, which are fewer."""
    codes = [problem.values(name).codes for name in problem.regions]
    kinds = [np.unique(own).size for own in codes]
    for i in range(len(codes) - 1):
        together = int(numbered(codes[i : i + 2]).max(initial=0)) + 1
        if kinds[i + 1] < kinds[i] == together:
            fine, coarse = problem.regions[i : i + 2]
            yield warning(
                "order-of-regions",
                f"every '{fine}' lies in one '{coarse}', so '{coarse}' is the coarser one; {parameter('regions')} go from the "
                f"coarsest to the finest: name '{coarse}' before '{fine}'",
                coarse,
                fine,
            )


def warnings_on(
    problem: Problem, share: float, households: Households, moved: np.ndarray, left: int
) -> Iterator[Remark]:
    """Households that could not move, and places that are missing."""
    if left:
        yield danger(
            "households-left",
            f"{counted(left, 'household')} at risk found nobody to exchange with and "
            f"{'stays' if left == 1 else 'stay'}: fewer columns in the option 'similar', or no 'match_size', would help",
            *problem.regions,
        )
    unplaced = int((~households.placed).sum())
    if unplaced:
        text = f"{counted(unplaced, 'household has', 'households have')} no complete place and took no part"
        yield warning("missing-regions", text, *problem.regions)
    short = int(np.ceil(share * households.count * (1 - 1e-12))) - int(moved.sum())
    if short > 0:
        text = f"{counted(short, 'household')} fewer than asked were exchanged: nobody else fits in the regions around"
        yield warning("fewer-changes", text, *problem.regions)
    text = "only the place is exchanged: what else is known of a household is released as it is"
    yield warning("released-keys", text, *problem.quasi)
