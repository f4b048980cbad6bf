"""K of a released file twice: over its declared quasi-identifiers, and over everything that somebody could know."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.exact_names import exactly, only
from shoal.microdata.columns.roles import KNOWABLE, guess_roles
from shoal.release.gates.judge import Released, measured_k

if TYPE_CHECKING:
    import polars as pl

#: Nearly unique is a column if more than this share of the records have a value that fewer than ``_FEW`` of them share.
_NEARLY_ALL = 0.5
_FEW = 5


@dataclass(frozen=True)
class KnownK:
    """K of a file over what gates count (``quasi``), and with what could be known, too (``more``)."""

    file: str
    quasi: tuple[str, ...]
    k: int | None
    more: tuple[str, ...]
    k_of_all: int

    def in_words(self) -> str:
        """A sentence for who decides: both figures where they differ, and what to do."""
        counted = (
            f"K of '{self.file}' is {self.k} over the declared quasi-identifiers {', '.join(self.quasi)}"
            if self.k is not None
            else f"'{self.file}' has no declared quasi-identifiers"
        )
        if not self.more or self.k_of_all == self.k:
            return counted
        return (
            f"{counted}, and {self.k_of_all} over everything somebody could know, also {', '.join(self.more)}: whoever "
            "knows these, too, is not held off; drop them, recode or average them, or give them the role 'confidential' if "
            "nobody can know them"
        )


def known_k(file: str, released: Released) -> KnownK:
    """Measure both on what was released."""
    quasi = released.with_role("quasi-identifier")
    more = [name for name in _knowable(released.frame, released.roles) if name not in quasi]
    own = measured_k(released, quasi) if quasi else None
    everything = [*quasi, *more]
    every = measured_k(released, everything) if everything else released.frame.height
    return KnownK(file, tuple(quasi), own, tuple(more), every)


def _knowable(frame: "pl.DataFrame", roles: Mapping[str, str]) -> list[str]:
    bare = [name for name in frame.columns if name not in roles]
    guessed = {guess.column: guess.role for guess in guess_roles(only(frame, bare))} if bare else {}
    every = {**guessed, **roles}
    return [name for name in frame.columns if every.get(name) in KNOWABLE]


def nearly_unique(frame: "pl.DataFrame", columns: Sequence[str]) -> list[str]:
    """Those of some columns whose value few records share, for most records.

    >>> import polars as pl
    >>> nearly_unique(pl.DataFrame({"weight": [1.5, 2.25, 3.5, 1.0], "all": [7, 7, 7, 7]}), ["weight", "all"])
    ['weight']
    """
    import polars as pl

    found = []
    for name in columns:
        counts = frame.select(pl.len().over(exactly(name)).alias("alike")).filter(frame[name].is_not_null())[
            "alike"
        ]
        fewest = min(_FEW, frame.height)
        if counts.len() and (counts < fewest).sum() > _NEARLY_ALL * counts.len():
            found.append(name)
    return found
