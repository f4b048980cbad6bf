"""From a table of people to rows of a problem, and from a solution back to every single person."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.appointments.people.eligibility import allowed_slots
from shoal.appointments.people.slots import Slots
from shoal.appointments.problem import Problem
from shoal.errors import InputError, unknown
from shoal.exact_names import exactly
from shoal.runtime import Seeds


@dataclass(frozen=True)
class Population:
    """People sorted into crowds and rows, and the problem they pose.

    ``row`` and ``pinned`` hold one number per person: the row of the problem (−1: pinned), the slot given already
    (−1: none). ``problem`` is ``None`` when everybody is pinned.
    """

    problem: Problem | None
    row: np.ndarray
    crowd: np.ndarray
    pinned: np.ndarray
    crowd_sizes: np.ndarray
    label_of_slot: np.ndarray
    label_names: list[str]

    @property
    def people(self) -> int:
        """Number of people, pinned ones included."""
        return int(self.crowd.size)

    def cells(self, slot_of: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
        """The sizes of the crowds that are left when everybody's slot is known, of all people or of some."""
        keys = self.crowd.astype(np.int64) * len(self.label_names) + self.label_of_slot[slot_of]
        if among is not None:
            keys = keys[among]
        return np.unique(keys, return_counts=True)[1]

    def seat(self, matrix: np.ndarray | None, seeds: Seeds) -> np.ndarray:
        """A slot for everybody: who of a row gets which is drawn at random; pinned people keep theirs."""
        slot_of = self.pinned.copy()
        if matrix is None:
            return slot_of
        generator = seeds.child("placing").generator()
        waiting = np.flatnonzero(self.row >= 0)
        order = generator.permutation(waiting)
        order = order[np.argsort(self.row[order], kind="stable")]
        seats = np.repeat(np.tile(np.arange(matrix.shape[1]), matrix.shape[0]), matrix.reshape(-1))
        slot_of[order] = seats
        return slot_of


def codes(frame: pl.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Numbers 0, 1, … by first appearance for equal combinations of values; a missing value is a value of its own."""
    if not columns:
        return np.zeros(frame.height, np.int64)
    lists = (
        frame.lazy()
        .select(exactly(*columns))
        .with_row_index("index of the person")
        .group_by(exactly(*columns), maintain_order=True)
        .agg(pl.col("index of the person"))
        .collect()["index of the person"]
    )
    found = np.empty(frame.height, np.int64)
    found[lists.explode().to_numpy()] = np.repeat(np.arange(lists.len()), lists.list.len().to_numpy())
    return found


def sort_into_rows(
    frame: pl.DataFrame,
    slots: Slots,
    *,
    quasi: Sequence[str],
    objective: str = "k",
    known: Sequence[str] | None = None,
    eligible: Any = None,
    pinned: str | None = None,
    diverse: str | None = None,
    diversity: int = 1,
    eligibility_known: bool = False,
) -> Population:
    """Sort people into crowds and rows and state the problem they pose."""
    if not quasi:
        raise InputError("name at least one quasi-identifier column")
    for name in [*quasi, *([pinned] if pinned else []), *([diverse] if diverse else [])]:
        if name not in frame.columns:
            raise unknown("column", name, frame.columns, where="in the people")
    if frame.height == 0:
        raise InputError("there are no people to give an appointment")
    if diversity > 1 and diverse is None:
        raise InputError("diversity needs the column to be diverse in")
    classes, patterns = allowed_slots(frame, slots, eligible)
    crowd = codes(frame, quasi)
    if eligibility_known:
        crowd = _pair(crowd, classes)
    slot_given = slots.places(frame[pinned]) if pinned else np.full(frame.height, -1, np.int64)
    label_of_slot, label_names = slots.labels(known)
    free = slots.free.copy()
    np.subtract.at(free, slot_given[slot_given >= 0], 1)
    if (free < 0).any():
        raise InputError(
            f"{int((free < 0).sum())} slots have fewer seats than people who are to keep their appointment there"
        )
    shape = (int(crowd.max()) + 1, len(label_names))
    held = slot_given >= 0
    kept = np.zeros(shape, np.int64)
    np.add.at(kept, (crowd[held], label_of_slot[slot_given[held]]), 1)
    kind = codes(frame, [diverse]) if diverse else np.zeros(frame.height, np.int64)
    if diverse and frame[diverse].null_count():
        raise InputError(f"column '{diverse}' has missing values; diversity needs them all")
    kept_kinds = np.zeros((*shape, int(kind.max()) + 1), bool)
    kept_kinds[crowd[held], label_of_slot[slot_given[held]], kind[held]] = True
    row = np.full(frame.height, -1, np.int64)
    problem = None
    waiting = np.flatnonzero(~held)
    if waiting.size:
        keys = np.stack([crowd[waiting], classes[waiting], kind[waiting]], axis=1)
        found, inverse, sizes = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        row[waiting] = inverse.reshape(-1)
        problem = Problem(
            sizes,
            free,
            objective,
            crowds=found[:, 0],
            labels=label_of_slot,
            eligible=patterns[found[:, 1]],
            pinned=kept,
            kinds=found[:, 2],
            pinned_kinds=kept_kinds,
            diversity=diversity,
        )
    return Population(problem, row, crowd, slot_given, np.bincount(crowd), label_of_slot, label_names)


def _pair(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    found = np.unique(np.stack([one, other], axis=1), axis=0, return_inverse=True)[1]
    return found.reshape(-1)
