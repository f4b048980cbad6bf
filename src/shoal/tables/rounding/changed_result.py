"""What every result with changed figures tells that was searched for: cost, bound, what goes out, and whose randomness it is."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.remarks import Remarked, remarks_in_json
from shoal.report.glance import Glance
from shoal.tables.rounding.changed_tables import changed_frame

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from shoal.runtime import Solution
    from shoal.runtime.secrets import Secret
    from shoal.tables.model.table import Table
    from shoal.tables.model.tabulated import Tabulation
    from shoal.tables.safety.audit import Audit


#: What only the search knows.
_SEARCH = ("bound", "gap_percent", "optimal", "stopped_by", "work", "seconds", *remarks_in_json(()))


def without_search(figures: dict[str, Any], *others: str) -> dict[str, Any]:
    """The figures of a result that say nothing of how it was found."""
    return {name: value for name, value in figures.items() if name not in (*_SEARCH, *others)}


class WithChangedFigures(Remarked, Glance):
    """What has figures that are not always the true ones, and publishes them."""

    tabulation: "Tabulation | None"

    @property
    def _figures(self) -> "tuple[Table, np.ndarray]":
        """The true table, and what is published of its cells."""
        raise NotImplementedError

    @property
    def reservation(self) -> str:
        """What the verdict does not hold for though it is near at hand, in words; nothing if there is no such thing."""
        return ""

    @property
    def published(self) -> "pl.DataFrame":
        """The table as it may be published."""
        return changed_frame(*self._figures)

    def publish(
        self,
        path: str | Path,
        *,
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
        decimals: int | None = None,
        dataflow: str = "SHOAL:TABLE(1.0)",
    ) -> None:
        """Write the table as it may be published, as crosstabs (``.xlsx``, ``.html``) or as SDMX-CSV (``.sdmx.csv``).

        ``rows`` go down and ``columns`` across; further dimensions are slices, each a sheet.
        """
        from shoal.tables.files.layout import Layout
        from shoal.tables.rounding.changed_layout import ChangedLayout

        layout = Layout(tuple(rows), tuple(columns), decimals)
        trees = {} if self.tabulation is None else self.tabulation.trees
        ChangedLayout(*self._figures, trees, layout, dataflow).publish(path)


class ChangedTable(WithChangedFigures):
    """The common part of a rounded and of an adjusted table."""

    problem: Any
    solution: "Solution"
    audit: "Audit"
    secret: "Secret"
    tabulation: "Tabulation | None"

    @cached_property
    def values(self) -> "np.ndarray":
        """The published figures."""
        raise NotImplementedError

    @property
    def _figures(self) -> "tuple[Table, np.ndarray]":
        return self.problem.table, self.values

    @property
    def cost(self) -> float:
        """How far the figures are from where they should be, summed as the problem counts it."""
        return float(self.solution.value)

    @property
    def bound(self) -> float | None:
        """The least that any such table costs, as far as it was proved."""
        return None if self.solution.bound is None else float(self.solution.bound)

    @property
    def gap_percent(self) -> float | None:
        """How far the cost may be above the best possible, in percent of the cost."""
        if self.bound is None:
            return None
        return 100.0 * (self.cost - self.bound) / self.cost if self.cost > 0 else 0.0

    @property
    def for_release(self) -> bool:
        """Whether the randomness came from a secret and not from a seed that can be guessed."""
        return not self.secret.of_study

    @property
    def safe_in_words(self) -> str:
        """The verdict with the attacker it is for."""
        if not self.audit.safe:
            return "no"
        return f"yes, for the attacker below; {self.reservation}" if self.reservation else "yes"

    def _reserved(self) -> dict[str, Any]:
        return {"reservation": self.reservation} if self.audit.safe and self.reservation else {}

    def _searched(self) -> dict[str, Any]:
        """Cost, bound and verdict."""
        return {
            "cost": self.cost,
            "bound": self.bound,
            "gap_percent": self.gap_percent,
            "optimal": self.solution.optimal,
            "safe": self.audit.safe,
        }

    def _ended(self) -> dict[str, Any]:
        """How narrow intervals are, whose randomness it is, and how the search ended."""
        return {
            "for_release": self.for_release,
            "stopped_by": str(self.solution.stopped_by),
            "work": self.solution.work,
            "seconds": round(self.solution.seconds, 3),
        }
