"""What each key adds to the risk: K and expected re-identifications if nobody knew it."""

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.microdata.risk.counts import Classes
from shoal.microdata.risk.scenarios import Basis, expected_when_known, expected_when_unknown
from shoal.runtime.budget import Run


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


def contributions(
    classes: Classes, names: Sequence[str], basis: Basis, run: Run | None = None
) -> tuple[Contribution, ...]:
    """Each key left out in turn; classes that differ in it alone become one. Of a ``run`` as many as there is time for."""
    added: list[Contribution] = []
    for position, name in enumerate(names):
        if run is not None and run.stopped:
            break
        left = classes.without(position)
        k, alone, _ = left.tally()
        added.append(
            Contribution(name, k, alone, expected_when_unknown(left, basis), expected_when_known(left))
        )
        if run is not None:
            run.spend()
            run.report(phase="keys")
    return tuple(added)
