"""What ``suppress`` returns: a safe pattern with its cost, its bound and its audit, and what may be published."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.report.glance import Glance
from shoal.tables.files.publishing import interval_frame, pattern_frame, published_frame
from shoal.tables.model.decimals import exact_sums
from shoal.tables.model.tabulated import Tabulation
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import Audit
from shoal.tables.solution import Pattern

if TYPE_CHECKING:
    import polars as pl

    from shoal.report.page import Page


@dataclass(frozen=True, eq=False, repr=False)
class Suppression(Glance):
    """A safe pattern with its cost, its bound and its audit."""

    problem: Problem
    solution: Pattern
    audit: Audit
    method: str
    attacker: str
    seed: int
    doubtful_if_bounded: int = 0
    tabulation: Tabulation | None = None

    def glance(self) -> dict[str, Any]:
        """The cells by kind, their cost, and whether they are enough."""
        told = self.to_dict()
        return {name: told[name] for name in ("method", "primary", "complementary", "cost", "bound", "safe")}

    @property
    def cost(self) -> float:
        """What hiding the complementary cells costs."""
        return float(exact_sums(np.array([self.solution.value]), self.problem.cost)[0])

    @property
    def bound(self) -> float | None:
        """The least any safe pattern costs, as far as it was proved; ``None`` if nothing above 0 was."""
        if self.solution.bound is None:
            return None
        return self.cost if self.solution.bound == self.solution.value else float(self.solution.bound)

    @property
    def gap_percent(self) -> float | None:
        """How far the cost may be above the best possible, in percent of the cost; ``None`` without a bound."""
        return self.solution.gap_percent

    @property
    def value_hidden_percent(self) -> float:
        """The share of the table's value that the complementary cells take with them, in percent.

        Counted over the cells that are no totals, so that every contribution counts once however many totals repeat it.
        """
        values = np.where(self.problem.table.internal, np.abs(self.problem.table.values), 0.0)
        total = float(values.sum())
        return 100.0 * float(values[self.complementary].sum()) / total if total > 0 else 0.0

    @property
    def complementary(self) -> np.ndarray:
        """The further cells to hide."""
        return self.solution.complementary

    @property
    def pattern(self) -> "pl.DataFrame":
        """The hidden cells with their kind: primary or complementary. For internal use."""
        return pattern_frame(self.problem, self.complementary)

    @property
    def intervals(self) -> "pl.DataFrame":
        """The interval of every sensitive cell beside what it needs. For internal use."""
        return interval_frame(self.audit)

    def published(self, symbol: str | None = None, *, decimals: int | None = None) -> "pl.DataFrame":
        """The table as it may be published: hidden cells blank, or with one symbol for both kinds."""
        hidden = self.problem.hidden_mask(self.complementary)
        return published_frame(self.problem.table, hidden, symbol, decimals)

    def publish(
        self,
        path: str | Path,
        *,
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
        decimals: int | None = None,
        symbol: str | None = None,
        dataflow: str = "SHOAL:TABLE(1.0)",
    ) -> None:
        """Write the table as it may be published, as crosstabs (``.xlsx``, ``.html``) or as SDMX-CSV (``.sdmx.csv``).

        ``rows`` go down and ``columns`` across; further dimensions are slices, each a sheet. Figures are numbers, and a symbol
        stands in hidden cells alone.
        """
        from shoal.tables.files.layout import Layout
        from shoal.tables.files.published_forms import write_published

        layout = Layout(tuple(rows), tuple(columns), decimals, symbol)
        trees = {} if self.tabulation is None else self.tabulation.trees
        hidden = self.problem.hidden_mask(self.complementary)
        write_published(path, self.problem.table, hidden, trees, layout, dataflow)

    def to_dict(self) -> dict[str, Any]:
        """The figures of the result, as the command line prints them."""
        solution, margin = self.solution, self.audit.smallest_margin
        return {
            "method": self.method,
            "cost": self.cost,
            "bound": self.bound,
            "gap_percent": self.gap_percent,
            "value_hidden_percent": self.value_hidden_percent,
            "primary": int(self.problem.sensitive.size),
            "complementary": int(self.complementary.size),
            "safe": self.audit.safe,
            "attacker": self.attacker,
            "disclosed": int(self.audit.disclosed.size),
            "smallest_margin_percent": None if margin is None or not np.isfinite(margin) else margin,
            **self.audit.reached(),
            "doubtful_if_bounded": self.doubtful_if_bounded,
            "optimal": solution.optimal,
            "stopped_by": str(solution.stopped_by),
            "work": solution.work,
            "seconds": round(solution.seconds, 3),
            "record": solution.record,
        }

    def report(self, others: "Sequence[Suppression]" = ()) -> "Page":
        """The result as a page for internal use; ``others`` are results of other methods to compare with."""
        from shoal.report.python_call import completed
        from shoal.tables.definitions import PATTERN
        from shoal.tables.reports.assurances import of_pattern
        from shoal.tables.reports.suppression import suppression_page

        return completed(suppression_page(self, others), self, of_pattern(self), PATTERN)
