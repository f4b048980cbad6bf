"""What ``shoal.perturb_table`` gives back."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.remarks import Remark, remarks_in_json
from shoal.runtime.secrets import Secret
from shoal.tables.model.table import Table
from shoal.tables.model.tabulation import Tabulation
from shoal.tables.rounding.cell_keys.files import design_frame
from shoal.tables.rounding.cell_keys.posterior import Posterior, are_exact
from shoal.tables.rounding.cell_keys.problem import DesignProblem
from shoal.tables.rounding.cell_keys.solution import PerturbationTable
from shoal.tables.rounding.cell_keys.warnings import ALWAYS, staying
from shoal.tables.rounding.changed_result import WithChangedFigures
from shoal.tables.rounding.changed_tables import intervals_frame
from shoal.tables.safety.audit import Audit

if TYPE_CHECKING:
    import polars as pl

    from shoal.report.page import Page


@dataclass(frozen=True, eq=False, repr=False)
class PerturbedTable(WithChangedFigures):
    """A perturbed table of counts with the perturbation table and what somebody learns from it."""

    tabulation: Tabulation
    problem: DesignProblem
    design: PerturbationTable
    values: np.ndarray
    audit: Audit
    sure: Posterior | None
    records: int
    method: str
    attacker: str
    secret: Secret | None
    remarks: tuple[Remark, ...] = ()
    uneven: bool = False

    @property
    def _figures(self) -> tuple[Table, np.ndarray]:
        return self.tabulation.table, self.values

    def glance(self) -> dict[str, Any]:
        """How many counts changed, and whether that is enough."""
        told = self.to_dict()
        return {name: told[name] for name in ("records", "cells", "sensitive", "changed", "safe")}

    @property
    def for_release(self) -> bool:
        """Whether the keys came from a secret and not from a seed that can be guessed, or are spread as chance spreads them."""
        return not self.uneven if self.secret is None else not self.secret.of_study

    @property
    def safe(self) -> bool:
        """Whether no sensitive count can be computed too closely, and none stays as it is nearly always."""
        return self.audit.safe and self.staying < ALWAYS

    @cached_property
    def staying(self) -> float:
        """The largest probability with which a sensitive count stays as it is."""
        return staying(self.design, self.tabulation.table.values[self.tabulation.sensitive])

    @property
    def intervals(self) -> "pl.DataFrame":
        """What can be computed of the cells that were looked at, and how wide that must be. For internal use.

        Where the true count lies in its interval is chance, so that no ends are required of it.
        """
        import polars as pl

        found, problem = intervals_frame(self.audit, self.values), self.audit.problem
        cells = np.union1d(self.audit.cells, problem.sensitive).astype(np.int64)
        widths = np.full(problem.table.cells, np.nan)
        # Another count is at least 1 away.
        widths[problem.sensitive] = np.maximum(1.0, problem.sliding)
        width = pl.Series("required_width", widths[cells]).fill_nan(None)
        place = found.columns.index("required_min")
        return found.drop("required_min", "required_max").insert_column(place, width)

    @property
    def perturbation_table(self) -> "pl.DataFrame":
        """The chances of every change of every count that has chances of its own, as ``ptable`` and ``cellKey`` have them.

        For internal use.
        """
        return design_frame(self.design)

    @cached_property
    def disclosed(self) -> int | None:
        """How many counts that are not 0 can be computed exactly; ``None`` if not all cells were looked at, or not closely."""
        if self.audit.cells.size < self.tabulation.table.cells:
            return None
        if not are_exact(self.audit.problem, self.design, self.values.astype(np.int64)):
            return None
        counts = self.tabulation.table.values[self.audit.cells]
        return int(((self.audit.high - self.audit.low < 0.5) & (counts > 0)).sum())

    def to_dict(self) -> dict[str, Any]:
        """The figures of the result, as the command line prints them."""
        counts = self.tabulation.table.values
        change = self.values - counts
        inner = change[counts > 0]
        return {
            "method": self.method,
            "records": self.records,
            "cells": self.tabulation.table.cells,
            "sensitive": int(self.tabulation.sensitive.size),
            "deviation": self.problem.deviation,
            "small": self.problem.small,
            "changed": int((change != 0).sum()),
            "mean_change": float(np.abs(change).mean()),
            "largest_change": float(np.abs(change).max()),
            "bias": float(inner.mean()) if inner.size else 0.0,
            "variance": float((inner**2).mean()) if inner.size else 0.0,
            "cost": float(np.abs(change).sum()),
            "bound": None,
            "optimal": bool(self.design.optimal),
            "entropy": float(self.design.value),
            "entropy_bound": None if self.design.bound is None else float(self.design.bound),
            "safe": self.safe,
            "attacker": self.attacker,
            **self.audit.reached(),
            "disclosed": self.disclosed,
            "posterior_mean": None if self.sure is None else self.sure.mean,
            "posterior_largest": None if self.sure is None else self.sure.largest,
            "for_release": self.for_release,
            **remarks_in_json(self.remarks),
        }

    def report(self) -> "Page":
        """The result as a page for internal use."""
        from shoal.report.python_call import completed
        from shoal.tables.rounding.cell_keys import report

        return completed(report.keys_page(self), self, report.of_keys(self), report.DEFINITIONS)
