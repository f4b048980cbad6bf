"""What is read from a frame before a recoding: the keys as leaves of their hierarchies, and the columns that models look at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from shoal.errors import InputError, parameter
from shoal.microdata.columns.hierarchies.builders import builder
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy, Values, coded, read_values, text_of
from shoal.microdata.columns.hierarchies.proposal import Proposal, propose_all
from shoal.microdata.columns.hierarchies.rule import values_of
from shoal.microdata.columns.inputs import check_names
from shoal.microdata.columns.orders import Orders
from shoal.microdata.columns.roles import Guess
from shoal.microdata.models.model import Closeness, ConfidentialColumn, Model


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
        given: Mapping[str, Any],
        orders: Orders,
        population: nw.DataFrame | None = None,
    ) -> "Keys":
        """Read the keys; a hierarchy that a rule builds covers the values of the population as well."""
        found = propose_all(
            data, names, guesses, {name: given[name] for name in given if name in names}, orders
        )
        values = [read_values(data[name]) for name in names]
        proposals = [found[name] for name in names]
        if population is not None:
            check_names(population, list(names))
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


def read_confidential(
    data: nw.DataFrame,
    names: Sequence[str],
    models: Sequence[Model],
    trees: Mapping[str, Hierarchy],
    orders: Orders,
) -> dict[str, tuple[np.ndarray, ConfidentialColumn]]:
    """The confidential columns as codes, with their shares in all data; ``trees`` are the hierarchies models ask for.

    Codes are in the order of the values: the one stated, that of the type, or that of numbers and dates.
    """
    found = {}
    for name in names:
        values = read_values(data[name])
        texts = values.texts
        if all(text is None for text in texts):
            raise InputError(f"the confidential column '{name}' has no values")
        ordered = any(
            isinstance(m, Closeness) and m.distance == "ordered" and m.column == name for m in models
        )
        place = _places(data[name], values, orders, needed=ordered)
        # A missing value goes last, so that the others keep their order.
        order = sorted(range(len(texts)), key=lambda number: (texts[number] is None, place[number]))
        rank = np.empty(len(texts), dtype=np.int32)
        rank[order] = np.arange(len(texts))
        codes = rank[values.codes]
        shares = np.bincount(codes, minlength=len(texts)) / codes.size
        asked = any(
            isinstance(m, Closeness) and m.distance == "hierarchical" and m.column == name for m in models
        )
        tree = _tree(trees[name], [texts[number] for number in order]) if asked else None
        missing = len(texts) - 1 if values.has_missing else -1
        found[name] = (codes, ConfidentialColumn(name, shares, missing, tree))
    return found


def _places(column: nw.Series, values: Values, orders: Orders, *, needed: bool) -> list[int]:
    """The place of each value in the order of the column; texts have one only if somebody states it."""
    name, texts = column.name, values.texts
    stated = orders.get(name)
    order = [str(text_of(value)) for value in stated] if stated else values.order
    if order is not None:
        unknown = [text for text in texts if text is not None and text not in order]
        if unknown:
            raise InputError(
                f"{len(unknown)} values of column '{name}' are not in its order; {parameter('ordinal')} states it"
            )
        return [-1 if text is None else order.index(text) for text in texts]
    if needed and (column.dtype == nw.String or column.dtype == nw.Object or column.dtype == nw.Categorical):
        raise InputError(
            f"closeness by order needs the order of the values of column '{name}'; state it with {parameter('ordinal')}"
        )
    return list(range(len(texts)))


def _tree(hierarchy: Hierarchy, texts: Sequence[str | None]) -> np.ndarray:
    leaves = [hierarchy.positions[text] for text in texts]
    return np.ascontiguousarray(hierarchy.nodes[:-1, leaves])
