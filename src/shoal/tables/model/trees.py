"""The hierarchy of a dimension: codes that add up to other codes, and all of them to the total."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TypeVar

import numpy as np

from shoal.errors import InputError, first_record
from shoal.numbers import counted
from shoal.tables.model.table import TOTAL

Built = TypeVar("Built")


@dataclass(frozen=True, eq=False)
class Tree:
    """One dimension: its codes, the parent of each (−1 for the top), and which are leaves. The top is the total."""

    codes: tuple[str, ...]
    parent: np.ndarray

    @property
    def size(self) -> int:
        """Number of codes, the total included."""
        return len(self.codes)

    @cached_property
    def leaves(self) -> np.ndarray:
        """Which codes have no children."""
        flags = np.ones(self.size, dtype=bool)
        flags[self.parent[self.parent >= 0]] = False
        return flags

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The children of each code that has some."""
        found: dict[int, list[int]] = {}
        for code, parent in enumerate(self.parent):
            if parent >= 0:
                found.setdefault(int(parent), []).append(code)
        return found

    @property
    def depth(self) -> int:
        """Number of levels below the total."""
        return max(len(self.lineage(int(code))) for code in np.flatnonzero(self.leaves)) - 1

    def lineage(self, code: int) -> list[int]:
        """The code and all that contain it, up to the total."""
        found = [int(code)]
        while self.parent[found[-1]] >= 0:
            found.append(int(self.parent[found[-1]]))
        return found


def refuse_circles(name: str, parents: Mapping[str, str]) -> None:
    """Refuse codes that contain themselves, whether the data have them or not."""
    fine: set[str] = {TOTAL}
    for code in parents:
        seen: list[str] = []
        step: str | None = code
        while step is not None and step not in fine:
            if step in seen:
                # The one that came again is in the circle; the one that led there may only lie below it.
                at = list(parents).index(step) + 1
                raise InputError(f"the hierarchy of '{name}' goes round in circles at its code number {at}")
            seen.append(step)
            step = parents.get(step)
        fine.update(seen)


class EitherWay(dict[str, str]):
    """The parents of codes in a file that may have parents before or after their children: ``other`` is the second reading."""

    def __init__(self, first: Mapping[str, str], other: Mapping[str, str]) -> None:
        super().__init__(first)
        self.other = dict(other)

    def with_tops(self, codes: Iterable[str]) -> "EitherWay":
        """The same with further codes directly below the total."""
        more = dict.fromkeys(codes, "")
        return EitherWay({**self, **more}, {**self.other, **more})


def as_it_fits(
    build: Callable[[dict[str, Mapping[str, str]]], Built], hierarchies: Mapping[str, Mapping[str, str]]
) -> Built:
    """What is built with the first reading of all hierarchies that the data allow; what is wrong with the usual one is said.

    >>> def build(read):
    ...     if "z" in read["sector"].values():
    ...         raise InputError("z has records")
    ...     return read["sector"]
    >>> as_it_fits(build, {"sector": EitherWay({"z": "", "a1": "z", "a": ""}, {"a": "", "a1": "a", "z": ""})})
    {'a': '', 'a1': 'a', 'z': ''}
    """
    try:
        return build(dict(hierarchies))
    except InputError:
        unsure = [name for name, read in hierarchies.items() if isinstance(read, EitherWay)]
        for turned in product((False, True), repeat=len(unsure)):
            others = {
                name: hierarchies[name].other  # type: ignore[attr-defined]
                for name, turn in zip(unsure, turned, strict=True)
                if turn
            }
            if others:
                try:
                    return build({**hierarchies, **others})
                except InputError:
                    continue
        raise


def grow(
    name: str,
    values: Sequence[str],
    hierarchy: Mapping[str, str] | None,
    *,
    records: Sequence[str] | None = None,
) -> Tree:
    """The tree over the values of a dimension; ``hierarchy`` maps a code to its parent (empty: the total).

    ``records`` are the values as they stand in the data, so that an error can say in which record to look.
    """
    parents = {
        str(child): TOTAL if parent in ("", None) else str(parent)
        for child, parent in (hierarchy or {}).items()
    }
    refuse_circles(name, parents)
    needed: dict[str, None] = {}
    for value in values:
        if value == TOTAL:
            raise InputError(f"dimension '{name}' has the value '{TOTAL}', which is reserved for the total")
        step: str | None = value
        while step is not None and step != TOTAL:
            if hierarchy and step not in parents and step == value:
                outside = {item for item in values if item not in parents}
                raise InputError(
                    f"in dimension '{name}' {counted(len(outside), 'value is', 'values are')} not in its hierarchy"
                    f"{_where(outside, records)}"
                )
            needed[step] = None
            step = parents.get(step, TOTAL)
    codes = [TOTAL, *sorted(needed)]
    place = {code: index for index, code in enumerate(codes)}
    parent_of = np.array([-1] + [place[parents.get(code, TOTAL)] for code in codes[1:]], dtype=np.int64)
    tree = Tree(tuple(codes), parent_of)
    both = {value for value in values if not tree.leaves[place[value]]}
    if both:
        raise InputError(
            f"in dimension '{name}' {counted(len(both), 'value is a subtotal', 'values are subtotals')} of its hierarchy at the "
            f"same time{_where(both, records)}"
        )
    return tree


def _where(values: Iterable[str], records: Sequence[str] | None) -> str:
    wanted = set(values)
    places = [place for place, item in enumerate(records or ()) if item in wanted]
    return f": see {first_record(places)}" if places else ""
