"""What is read from a frame before a recoding: the keys as leaves of their hierarchies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from shoal.errors import InputError, parameter
from shoal.microdata.columns.hierarchies.builders import builder
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy, Values, coded, read_values
from shoal.microdata.columns.hierarchies.proposal import Proposal, propose_all
from shoal.microdata.columns.hierarchies.rule import values_of
from shoal.microdata.columns.inputs import check_names
from shoal.microdata.columns.orders import Orders
from shoal.microdata.columns.roles import Guess


@dataclass(frozen=True, eq=False)
class Keys:
    """The keys of a frame: their names, hierarchies with reasons, and the leaf of every record in each."""

    names: tuple[str, ...]
    proposals: tuple[Proposal, ...]
    values: tuple[Values, ...]
    leaves: tuple[np.ndarray, ...]

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """The hierarchies, by key."""
        return tuple(proposal.hierarchy for proposal in self.proposals)

    @classmethod
    def read(
        cls,
        data: nw.DataFrame,
        names: Sequence[str],
        guesses: Sequence[Guess],
        sources: Mapping[str, Any],
        orders: Orders,
        population: nw.DataFrame | None = None,
    ) -> "Keys":
        """Read the keys; a hierarchy that a rule builds covers the values of the population as well."""
        found = propose_all(
            data, names, guesses, {name: sources[name] for name in sources if name in names}, orders
        )
        values = [read_values(data[name]) for name in names]
        proposals = [found[name] for name in names]
        if population is not None:
            check_names(population, list(names), "in the population")
            proposals = [
                _covering(item, own, read_values(population[item.column]))
                for item, own in zip(proposals, values, strict=True)
            ]
        # A value written like a blank could not be told from one; labels below the root may be repeated on the way up.
        proposals = [replace(item, hierarchy=item.hierarchy.with_own_root()) for item in proposals]
        leaves = [
            coded(own, item.hierarchy, item.column) for own, item in zip(values, proposals, strict=True)
        ]
        return cls(tuple(names), tuple(proposals), tuple(values), tuple(leaves))

    def leaves_of(self, frame: nw.DataFrame) -> list[np.ndarray]:
        """The keys of another frame as leaves of the same hierarchies."""
        return [
            coded(read_values(frame[name]), hierarchy, name)
            for name, hierarchy in zip(self.names, self.hierarchies, strict=True)
        ]


def _covering(proposal: Proposal, own: Values, others: Values) -> Proposal:
    """The same hierarchy with the values of the population in it."""
    hierarchy = proposal.hierarchy
    unknown = [text for text in others.texts if text not in hierarchy.positions]
    if not unknown:
        return proposal
    if hierarchy.rule is not None:
        every = values_of([*own.samples, *others.samples])
        return replace(proposal, hierarchy=builder(hierarchy.rule).hierarchy(every, proposal.column))
    if unknown == [None]:
        return replace(proposal, hierarchy=hierarchy.with_missing())
    raise InputError(
        f"{len(unknown)} values of column '{proposal.column}' in the population are not in its hierarchy; "
        f"give one that covers them with {parameter('hierarchies')}"
    )
