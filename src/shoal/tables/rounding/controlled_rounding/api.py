"""``shoal.round_table``: a table whose figures are multiples of a base and still add up."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from shoal.arguments import checked
from shoal.errors import Infeasible, InputError, parameter
from shoal.remarks import Remark, remarks_in_json, warning
from shoal.runtime import Budget, Observer, Seeds, silent
from shoal.runtime.observer import Witness
from shoal.runtime.secrets import Secret
from shoal.tables.model.table import Table
from shoal.tables.model.tabulation import Tabulation
from shoal.tables.model.units import refuse_lost_levels
from shoal.tables.problem import Problem
from shoal.tables.rounding.assurances import insiders_in_words
from shoal.tables.rounding.cell_identity import identities
from shoal.tables.rounding.changed_result import ChangedTable
from shoal.tables.rounding.changed_tables import intervals_frame
from shoal.tables.rounding.controlled_rounding.attack import seen
from shoal.tables.rounding.controlled_rounding.methods import METHODS
from shoal.tables.rounding.controlled_rounding.problem import RoundingProblem, are_whole
from shoal.tables.rounding.controlled_rounding.solution import Rounding
from shoal.tables.rounding.controlled_rounding.verify import verify
from shoal.tables.rounding.randomness import OF_SEED, secret_of
from shoal.tables.rounding.table_to_change import problem_to_change, table_to_change
from shoal.tables.safety.audit import Audit
from shoal.tables.safety.whole_numbers import integer_failures
from shoal.tables.table_arguments import Building, table_argument

if TYPE_CHECKING:
    import polars as pl
    from narwhals.typing import IntoDataFrame

    from shoal.report.page import Page

# So many steps are tried where fewer do not add up.
_TRIED = 5


@dataclass(frozen=True, eq=False, repr=False)
class RoundedTable(ChangedTable):
    """A rounded table with its cost, its bound and its audit."""

    problem: RoundingProblem
    solution: Rounding
    audit: Audit
    method: str
    objective: str
    attacker: str
    secret: Secret
    remarks: tuple[Remark, ...] = ()
    tabulation: Tabulation | None = None
    widened: bool = False

    def glance(self) -> dict[str, Any]:
        """The base, what changed, and whether it is enough."""
        told = self.to_dict()
        return {name: told[name] for name in ("base", "steps", "cells", "changed", "cost", "bound", "safe")}

    @cached_property
    def values(self) -> np.ndarray:
        """The published figures."""
        # In decimals as the base is written: figures of many digits are multiples to the last of them, too.
        base = Decimal(repr(float(self.problem.base)))
        return np.array([float(multiple * base) for multiple in self.solution.multiples.tolist()]) + 0.0

    @property
    def intervals(self) -> "pl.DataFrame":
        """What can be computed of every cell, and what the sensitive ones need. For internal use."""
        return intervals_frame(seen(self.problem, self.solution.multiples, all_cells=True), self.values)

    def to_dict(self) -> dict[str, Any]:
        """The figures of the result, as the command line prints them."""
        change = np.abs(self.values - self.problem.table.values)
        return {
            "method": self.method,
            "objective": self.objective,
            "base": self.problem.base,
            "steps": self.problem.steps,
            "cells": self.problem.table.cells,
            "sensitive": int(self.problem.protect.sensitive.size),
            "changed": int((change > 1e-9 * self.problem.base).sum()),
            "mean_change": float(change.mean()),
            "largest_change": float(change.max()),
            **self._searched(),
            "attacker": self.attacker,
            "safe_if_method_known": None if self.audit.safe and self.reservation else self.audit.safe,
            **self._reserved(),
            **self.audit.reached(),
            **self._ended(),
            **remarks_in_json(self.remarks),
        }

    @property
    def reservation(self) -> str:
        """What somebody could use besides, which nobody looked at."""
        if not self.problem.protect.sensitive.size:
            return ""
        if self.objective == "nearest":
            return "not judged if it were known that the nearest table was taken"
        if self.widened:
            return f"not judged if it were known that no table less than {self.problem.steps - 1} bases away would do"
        if self.problem.steps > 1:
            return "not judged if it were known that figures go further than one base only where they must"
        return ""

    def report(self) -> "Page":
        """The result as a page for internal use."""
        from shoal.report.python_call import completed
        from shoal.tables.rounding.controlled_rounding import report

        return completed(report.rounding_page(self), self, report.of_rounding(self), report.DEFINITIONS)


@checked
def round_table(
    table: "Problem | Tabulation | Table | IntoDataFrame | np.ndarray | str | Path",
    base: float,
    *,
    sensitive: "IntoDataFrame | Iterable[Sequence[Any]] | None" = None,
    protection: float | None = None,
    objective: Literal["random", "nearest"] = "random",
    steps: int | None = None,
    small_totals: bool = False,
    method: str = "exact",
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
) -> RoundedTable:
    """Make every figure a multiple of the base so that all totals add up and no sensitive cell can be computed too closely.

    Every figure stays less than one base from the true one, and multiples of the base stay as they are, wherever such a table
    exists. The result is checked in fractions and by linear programmes that share no code with the search.

    Parameters
    ----------
    table : array, DataFrame, Tabulation, Table, Problem or path
        A matrix with or without totals (the first column of a frame, or the index of pandas, names its rows), a table from
        ``tabulate``, a whole problem, or the path of a file with one of these; with ``dimensions`` records, or the cells of a
        ready-made table.
    base : float
        What every figure becomes a multiple of.
    sensitive : DataFrame or iterable of tuples, optional
        Cells that must stay uncertain by their levels, (row, column[, lower, upper]) of a matrix, besides those of the table.
    protection : float, optional
        How uncertain a sensitive cell without levels must stay, as a share of its value; 0.10 by default.
    objective : {"random", "nearest"}, default "random"
        Near to where chance would round each cell without bias, or near to the true figures. Who knows that the nearest table
        was taken can exclude others, which the audit does not count.
    steps : int, optional
        A figure stays less than this many bases from the true one; by default 1, and more only where nothing else adds up.
    small_totals : bool, default False
        Round a table though some of its totals are smaller than the base, so that 0 or the base is left of them. Otherwise
        such a base is an error that names the first of them.
    method : str, default "exact"
        How to search; ``shoal round --method list`` shows all.
    options : mapping, optional
        Options of the method by name.
    sliding : float, default 0.0
        The width an interval must have in addition, as a share of the cell's value.
    low : float, default 0.0
        The least an attacker holds possible for any cell, beside the bounds a ``.jj`` file has.
    high : float, optional
        The most an attacker holds possible for any cell; no limit by default.
    insiders : bool, default True
        Take into account that a sole contributor knows its own cells, where contributors are known.
    counts : bool, default False
        The cells are counts. Where all figures are whole numbers an attacker is taken to know that anyway.
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
    RoundedTable
        ``published`` (what may go out), ``values``, ``cost`` and its proved ``bound``, ``audit`` and ``intervals`` (what can
        be computed of the cells, internal), ``secret`` (internal) and ``report()``.

    Raises
    ------
    InputError
        The base is none or larger than a total, a cell or an option is unknown, or totals do not add up.
    Infeasible
        No such table exists.

    See Also
    --------
    suppress : hide cells instead.
    tabulate : make the table and find its sensitive cells.

    References
    ----------
    - M. Fischetti and J. J. Salazar, Journal of Official Statistics 14, 1998 (controlled rounding as an integer programme).
    - J. J. Salazar, Controlled rounding and cell perturbation, Mathematical Programming 105, 2006 (protection levels).
    - L. H. Cox, Journal of the American Statistical Association 82, 1987 (unbiased controlled rounding).

    Examples
    --------
    >>> import numpy as np
    >>> found = round_table(np.array([[3, 8, 11], [6, 1, 14]]), 5, objective="nearest")
    >>> found.published.rows()
    [('1', 5, 10, 10, 25), ('2', 5, 0, 15, 20), ('total', 10, 10, 25, 45)]
    >>> found.cost, found.bound
    (3.2, 3.2)
    """
    if objective not in ("random", "nearest"):
        raise InputError(f"{parameter('objective')} must be 'random' or 'nearest', not '{objective}'")
    read = table_argument(table, building, rounding=rounding, tolerance=tolerance)
    given = table_to_change(read.table, rounding, tolerance)
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
    refuse_lost_levels(protect)
    drawn = secret_of(secret, seed)
    chosen, budget = METHODS[method], budget or Budget(iterations=iterations, seconds=time_limit)
    witness = Witness(observer)
    first = posed(protect, base, objective, drawn, steps=steps or 1, counts=_are_counts(given, counts))
    if not small_totals:
        _refuse_large_base(protect.table, base)
    problem, solution = _solved(first, chosen, options, budget, threads, witness, fixed=steps is not None)
    # By the independent check, by the audit, and for whole numbers.
    witness.verification(checks=3)
    verify(problem, solution)
    found = audited(problem, solution.multiples)
    if not found.safe:
        raise Infeasible("the audit does not confirm the rounding that was found; take a larger base")
    return RoundedTable(
        problem,
        solution,
        found,
        method,
        objective,
        describe_attacker(problem, objective),
        drawn,
        _remarks(problem, objective, drawn, requested=steps),
        given if isinstance(given, Tabulation) else None,
        widened=problem.steps > 1 and steps is None,
    )


def _small_totals(table: Table, base: float) -> np.ndarray:
    """Totals that are not empty and smaller than the base."""
    return np.flatnonzero(~table.internal & (table.values != 0) & (np.abs(table.values) < base))


def _named_first(table: Table, small: np.ndarray) -> str:
    where = f"the cell {table.name(int(small[0]))}"
    return f"the total at {where}" if small.size == 1 else f"{small.size} totals, the first at {where}"


def _refuse_large_base(table: Table, base: float) -> None:
    """A base larger than a total is seldom meant: nothing but 0 or the base is left of it."""
    small = _small_totals(table, base)
    if small.size:
        raise InputError(
            f"the base is larger than {_named_first(table, small)}, of which only 0 or the base would be left; take a smaller "
            f"base, or say {parameter('small_totals')}"
        )


def _are_counts(table: Any, counts: bool) -> bool:
    return counts or (isinstance(table, Tabulation) and table.counts)


def audited(problem: RoundingProblem, multiples: np.ndarray) -> Audit:
    """What can be concluded from the multiples that are published."""
    found = seen(problem, multiples)
    if problem.whole and problem.protect.sensitive.size:
        found = replace(found, integer=integer_failures(problem.attack(multiples), problem.others))
    return found


def posed(
    protect: Problem, base: float, objective: str, secret: Secret, *, steps: int, counts: bool
) -> RoundingProblem:
    """The problem with its targets: the true figures, or what chance makes of each by itself."""
    values = protect.table.values
    whole = are_whole(base, values, counts=counts)
    found = RoundingProblem(protect, float(base), values / base, steps, whole)
    if objective == "nearest":
        return replace(found, target=found.quotient)
    below = np.floor(found.quotient)
    draws = secret.draws("controlled rounding", repr(float(base))).uniforms(identities(protect.table))
    return replace(found, target=below + (draws < found.quotient - below))


def _solved(
    problem: RoundingProblem,
    method: Any,
    options: Mapping[str, Any] | None,
    budget: Budget,
    threads: int,
    observer: Observer,
    *,
    fixed: bool,
) -> tuple[RoundingProblem, Rounding]:
    """The rounding with the fewest steps there is one with."""
    first: Infeasible | None = None
    # All attempts share one limit.
    run = budget.start()
    for steps in [problem.steps] if fixed else range(1, _TRIED + 1):
        asked = replace(problem, steps=steps)
        try:
            return asked, method.solve(
                asked, options, budget=run.remaining(), seeds=Seeds(0), threads=threads, observer=observer
            )
        except Infeasible as error:
            if run.out_of_time:
                raise
            first = first or error
    assert first is not None
    raise first


def describe_attacker(problem: RoundingProblem, objective: str) -> str:
    """Whom the rounding protects against, in words."""
    away = "one base" if problem.steps == 1 else f"{problem.steps} bases"
    text = f"somebody who knows the base, and that every figure is less than {away} from the true one"
    text += "; all figures are whole numbers" if problem.whole else ""
    text += insiders_in_words(len(problem.protect.insiders))
    if objective == "nearest":
        return f"{text}; who does not use that the nearest table was taken"
    return f"{text}; who does not know the secret"


def _remarks(
    problem: RoundingProblem, objective: str, secret: Secret, *, requested: int | None
) -> tuple[Remark, ...]:
    remarks = []
    small = _small_totals(problem.table, problem.base)
    if small.size:
        text = f"the base is larger than {_named_first(problem.table, small)}: what is left is 0 or the base"
        remarks.append(warning("large-base", text))
    if problem.steps > 1 and requested is None:
        text = (
            f"no rounding with every figure less than one base away adds up and protects, so they are less than "
            f"{problem.steps} bases away; who tries all tables can use that, which the audit does not count; "
            f"{parameter('steps')} says it beforehand"
        )
        remarks.append(warning("more-steps", text))
    if objective == "nearest":
        text = (
            "who knows that the nearest table was taken can exclude others, which the audit does not count; "
            f"{parameter('objective', 'random')} leaves nothing to that"
        )
        remarks.append(warning("nearest-table", text))
    if secret.of_study:
        remarks.append(OF_SEED)
    return tuple(remarks)
