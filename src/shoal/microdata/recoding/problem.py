"""The recoding problem: people by their combination of keys, how keys may become coarser, and what must hold after."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.columns.units import units_in_words
from shoal.microdata.models.histogram import Histogram, counted
from shoal.microdata.models.model import AverageRisk, ConfidentialColumn, Model
from shoal.microdata.recoding.class_kernels import numbered_rows

#: How loss is measured: see ``shoal.microdata.recoding.loss_tables``.
Measure = Literal["loss", "entropy", "discernibility", "class-size", "cells"]
MEASURES: tuple[str, ...] = get_args(Measure)


@dataclass(frozen=True, eq=False)
class Spread:
    """People whose records differ in their keys: the tuples of person i are ``tuples[starts[i]:starts[i + 1]]``."""

    starts: np.ndarray
    tuples: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """Make keys coarser with the least loss, so that all who are released share theirs with at least k people.

    A *tuple* is a combination of keys that occurs. ``keys`` holds its values as leaves of the ``hierarchies`` (a column for
    each), ``records`` counts its records and ``people`` those who have records of this tuple alone; ``spread`` are the others.
    At most ``limit`` people may be left out. Tuples are sorted by their keys, so that nothing depends on the order of records.

    >>> ages = Hierarchy([("31", "30-39"), ("38", "30-39"), ("47", "40-49")])
    >>> problem = Problem.of([np.array([0, 1, 2, 0])], [ages], k=2)
    >>> problem.keys.ravel().tolist(), problem.records.tolist(), problem.nodes
    ([0, 1, 2], [2, 1, 1], 3)
    """

    hierarchies: tuple[Hierarchy, ...]
    keys: np.ndarray
    records: np.ndarray
    people: np.ndarray
    k: int
    limit: int = 0
    spread: Spread | None = None
    models: tuple[Model, ...] = ()
    confidential: Mapping[str, ConfidentialColumn] = field(default_factory=dict)
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    population: np.ndarray | None = None
    measure: Measure = "loss"
    weights: np.ndarray = field(default_factory=lambda: np.ones(0))
    lowest: tuple[int, ...] = ()
    highest: tuple[int, ...] = ()
    keep_suppressed: bool = False
    #: Keys that all records are to show at one level, such as those a household shares.
    alike: tuple[int, ...] = ()
    #: Whether every key is to be at one level in all records, or blank.
    uniform: bool = False
    #: Whether units of whom no record shows a key count with those left out.
    show_keys: bool = False
    #: The tuple of every record, if the problem was counted from records.
    tuple_of: np.ndarray | None = None

    def __post_init__(self) -> None:
        heights = tuple(hierarchy.height for hierarchy in self.hierarchies)
        if not heights:
            raise InputError("there is no key to recode")
        object.__setattr__(self, "lowest", self.lowest or (0,) * len(heights))
        object.__setattr__(self, "highest", self.highest or heights)
        if self.weights.size == 0:
            object.__setattr__(self, "weights", np.ones(len(heights)))
        if any(
            not 0 <= low <= high <= top
            for low, high, top in zip(self.lowest, self.highest, heights, strict=True)
        ):
            raise InputError("the levels must lie within the hierarchies, the lowest not above the highest")
        if self.k < 1:
            raise InputError(f"k must be at least 1, not {self.k}")
        if self.units < self.k:
            one, many = self.counted
            there = f"is only 1 {one}" if self.units == 1 else f"are only {self.units} {many}"
            raise InputError(f"k is {self.k}, but there {there}")

    @classmethod
    def of(
        cls,
        columns: Sequence[np.ndarray],
        hierarchies: Sequence[Hierarchy],
        *,
        k: int,
        units: np.ndarray | None = None,
        confidential: Mapping[str, tuple[np.ndarray, ConfidentialColumn]] | None = None,
        population: Sequence[np.ndarray] | None = None,
        **settings: object,
    ) -> "Problem":
        """Count records into tuples; ``units`` says whose record each is, ``confidential`` holds codes of values by column.

        ``population`` are the keys of everybody, as leaves of the same hierarchies.
        """
        return _counted_problem(columns, hierarchies, k, units, confidential or {}, population, settings)

    @property
    def size(self) -> int:
        """How many records there are."""
        return int(self.records.sum())

    @property
    def units(self) -> int:
        """How many units, or records, there are."""
        return int(self.people.sum()) + (0 if self.spread is None else self.spread.starts.size - 1)

    @property
    def counted(self) -> tuple[str, str]:
        """What is counted, one and several of it."""
        return units_in_words(self.spread is not None or bool((self.people != self.records).any()))

    @property
    def heights(self) -> tuple[int, ...]:
        """The level of the root, by column."""
        return tuple(hierarchy.height for hierarchy in self.hierarchies)

    @property
    def nodes(self) -> int:
        """How many recodings of whole columns there are."""
        return int(
            np.prod(
                [high - low + 1 for low, high in zip(self.lowest, self.highest, strict=True)], dtype=object
            )
        )

    @cached_property
    def keyless(self) -> np.ndarray:
        """Which tuples came without any key."""
        missing = np.ones(self.records.size, dtype=bool)
        for column, hierarchy in enumerate(self.hierarchies):
            missing &= np.array([leaf is None for leaf in hierarchy.leaves])[self.keys[:, column]]
        return missing

    def with_levels(self, columns: Sequence[int], levels: Sequence[int]) -> "Problem":
        """The same with the levels of some columns fixed."""
        if not columns:
            return self
        lowest, highest = list(self.lowest), list(self.highest)
        for column in columns:
            lowest[column] = highest[column] = levels[column]
        return replace(self, lowest=tuple(lowest), highest=tuple(highest))

    @property
    def average_risks(self) -> list[AverageRisk]:
        """The demands on the release as a whole."""
        return [model for model in self.models if isinstance(model, AverageRisk)]


def _counted_problem(
    columns: Sequence[np.ndarray],
    hierarchies: Sequence[Hierarchy],
    k: int,
    units: np.ndarray | None,
    confidential: Mapping[str, tuple[np.ndarray, ConfidentialColumn]],
    population: Sequence[np.ndarray] | None,
    settings: Mapping[str, object],
) -> Problem:
    n = len(columns[0])
    cards = [len(hierarchy.rows) for hierarchy in hierarchies]
    stacked = np.stack([np.asarray(column, dtype=np.int32) for column in columns], axis=1)
    if population is not None:
        others = np.stack([np.asarray(column, dtype=np.int32) for column in population], axis=1)
        stacked = np.concatenate([stacked, others])
    numbers, first = numbered_rows(np.ascontiguousarray(stacked), np.array(cards, dtype=np.int64))
    keys = stacked[first]
    order = np.lexsort(keys.T[::-1])
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    tuples = rank[numbers]
    keys = np.ascontiguousarray(keys[order])
    own = tuples[:n]
    records = np.bincount(own, minlength=order.size)
    people, spread = (records, None) if units is None else people_of(own, units, order.size)
    histograms = {
        name: counted(own, codes, np.ones(n, dtype=np.int64), order.size, column.kinds)
        for name, (codes, column) in confidential.items()
    }
    return Problem(
        hierarchies=tuple(hierarchies),
        keys=keys,
        records=records,
        people=people,
        k=k,
        spread=spread,
        confidential={name: column for name, (_, column) in confidential.items()},
        histograms=histograms,
        population=None if population is None else np.bincount(tuples[n:], minlength=order.size),
        tuple_of=own,
        **settings,  # type: ignore[arg-type]
    )


def people_of(tuples: np.ndarray, units: np.ndarray, size: int) -> tuple[np.ndarray, Spread | None]:
    """Who has records of one tuple alone, counted by tuple, and the tuples of all others."""
    pairs = np.unique(np.stack([units.astype(np.int64), tuples], axis=1), axis=0)
    starts = np.flatnonzero(np.diff(pairs[:, 0], prepend=pairs[0, 0] - 1))
    lengths = np.diff(starts, append=pairs.shape[0])
    alone = pairs[starts[lengths == 1], 1]
    people = np.bincount(alone, minlength=size)
    if alone.size == starts.size:
        return people, None
    several = np.repeat(lengths > 1, lengths)
    own = lengths[lengths > 1]
    return people, Spread(np.concatenate([[0], np.cumsum(own)]), pairs[several, 1])
