"""A table with its sensitive cells: what rules, levels, costs and contributors say of it, whatever it was made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shoal.errors import InputError, parameter
from shoal.remarks import Remark, Remarked
from shoal.report.glance import Glance
from shoal.tables.model.contributions import Known
from shoal.tables.model.count_rules import InOneCell, beside_totals, groups_of, needs_counts
from shoal.tables.model.decimals import significant
from shoal.tables.model.known_sums import SumRule
from shoal.tables.model.rules import Rule, room_below
from shoal.tables.model.table import Table
from shoal.tables.model.trees import Tree
from shoal.tables.problem import Problem

if TYPE_CHECKING:
    import polars as pl

Zeros = Literal["published", "suppressible"]
#: The kind of remark on a ready-made table whose sensitive cells nothing tells.
NO_RULE = "no-rule"


@dataclass(frozen=True, eq=False, repr=False)
class Tabulation(Remarked, Glance):
    """A table with its sensitive cells, levels and costs, and what is known of its contributors.

    ``status`` is ``s`` (may be hidden), ``u`` (sensitive) or ``z`` (always published) for each cell. Of an ``aggregated``
    table it is not known who contributes to several of its cells; ``hidden`` are cells that it marks as hidden already.
    Of a table that was built on a cluster ``contributions`` may hold the largest of each cell alone: at least ``largest_told``,
    if there are as many.
    """

    table: Table
    trees: Mapping[str, Tree]
    contributors: np.ndarray
    status: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    cost: np.ndarray
    by_rule: Mapping[str, int]
    rules: tuple[Rule, ...] = ()
    contributions: Known | None = None
    counts: bool = False
    aggregated: bool = False
    hidden: np.ndarray | None = None
    remarks: tuple[Remark, ...] = ()
    largest_told: int | None = None

    def glance(self) -> dict[str, Any]:
        """The size of the table, and how many of its cells are sensitive."""
        return {
            "dimensions": tuple(self.table.dimensions),
            "cells": self.table.cells,
            "sensitive": int(self.sensitive.size),
            "rules": tuple(str(rule) for rule in self.rules),
        }

    @property
    def without_rule(self) -> bool:
        """Whether it is a ready-made table to which no rule can be applied."""
        return any(item.kind == NO_RULE for item in self.remarks)

    @property
    def sensitive(self) -> np.ndarray:
        """The sensitive cells."""
        return np.flatnonzero(self.status == "u")

    def problem(
        self,
        *,
        insiders: bool = True,
        low: float = 0.0,
        high: float | None = None,
        protection: float = 0.0,
        sliding: float = 0.0,
    ) -> Problem:
        """The suppression problem; with ``insiders`` sole contributors and sums are taken into account.

        Every sensitive cell, whichever rule calls it so, is protected by ``protection`` times its value at least, and its
        interval is ``sliding`` times its value wide at least.
        """
        groups = groups_of(self.rules if self.counts else (), self.table, self.status)
        cells = self.sensitive
        values = self.table.values[cells]
        room = np.maximum(values - low, 0.0)
        share = protection * np.abs(values)
        found = Problem.of(
            self.table,
            cells,
            lower=np.minimum(np.maximum(self.lower[cells], share), room),
            upper=np.maximum(self.upper[cells], share),
            sliding=sliding * np.abs(values),
            cost=self.cost,
            candidates=self.status == "s",
            low=low,
            high=high,
        ).with_changes(groups=groups)
        if not insiders or self.contributions is None:
            return found
        sums = SumRule(self.contributions, self.rules, waived=self.waived)
        sole = self.sole_contributors()
        conceded, left = self._beyond_help(found, sole)
        known = tuple(_with_empty(cells, groups) for cells in sole)
        return found.with_changes(insiders=known, conceded=conceded, left=left, sums=sums)

    def _beyond_help(
        self, problem: Problem, sole: tuple[np.ndarray, ...]
    ) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
        """For each sole contributor the sensitive cells it gives so much of that they cannot fall as far as they should.

        It knows that such a cell is at least its own part, whatever is hidden; what that leaves stays protected, and so does
        how far the cell can rise.
        """
        if self.contributions is None or not sole:
            return (), ()
        conceded: list[dict[int, float]] = [{} for _ in sole]
        # A width that the upper level alone does not give needs some room below as well.
        below = np.maximum(problem.lower, problem.required_width - problem.upper)
        spare = np.full(self.table.cells, np.inf)
        spare[problem.sensitive] = problem.down[problem.sensitive] - below
        for number, cell, amount in self.contributions.amounts_of(sole, self.table):
            if amount > spare[cell]:
                conceded[number][cell] = max(float(problem.down[cell]) - amount, 0.0)
        ordered = [sorted(cells.items()) for cells in conceded]
        return (
            tuple(np.array([cell for cell, _ in pairs], dtype=np.int64) for pairs in ordered),
            tuple(np.array([amount for _, amount in pairs]) for pairs in ordered),
        )

    @property
    def waived(self) -> tuple[int, ...]:
        """Cells that a rule calls sensitive but that were declared not to be."""
        if self.contributions is None:
            return ()
        flagged = np.zeros(self.table.cells, dtype=bool)
        for rule in self.rules:
            flagged |= ~np.isnan(rule.level(self.contributions))
        return tuple(int(cell) for cell in np.flatnonzero(flagged & (self.status != "u")))

    def sole_contributors(self) -> tuple[np.ndarray, ...]:
        """The cells each sole contributor knows, for those that could be hidden."""
        if self.contributions is None:
            return ()
        known = (cells[self.status[cells] != "z"] for cells in self.contributions.sole(self.table))
        return tuple(cells for cells in known if cells.size)

    @property
    def frame(self) -> "pl.DataFrame":
        """The list of cells: coordinates, value, contributors, status, levels and cost."""
        import polars as pl

        columns: dict[str, Any] = self.table.coordinates()
        values = self.table.values
        columns["value"] = values.astype(np.int64) if self.counts else values
        columns["contributors"] = self.contributors
        columns["status"] = self.status.astype(str)
        known = self.status == "u"
        for name, levels in (("lower", significant(self.lower)), ("upper", significant(self.upper))):
            columns[name] = [float(x) if flag else None for x, flag in zip(levels, known, strict=True)]
        columns["cost"] = self.cost
        return pl.DataFrame(columns)


def _with_empty(cells: np.ndarray, groups: Sequence[InOneCell]) -> np.ndarray:
    """What a sole contributor knows, with what is beside its cell: who is alone in a group knows that there is nobody else."""
    known = set(cells.tolist())
    alone = [group for group in groups if group.total in known and group.cell in known]
    return np.union1d(cells, [cell for group in alone for cell in group.beside]).astype(np.int64)


def check_zeros(zeros: Any) -> None:
    """Refuse another word than the two there are."""
    if zeros not in ("published", "suppressible"):
        raise InputError(f"{parameter('zeros')} must be 'published' or 'suppressible', not '{zeros}'")


def classify(
    table: Table,
    trees: Mapping[str, Tree],
    contributions: Known,
    rules: tuple[Rule, ...],
    zeros: Zeros,
    *,
    counts: bool,
) -> Tabulation:
    """The table with the cells that rules call sensitive, and the levels they ask for."""
    needs_counts(rules, counts=counts)
    level = np.full(table.cells, np.nan)
    by_rule = {}
    grouped = []
    for rule in rules:
        if (beside := beside_totals(rule, table)) is not None:
            grouped.append(beside)
            by_rule[str(rule)] = beside.cells
            continue
        found = rule.level(contributions)
        by_rule[str(rule)] = int((~np.isnan(found)).sum())
        level = np.fmax(level, found)
    status = np.full(table.cells, "s", dtype=object)
    check_zeros(zeros)
    if zeros == "published":
        status[contributions.counts == 0] = "z"
    status[~np.isnan(level)] = "u"
    upper = np.nan_to_num(level)
    lower = room_below(upper, table.values)
    for beside in grouped:
        status[beside.opened & (status == "z")] = "s"
        status[~np.isnan(beside.lower)] = "u"
        lower, upper = np.fmax(lower, beside.lower), np.fmax(upper, beside.upper)
    return Tabulation(
        table,
        trees,
        contributions.counts,
        status,
        lower,
        upper,
        np.abs(table.values),
        by_rule,
        rules,
        contributions,
        counts,
    )
