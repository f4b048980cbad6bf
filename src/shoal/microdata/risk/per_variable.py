"""What each key adds to the risk: K and expected re-identifications if nobody knew it."""

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.microdata.risk.counts import Classes
from shoal.microdata.risk.scenarios import Basis, expected_when_known, expected_when_unknown


@dataclass(frozen=True)
class Contribution:
    """What is left without one key: K, sample uniques, and expected re-identifications by scenario.

    ``expected`` is for somebody who does not know who responded, ``expected_known`` for somebody who does.
    """

    key: str
    k: int
    uniques: int
    expected: float
    expected_known: float


def contributions(classes: Classes, names: Sequence[str], basis: Basis) -> tuple[Contribution, ...]:
    """Each key left out in turn; classes that differ in it alone become one."""
    found = []
    for place, name in enumerate(names):
        left = classes.without(place)
        k, alone, _ = left.tally()
        found.append(
            Contribution(name, k, alone, expected_when_unknown(left, basis), expected_when_known(left))
        )
    return tuple(found)
