"""What exchanging the places of households keeps, and what it must change."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from shoal.microdata.perturbation.promises.promise import Outcome
from shoal.microdata.perturbation.promises.reading import together
from shoal.microdata.perturbation.promises.untouched import common_codes, gaps
from shoal.numbers import counted

Frame = nw.DataFrame[Any]


@dataclass(frozen=True)
class HouseholdsWhole:
    """The members of a household are in one place."""

    household: str | None
    regions: tuple[str, ...]

    @property
    def text(self) -> str:
        """What is promised."""
        return "no household is torn apart: its members live in one place"

    def check(self, before: Frame, after: Frame) -> Outcome:
        """Compare every member with the first."""
        who, first = _households(before, self.household)
        *_, (_, new) = _places(before, after, self.regions)
        torn = np.unique(who[new != new[first[who]]]).size
        return Outcome(torn == 0, f"{counted(torn, 'household')} of {first.size:,} in several places")


@dataclass(frozen=True)
class RegionsAsLarge:
    """Every place has as many households as before, and as many people where sizes are matched."""

    household: str | None
    regions: tuple[str, ...]
    persons: bool

    @property
    def text(self) -> str:
        """What is promised."""
        return f"every region has as many households{' and members' if self.persons else ''} as before"

    def check(self, before: Frame, after: Frame) -> Outcome:
        """Count both."""
        _, first = _households(before, self.household)
        *_, (old, new) = _places(before, after, self.regions)
        homes = _difference(old[first], new[first])
        people = _difference(old, new) if self.persons else 0
        return Outcome(
            homes == people == 0,
            f"{counted(np.unique(old).size, 'region')}, {counted(homes, 'household')} more or fewer"
            + (f", {counted(people, 'person', 'people')} more or fewer" if self.persons else ""),
        )


@dataclass(frozen=True)
class AtRiskMoved:
    """Households with somebody whose keys are rare in a region have left it, but for a stated number."""

    household: str | None
    regions: tuple[str, ...]
    quasi: tuple[str, ...]
    k: int
    left: int

    @property
    def text(self) -> str:
        """What is promised."""
        but = f", but for {self.left:,} that found no partner," if self.left else ""
        return (
            f"every household{but} with a member who shares the keys with fewer than {self.k} members of a region "
            "is released in another"
        )

    def check(self, before: Frame, after: Frame) -> Outcome:
        """Count people by region and keys, from the coarsest level on, and look where those at risk went."""
        _, first = _households(before, self.household)
        known, stayed = np.zeros(first.size, dtype=bool), 0
        for rare, old, new in _rare(before, after, self):
            stayed += int((rare & ~known & (old == new)[first]).sum())
            known |= rare
        return Outcome(
            stayed <= self.left, f"{counted(stayed, 'household')} of {int(known.sum()):,} at risk stayed"
        )


@dataclass(frozen=True)
class FewLeave:
    """Nobody leaves the coarsest region for the share alone: of two that exchange it, one at least is at risk."""

    household: str | None
    regions: tuple[str, ...]
    quasi: tuple[str, ...]
    k: int

    @property
    def text(self) -> str:
        """What is promised."""
        return f"only households at risk, and one partner of each, change '{self.regions[0]}'"

    def check(self, before: Frame, after: Frame) -> Outcome:
        """Count those who left, and how many of them were at risk."""
        who, first = _households(before, self.household)
        at_risk = np.zeros(first.size, dtype=bool)
        for rare, _, _ in _rare(before, after, self):
            at_risk |= rare
        old, new = next(_places(before, after, self.regions))
        gone = np.unique(who[old != new])
        needed = int(at_risk[gone].sum())
        return Outcome(
            gone.size <= 2 * needed,
            f"{counted(gone.size, 'household')} did, {needed:,} of them at risk, as {int(at_risk.sum()):,} of "
            f"{first.size:,} are",
        )


def _households(frame: Frame, name: str | None) -> tuple[np.ndarray, np.ndarray]:
    """The number of each record's household, and the first record of each; one without is a household of its own."""
    own = pl.Series(range(len(frame)), dtype=pl.Int64)
    if name is None:
        return own.to_numpy(), own.to_numpy()
    column = frame[name].to_polars()
    texts = column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum, pl.Boolean) else column
    filled = texts.fill_nan(None) if texts.dtype.is_float() else texts
    numbers = filled.rank("dense").cast(pl.Int64)
    alone = numbers.fill_null(own + len(frame) + 1).to_numpy()
    _, first, who = np.unique(alone, return_index=True, return_inverse=True)
    return who, first


def _rare(
    before: Frame, after: Frame, about: AtRiskMoved | FewLeave
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Level by level which households have a member whose keys are rare there, and the place of each record before and after."""
    who, first = _households(before, about.household)
    keys = together([common_codes(before[name], before[name])[0] for name in about.quasi])
    placed = ~np.any([gaps(before[name]) for name in about.regions], axis=0)
    for old, new in _places(before, after, about.regions):
        cells = together([old, keys])
        rare = np.zeros(first.size, dtype=bool)
        rare[who[(np.bincount(cells)[cells] < about.k) & placed]] = True
        yield rare, old, new


def _places(before: Frame, after: Frame, regions: tuple[str, ...]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The place of each record before and after, level by level, told by all levels so far."""
    parts = []
    for name in regions:
        parts.append(np.concatenate(common_codes(before[name], after[name])))
        both = together(parts)
        yield both[: len(before)], both[len(before) :]


def _difference(old: np.ndarray, new: np.ndarray) -> int:
    """By how many the places differ in all."""
    size = int(max(old.max(), new.max())) + 1
    return int(np.abs(np.bincount(old, minlength=size) - np.bincount(new, minlength=size)).sum())
