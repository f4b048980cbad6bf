"""``shoal.adjust_table``: a table whose sensitive cells show other figures, and whose totals still add up."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from shoal.arguments import checked
from shoal.errors import Infeasible, InputError, parameter
from shoal.numbers import counted, number
from shoal.remarks import Remark, remarks_in_json, warning
from shoal.runtime import Budget, Observer, Seeds, silent
from shoal.runtime.observer import Witness
from shoal.runtime.secrets import Secret
from shoal.tables.model.table import Table
from shoal.tables.model.tabulation import Tabulation
from shoal.tables.model.units import refuse_lost_levels
from shoal.tables.problem import Problem
from shoal.tables.rounding.adjustment.attack import conclusions, too_well_known
from shoal.tables.rounding.adjustment.methods import METHODS
from shoal.tables.rounding.adjustment.problem import AdjustmentProblem
from shoal.tables.rounding.adjustment.solution import Adjustment
from shoal.tables.rounding.adjustment.verify import published_figures, verify
from shoal.tables.rounding.assurances import insiders_in_words
from shoal.tables.rounding.cell_identity import identities
from shoal.tables.rounding.changed_result import ChangedTable
from shoal.tables.rounding.changed_tables import intervals_frame
from shoal.tables.rounding.randomness import OF_SEED, secret_of
from shoal.tables.rounding.table_to_change import problem_to_change, table_to_change
from shoal.tables.safety.audit import Audit
from shoal.tables.safety.whole_numbers import refuse_fractions
from shoal.tables.table_arguments import Building, refuse_without_rule, table_argument

if TYPE_CHECKING:
    import polars as pl
    from narwhals.typing import IntoDataFrame

    from shoal.report.page import Page


# Beyond so many cells the programme would need more than four gigabytes.
_MOST_CELLS = 400_000


@dataclass(frozen=True, eq=False, repr=False)
class AdjustedTable(ChangedTable):
    """An adjusted table with its cost, its bound and its audit."""

    problem: AdjustmentProblem
    solution: Adjustment
    audit: Audit
    method: str
    weights: str
    attacker: str
    secret: Secret
    doubtful_if_bounded: int = 0
    remarks: tuple[Remark, ...] = ()
    tabulation: Tabulation | None = None

    def glance(self) -> dict[str, Any]:
        """What changed, what it costs, and whether it is enough."""
        told = self.to_dict()
        return {
            name: told[name] for name in ("method", "cells", "sensitive", "changed", "cost", "bound", "safe")
        }

    @cached_property
    def values(self) -> np.ndarray:
        """The published figures."""
        return published_figures(self.problem, self.solution.change)

    @property
    def intervals(self) -> "pl.DataFrame":
        """The interval of every sensitive cell beside what it needs. For internal use."""
        return intervals_frame(self.audit, self.values)

    def to_dict(self) -> dict[str, Any]:
        """The figures of the result, as the command line prints them."""
        values = self.problem.table.values
        change = np.abs(self.values - values)
        others = ~self.problem.protect.is_sensitive & (values != 0)
        shares = change[others] / np.abs(values[others])
        return {
            "method": self.method,
            "weights": self.weights,
            "cells": self.problem.table.cells,
            "sensitive": int(self.problem.protect.sensitive.size),
            "changed": int((change > 1e-12 * np.maximum(np.abs(values), 1.0)).sum()),
            "mean_change": float(change.mean()),
            "largest_change": float(change.max()),
            "mean_change_percent": 100.0 * float(shares.mean()) if shares.size else 0.0,
            **self._searched(),
            "attacker": self.attacker,
            "safe_if_limit_known": self.safe_if_limit_known,
            **self._reserved(),
            **self.audit.reached(),
            "doubtful_if_bounded": self.doubtful_if_bounded,
            **self._ended(),
            **remarks_in_json(self.remarks),
        }

    @property
    def safe_if_limit_known(self) -> bool:
        """Whether it is safe also for somebody who knows by which share cells that are not sensitive changed at most."""
        return self.audit.safe and not self.doubtful_if_bounded

    @property
    def reservation(self) -> str:
        """That the verdict hangs on a limit that nobody may know."""
        if not self.doubtful_if_bounded:
            return ""
        cells = counted(self.doubtful_if_bounded, "sensitive cell")
        return f"NOT if the largest change of the other cells were known, which leaves {cells} unsafe"

    def report(self) -> "Page":
        """The result as a page for internal use."""
        from shoal.report.python_call import completed
        from shoal.tables.rounding.adjustment import report

        return completed(report.adjustment_page(self), self, report.of_adjustment(self), report.DEFINITIONS)


@checked
def adjust_table(
    table: "Problem | Tabulation | Table | IntoDataFrame | np.ndarray | str | Path",
    *,
    sensitive: "IntoDataFrame | Iterable[Sequence[Any]] | None" = None,
    protection: float | None = None,
    weights: Literal["relative", "unity"] = "relative",
    spread: float = 0.5,
    limit: float | None = None,
    keep_totals: bool = False,
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    sliding: float = 0.0,
    low: float = 0.0,
    high: float | None = None,
    insiders: bool = True,
    counts: bool = False,
    rounding: float | None = None,
    tolerance: float | None = None,
    secret: Secret | str | Path | None = None,
    seed: int | None = None,
    threads: int = 1,
    time_limit: float | None = None,
    iterations: int | None = None,
    budget: Budget | None = None,
    observer: Observer = silent,
    **building: Unpack[Building],
) -> AdjustedTable:
    """Move every sensitive cell out of its protection interval, and all others as little as possible, so that totals add up.

    Figures keep their decimals and their bounds, and empty cells stay empty. The result is checked in fractions and by linear
    programmes that share no code with the search.

    Parameters
    ----------
    table : array, DataFrame, Tabulation, Table, Problem or path
        A matrix with or without totals (the first column of a frame, or the index of pandas, names its rows), a table from
        ``tabulate``, a whole problem, or the path of a file with one of these; with ``dimensions`` records, or the cells of a
        ready-made table.
    sensitive : DataFrame or iterable of tuples, optional
        The sensitive cells, (row, column[, lower, upper]) of a matrix; other tables have their own.
    protection : float, optional
        How far a sensitive cell without levels must move, as a share of its value; 0.10 by default.
    weights : {"relative", "unity"}, default "relative"
        What a change costs: its share of the figure, or its size.
    spread : float, default 0.5
        How much further than its levels chance may move a sensitive cell, as a share of them. With 0 somebody who knows the
        levels knows two figures of which one is true.
    limit : float, optional
        The most that a cell which is not sensitive may change, as a share of its figure; no limit by default.
    keep_totals : bool, default False
        Keep totals that are not sensitive.
    method : str, default "auto"
        How to search; ``shoal adjust --method list`` shows all.
    options : mapping, optional
        Options of the method by name.
    sliding : float, default 0.0
        The width an interval must have in addition, as a share of the cell's value.
    low : float, default 0.0
        The least an attacker holds possible for any cell, beside the bounds a ``.jj`` file has; no figure goes below.
    high : float, optional
        The most an attacker holds possible for any cell, which no figure exceeds; no limit by default.
    insiders : bool, default True
        Take into account that a sole contributor knows its own cells, where contributors are known.
    counts : bool, default False
        The cells are counts, so that all figures must be whole numbers.
    rounding : float, optional
        Totals may be off by rounding to this base; otherwise totals that do not add up are an error.
    tolerance : float, optional
        Totals may besides be off by this much.
    secret : Secret or path, optional
        What chance is drawn from, to repeat a table; a new one of the operating system by default.
    seed : int, optional
        A seed in place of a secret, for studies: such a table is not for release.
    threads : int, default 1
        How many cores to use. They do not change the result.
    time_limit : float, optional
        Stop after this many seconds with the best found.
    iterations : int, optional
        Stop after this much work with the best found.
    budget : Budget, optional
        How long to search, in place of ``time_limit`` and ``iterations``.
    observer : callable, optional
        Called with a ``Progress`` now and then while the search goes on.
    **building : arguments of ``tabulate``
        For records, and for ready-made tables with totals among their rows: ``dimensions`` and all that says how rows become
        a table (``value``, ``rules``, ``hierarchies``, ``total``, ``contributors_column``, ``largest_columns``,
        ``status_column``, ``contributor``, ``source``, ``missing`` …), as for ``tabulate``.

    Returns
    -------
    AdjustedTable
        ``published`` (what may go out), ``values``, ``cost`` and its proved ``bound``, ``audit`` and ``intervals`` (what can
        be computed of the sensitive cells, internal), ``secret`` (internal) and ``report()``.

    Raises
    ------
    InputError
        Nothing says which cells are sensitive, a cell or an option is unknown, or totals do not add up.
    Infeasible
        No adjustment exists, or a sensitive cell could be computed too closely from every one that was found.

    See Also
    --------
    round_table : make all figures multiples of a base instead.
    suppress : hide cells instead.

    References
    ----------
    - R. A. Dandekar and L. H. Cox, Synthetic tabular data: an alternative to complementary cell suppression, 2002.
    - J. Castro, Minimum-distance controlled perturbation methods for large-scale tabular data protection, European Journal of
      Operational Research 171, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> found = adjust_table(np.array([[10, 20], [30, 40]]), sensitive=[("1", "1")], protection=0.2, spread=0, weights="unity")
    >>> abs(found.values[0] - 10.0), found.cost, found.bound
    (np.float64(2.0), 8.0, 8.0)
    """
    if weights not in ("relative", "unity"):
        raise InputError(f"{parameter('weights')} must be 'relative' or 'unity', not '{weights}'")
    number(spread, f"{parameter('spread')}, a share of the levels,", least=0.0, most=10.0)
    read = table_argument(table, building, rounding=rounding, tolerance=tolerance)
    given = table_to_change(read.table, rounding, tolerance)
    cells = (given if isinstance(given, Table) else given.table).cells
    if cells > _MOST_CELLS:
        raise InputError(
            f"the table has {cells:,} cells, and at most {_MOST_CELLS:,} are adjusted together; adjust parts of it with their "
            "own totals, or round it"
        )
    if isinstance(given, Table) and sensitive is None:
        raise InputError(f"say which cells are sensitive with {parameter('sensitive_data')}")
    protect = problem_to_change(
        given,
        sensitive=sensitive,
        protection=protection,
        sliding=sliding,
        low=low,
        high=high,
        insiders=insiders,
        rounding=rounding,
    )
    refuse_without_rule(given if isinstance(given, Tabulation) else None, protect)
    refuse_lost_levels(protect)
    whole = counts or (isinstance(given, Tabulation) and given.counts)
    if whole:
        refuse_fractions(protect.table)
    drawn = secret_of(secret, seed)
    problem = posed(
        protect,
        drawn,
        spread=spread,
        weights=weights,
        keep_totals=keep_totals,
        limit=limit,
        whole=whole,
    )
    witness = Witness(observer)
    solution: Adjustment = METHODS[method].solve(
        problem,
        options,
        budget=budget or Budget(iterations=iterations, seconds=time_limit),
        seeds=Seeds(0),
        threads=threads,
        observer=witness,
    )
    witness.verification()
    try:
        verify(problem, solution)
    except AssertionError as error:
        raise Infeasible(
            f"the independent check does not confirm the adjustment that was found: {error}; "
            f"another {parameter('spread')} may help"
        ) from error
    return AdjustedTable(
        problem,
        solution,
        audited(problem, solution.change),
        method,
        weights,
        describe_attacker(problem),
        drawn,
        doubtful(problem, solution.change),
        _remarks(problem, drawn, spread),
        given if isinstance(given, Tabulation) else None,
    )


def posed(
    protect: Problem,
    secret: Secret,
    *,
    spread: float,
    weights: str,
    keep_totals: bool,
    limit: float | None,
    whole: bool,
) -> AdjustmentProblem:
    """The problem: how far each sensitive cell moves at least is drawn from the secret."""
    draws = secret.draws("adjustment").uniforms(identities(protect.table)[protect.sensitive])
    return AdjustmentProblem.of(
        protect,
        further=1.0 + spread * draws,
        relative=weights == "relative",
        keep_totals=keep_totals,
        limit=limit,
        whole=whole,
    )


def audited(problem: AdjustmentProblem, change: np.ndarray) -> Audit:
    """What can be concluded from the figures that are published."""
    found = conclusions(problem, change)
    order = np.argsort(problem.protect.sensitive)
    cells = problem.protect.sensitive[order]
    values = problem.table.values[cells]
    return Audit(
        problem.protect,
        cells,
        values - found.fall[order],
        values + found.rise[order],
        found.unsafe,
        np.empty(0, dtype=np.int64),
        insider=found.insider,
    )


def doubtful(problem: AdjustmentProblem, change: np.ndarray) -> int:
    """How many sensitive cells would be known too well to somebody who knows the largest share that another cell changed by."""
    others = ~problem.protect.is_sensitive & problem.movable & (problem.table.values != 0)
    shares = np.abs(change[others] / problem.table.values[others])
    largest = float(shares.max(initial=0.0)) * (1.0 + 1e-9)
    if not 0.0 < largest < 1.0 or (problem.limit is not None and largest >= problem.limit):
        return 0
    return int(too_well_known(replace(problem, limit=largest), change).size)


def describe_attacker(problem: AdjustmentProblem) -> str:
    """Whom the adjustment protects against, in words."""
    far = (
        " (but no limit of how far others moved)"
        if problem.limit is None
        else f", that others moved by at most {100 * problem.limit:g} % of their figures"
    )
    text = (
        "somebody who knows the relations, which cells are sensitive, their levels and that they were moved at least so far"
        f"{far}, and that empty cells stay empty"
    )
    if not problem.movable[(problem.table.values != 0)].all():
        text += ", and that totals were kept"
    text += insiders_in_words(len(problem.protect.insiders))
    return f"{text}; who does not know the secret, nor uses that the smallest change was taken"


def _remarks(problem: AdjustmentProblem, secret: Secret, spread: float) -> tuple[Remark, ...]:
    remarks = []
    if spread == 0:
        text = (
            "sensitive cells were moved by their levels exactly: who knows the levels and that the smallest change was taken has "
            f"two figures for each, of which one is true; a {parameter('spread')} above 0 hides that"
        )
        remarks.append(warning("exact-levels", text))
    if secret.of_study:
        remarks.append(OF_SEED)
    return tuple(remarks)
