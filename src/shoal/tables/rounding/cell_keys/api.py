"""``shoal.perturb_table``: a table of counts, perturbed by the keys of its own records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from shoal.arguments import checked
from shoal.errors import Infeasible, InputError, Message, messages, parameter, unknown
from shoal.numbers import counted
from shoal.report.glance import Glance
from shoal.search import Budget, Seeds, silent
from shoal.search.secrets import Secret
from shoal.tables.files.frames import as_frame
from shoal.tables.model.contributions import Contributions
from shoal.tables.model.rules import Rule
from shoal.tables.model.table import Table
from shoal.tables.model.tabulation import Tabulation, tabulate
from shoal.tables.rounding.cell_keys.keys import (
    cell_keys,
    known_by_column,
    known_by_values,
    perturbed,
    record_keys,
)
from shoal.tables.rounding.cell_keys.methods import METHODS
from shoal.tables.rounding.cell_keys.posterior import Posterior, conclusions, posterior
from shoal.tables.rounding.cell_keys.problem import DesignProblem
from shoal.tables.rounding.cell_keys.solution import PerturbationTable
from shoal.tables.rounding.cell_keys.verify import verify_design, verify_table
from shoal.tables.rounding.changed_tables import changed_frame, intervals_frame
from shoal.tables.rounding.randomness import secret_of
from shoal.tables.safety.audit import Audit

if TYPE_CHECKING:
    import polars as pl
    from narwhals.typing import IntoDataFrame

    from shoal.report.page import Page

# Beyond so many cells only the sensitive ones are looked at.
_ALL_CELLS = 20_000


@dataclass(frozen=True, eq=False, repr=False)
class PerturbedTable(Glance):
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
    secret: Secret
    warnings: tuple[Message, ...] = ()

    def glance(self) -> dict[str, Any]:
        """How many counts changed, and whether that is enough."""
        told = self.to_dict()
        return {name: told[name] for name in ("records", "cells", "sensitive", "changed", "safe")}

    @property
    def for_release(self) -> bool:
        """Whether the keys came from a secret and not from a seed that can be guessed."""
        return not self.secret.of_study

    @property
    def published(self) -> "pl.DataFrame":
        """The counts as they may be published; totals need not add up."""
        return changed_frame(self.tabulation.table, self.values)

    @property
    def intervals(self) -> "pl.DataFrame":
        """What can be computed of the cells that were looked at. For internal use."""
        return intervals_frame(self.audit, self.values)

    @property
    def perturbation_table(self) -> "pl.DataFrame":
        """The chances of every change of every count that has chances of its own. For internal use."""
        import polars as pl

        wide = self.problem.deviation
        return pl.DataFrame(
            [
                {"count": count, "published": count + change, "chance": float(chance)}
                for count, row in enumerate(self.design.chances)
                for change, chance in zip(range(-wide, wide + 1), row, strict=True)
                if chance > 0
            ]
        )

    @cached_property
    def disclosed(self) -> int | None:
        """How many counts that are not 0 can be computed exactly; ``None`` if not all cells were looked at."""
        if self.audit.cells.size < self.tabulation.table.cells:
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
            "optimal": self.design.optimal,
            "entropy": float(self.design.value),
            "entropy_bound": float(self.design.bound),
            "safe": self.audit.safe,
            "attacker": self.attacker,
            **self.audit.reached(),
            "disclosed": self.disclosed,
            "posterior_mean": None if self.sure is None else self.sure.mean,
            "posterior_largest": None if self.sure is None else self.sure.largest,
            "for_release": self.for_release,
            "warnings": list(self.warnings),
        }

    def report(self) -> "Page":
        """The result as a page for internal use."""
        from shoal.report.python_call import completed
        from shoal.tables.rounding.cell_keys import report

        return completed(report.keys_page(self), self, report.of_keys(self), report.DEFINITIONS)


@checked
def perturb_table(
    frame: "IntoDataFrame | str | Path",
    dimensions: Sequence[str],
    *,
    record: str | None = None,
    value: str | None = None,
    rules: Sequence[str | Rule] | None = None,
    hierarchies: Mapping[str, Mapping[str, str] | str | Path] | None = None,
    deviation: int = 5,
    variance: float = 2.0,
    small: int = 0,
    method: str = "maximum-entropy",
    options: Mapping[str, Any] | None = None,
    secret: Secret | str | Path | None = None,
    seed: int | None = None,
) -> PerturbedTable:
    """Count records and perturb every count by the cell-key method.

    Each record has a key, drawn from the secret, that is the same in every table; the sum of the keys of a cell's records
    decides how its count changes. The same records therefore give the same figure wherever they are published together.
    Chances of the changes have no bias, the variance that is asked for, and the largest entropy. Empty cells stay empty, and
    totals need not add up. Every count is checked again from the records by code that shares nothing with the method.

    Parameters
    ----------
    frame : DataFrame or path
        The records: a frame of pandas, Polars, Arrow or any other that Narwhals knows, or the path of a file.
    dimensions : sequence of str
        The columns that span the table.
    record : str, optional
        The column that tells records apart; by default all values of a record together do.
    value : str, optional
        Refused with the reason: the method is for counts.
    rules : sequence of str or Rule, optional
        When a count is sensitive, as for ``tabulate``; fewer than 3 records by default.
    hierarchies : mapping of str to mapping or path, optional
        Subtotals of a dimension: ``{code: parent}``, or the path of a file ``code,parent`` or ``.hrc``.
    deviation : int, default 5
        The most that a count changes.
    variance : float, default 2.0
        The variance of the changes; small counts may need another, which the result says.
    small : int, default 0
        Counts from 1 to this one are never published.
    method : str, default "maximum-entropy"
        How to design the perturbation table; ``shoal perturb-table --method list`` shows all.
    options : mapping, optional
        Options of the method by name.
    secret : Secret or path, optional
        What the keys are drawn from. Keep it: only with it records have the same keys in the next table.
    seed : int, optional
        A seed in place of a secret, for studies: such a table is not for release.

    Returns
    -------
    PerturbedTable
        ``published`` (what may go out), ``values``, and for internal use ``perturbation_table``, ``audit``, ``intervals``,
        ``secret`` and ``report()``.

    Raises
    ------
    InputError
        A column is missing or does not tell records apart, a sum is asked for, or the limits do not go together.
    Infeasible
        The check does not confirm the table.

    See Also
    --------
    round_table : figures that add up.
    tabulate : the table as it is, with its sensitive cells.

    References
    ----------
    - B. Fraser and J. Wooton, A proposed method for confidentialising tabular output to protect against differencing, 2005.
    - S. Giessing and R. Tent, Concepts for generalising tools implementing the cell key method to the case of continuous
      variables, UNECE, 2019.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"id": range(40), "area": ["n", "s"] * 20, "sex": ["f"] * 25 + ["m"] * 15})
    >>> found = perturb_table(people, ["area", "sex"], record="id", seed=1)
    >>> found.published.height, bool((abs(found.values - found.tabulation.table.values) <= 5).all())
    (9, True)
    """
    if value is not None:
        raise InputError(
            f"{parameter('value')} is refused: record keys protect counts; the change of a sum would have to follow its largest "
            "contributions, which this method does not know. Round, adjust or suppress tables of sums"
        )
    problem = DesignProblem(deviation, float(variance), small)
    data = as_frame(frame, "the data")
    for name in [*dimensions, *([record] if record else [])]:
        if name not in data.columns:
            raise unknown("column", name, data.columns, where="in the data")
    if len(data) == 0:
        raise InputError("there are no records")
    drawn = secret_of(secret, seed)
    keys = record_keys(
        known_by_values(data.iter_rows())
        if record is None
        else known_by_column(data[record].to_list(), record),
        drawn,
    )
    made = _counted(data, dimensions, rules, hierarchies)
    contributions = made.contributions
    assert isinstance(contributions, Contributions)
    design: PerturbationTable = METHODS[method].solve(
        problem, options, budget=Budget(), seeds=Seeds(0), threads=1, observer=silent
    )
    counts = contributions.counts.astype(np.int64)
    sums = cell_keys(contributions.starts, contributions.contributor, keys)
    published = perturbed(counts, sums, design.chances)
    try:
        verify_design(problem, design)
        check_counts(made, data, dimensions, keys, design, published)
    except AssertionError as error:
        raise Infeasible(f"the independent check does not confirm the table: {error}") from error
    audit = conclusions(
        made.problem(insiders=False), design, published, all_cells=made.table.cells <= _ALL_CELLS
    )
    return PerturbedTable(
        made,
        problem,
        design,
        published.astype(np.float64),
        audit,
        posterior(design, counts, published, made.sensitive),
        len(data),
        method,
        _ATTACKER.format(deviation),
        drawn,
        messages(_warnings(problem, design, drawn, record, made.table)),
    )


_ATTACKER = (
    "somebody who knows the perturbation table (changes of at most {}), that empty cells stay empty and that true counts add up; "
    "who knows neither keys nor secret, nor any record"
)


def _counted(
    data: "nw.DataFrame[Any]", dimensions: Sequence[str], rules: Any, hierarchies: Any
) -> Tabulation:
    """The table of counts; its contributors are the records by their places."""
    name = "record"
    while name in data.columns:
        name += "_"
    width = len(str(len(data)))
    places = [f"{place:0{width}d}" for place in range(len(data))]
    numbers = nw.new_series(name, places, backend=data.implementation)
    wide = data.select(*dimensions).with_columns(numbers)
    return tabulate(wide.to_native(), dimensions, contributor=name, rules=rules, hierarchies=hierarchies)


def check_counts(
    made: Tabulation,
    data: "nw.DataFrame[Any]",
    dimensions: Sequence[str],
    keys: np.ndarray,
    design: PerturbationTable,
    published: np.ndarray,
) -> None:
    """Raise ``AssertionError`` unless the counts are what the keys of the records make of them."""
    lineages = {
        name: {
            code: [tree.codes[above] for above in tree.lineage(place)]
            for place, code in enumerate(tree.codes)
        }
        for name, tree in made.trees.items()
    }
    codes = zip(*([str(item) for item in data[name].to_list()] for name in dimensions), strict=True)
    cells: dict[str, Sequence[Any]] = {name: made.table.keys[name].tolist() for name in dimensions}
    verify_table(cells, lineages, list(codes), keys.tolist(), design, published.tolist())


def groups_in_one_cell(table: Table) -> int:
    """How many totals have all their records in one of their parts: both have the same key, and so the same figure.

    >>> groups_in_one_cell(Table.from_matrix([[4.0, 0.0], [2.0, 3.0]]))
    2
    """
    found = 0
    for place in range(table.relations):
        members, signs = table.relation(place), table.signs_of(place)
        parts = table.values[members[signs > 0]]
        found += bool(parts.size > 1 and (parts != 0).sum() == 1)
    return found


def _warnings(
    problem: DesignProblem, design: PerturbationTable, secret: Secret, record: str | None, table: Table
) -> list[str]:
    found = []
    alone = groups_in_one_cell(table)
    if alone:
        found.append(
            f"{counted(alone, 'total has', 'totals have')} all records in one cell, which has the same figure then, with 0 "
            "beside it: whoever is known to be in such a total is nearly known to be in the cell; merge categories, or hide such "
            "cells with the rule group(n)"
        )
    other = np.flatnonzero(np.abs(design.variances[1:] - problem.variance) > 1e-6) + 1
    if other.size:
        found.append(
            f"the variance asked for cannot be had for {counted(int(other.size), 'count')} (the largest is {other.max()}); "
            "the nearest there is was taken"
        )
    if record is None:
        found.append(
            f"records are told apart by all their values; {parameter('record')} names a column by which a record has the same "
            "key in tables of other columns, too"
        )
    if secret.of_study:
        found.append("keys were drawn from a seed, which can be guessed: this table is not for release")
    return found
