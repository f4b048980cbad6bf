"""``shoal.suppress`` and ``shoal.audit``: from a table to what may be published, and what an attacker makes of it."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arguments import checked
from shoal.errors import Infeasible
from shoal.report.glance import Glance
from shoal.search import Budget, Observer, Seeds, silent
from shoal.tables.files.publishing import interval_frame, pattern_frame, published_frame
from shoal.tables.given import as_problem, as_table, primary_cells, read_pattern, share_of
from shoal.tables.methods import METHODS
from shoal.tables.model.decimals import exact_sums
from shoal.tables.model.table import Table
from shoal.tables.model.tabulation import Tabulation, Zeros
from shoal.tables.model.units import refuse_lost_levels
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import Audit, without
from shoal.tables.safety.audit import audit as audit_pattern
from shoal.tables.safety.whole_numbers import integer_failures
from shoal.tables.solution import Pattern
from shoal.tables.verify import verify

if TYPE_CHECKING:
    import polars as pl
    from narwhals.typing import IntoDataFrame

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

    def published(self, symbol: str | None = None) -> "pl.DataFrame":
        """The table as it may be published: hidden cells blank, or with one symbol for both kinds."""
        return published_frame(self.problem.table, self.problem.hidden_mask(self.complementary), symbol)

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
        from shoal.tables.reports.suppression import suppression_page

        return suppression_page(self, others)


@checked
def suppress(
    table: "Problem | Tabulation | Table | IntoDataFrame | np.ndarray | str | Path",
    *,
    sensitive: "IntoDataFrame | Iterable[Sequence[Any]] | None" = None,
    protection: float | None = None,
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    cost: "str | IntoDataFrame" = "value",
    sliding: float = 0.0,
    low: float = 0.0,
    high: float | None = None,
    insiders: bool = True,
    counts: bool = False,
    rounding: float | None = None,
    zeros: Zeros = "published",
    seed: int = 0,
    threads: int = 1,
    time_limit: float | None = None,
    iterations: int | None = None,
    budget: Budget | None = None,
    observer: Observer = silent,
) -> Suppression:
    """Find the cheapest further cells to hide so that no sensitive cell can be computed too closely.

    The pattern is checked by linear programmes that share no code with the methods; one that is not confirmed is never
    returned.

    Parameters
    ----------
    table : array, DataFrame, Tabulation, Table, Problem or path
        A matrix with or without totals (the first column of a frame, or the index of pandas, names its rows), a table from
        ``tabulate``, a whole problem, or the path of a file with one of these.
    sensitive : DataFrame or iterable of tuples, optional
        The sensitive cells, (row, column[, lower, upper]) of a matrix. Tables from ``tabulate`` and whole problems have
        sensitive cells and levels of their own; for cells named here on top of them the larger levels hold.
    protection : float, optional
        How far off a sensitive cell without levels must stay, as a share of its value; 0.10 by default.
    method : str, default "auto"
        How to find the pattern; ``shoal suppress --method list`` shows all.
    options : mapping, optional
        Options of the method by name.
    cost : str or DataFrame, default "value"
        What hiding a cell costs: its ``"value"``, 1 (``"unity"``), its number of ``"contributors"``, the ``"log"`` of its
        value, or a frame with coordinates and ``cost`` for cells that differ.
    sliding : float, default 0.0
        The width an interval must have in addition, as a share of the cell's value.
    low : float, default 0.0
        The least an attacker holds possible for any cell, beside the bounds a ``.jj`` file has.
    high : float, optional
        The most an attacker holds possible for any cell; no limit by default.
    insiders : bool, default True
        Take into account that a sole contributor knows its own cells, and that sums which one relation gives away must
        pass the rules, where contributors are known.
    counts : bool, default False
        The cells are counts: check whole numbers, too. Tables of counts from ``tabulate`` are checked anyway.
    rounding : float, optional
        Totals may be off by rounding to this base; otherwise totals that do not add up are an error.
    zeros : {"published", "suppressible"}, default "published"
        Whether empty cells of a matrix may be hidden.
    seed : int, default 0
        Where randomness begins.
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

    Returns
    -------
    Suppression
        ``pattern`` (the hidden cells and their kind), ``cost`` and its proved lower ``bound``, ``gap_percent``, ``audit``,
        ``published(symbol)`` (what may go out) and ``report()``. All but the published table is internal.

    Raises
    ------
    InputError
        A cell, a method or an option is unknown, levels are lost in rounding, or totals do not add up.
    Infeasible
        No safe pattern exists, or the check confirms none.

    See Also
    --------
    tabulate : make the table and find its sensitive cells.
    audit : check a pattern, whoever made it.

    References
    ----------
    - M. Fischetti and J. J. Salazar, Mathematical Programming 84, 1999; Management Science 47, 2001 (``exact``, ``auto``).
    - H. B. Herrington, A Heuristic Evolutionary Method for the Complementary Cell Suppression Problem, Nova Southeastern
      University, 2015 (``hypercube``, ``heurgene``, ``gensup`` after Almeida and others, 2006).

    Examples
    --------
    >>> import numpy as np
    >>> found = suppress(np.array([[10, 20, 30], [40, 50, 60], [70, 80, 90]]), sensitive=[("2", "2")])
    >>> found
    Suppression(method='auto', primary=1, complementary=3, cost=70, bound=70, safe=True)
    >>> found.cost, found.bound, found.audit.safe
    (70.0, 70.0, True)
    """
    table = _opened(table, rounding)
    problem = as_problem(
        table,
        sensitive=sensitive,
        protection=share_of(table, sensitive, protection),
        cost=cost,
        sliding=sliding,
        low=low,
        high=high,
        insiders=insiders,
        rounding=rounding,
        zeros=zeros,
    )
    refuse_lost_levels(problem)
    counts = counts or (isinstance(table, Tabulation) and table.counts)
    chosen = METHODS[method]
    budget = budget or Budget(iterations=iterations, seconds=time_limit)
    solution = _solve_whole(problem, chosen, options, budget, seed, threads, observer, counts=counts)
    solution, found = _checked(problem, solution, counts=counts)
    return Suppression(
        problem,
        solution,
        found,
        method,
        describe_attacker(problem, counts=counts),
        seed,
        _doubtful(problem, solution.complementary),
        table if isinstance(table, Tabulation) else None,
    )


def _checked(problem: Problem, solution: Pattern, *, counts: bool) -> tuple[Pattern, Audit]:
    """The pattern with its audit if the independent check confirms it, else one with more cells that it confirms.

    A method whose arithmetic was not good enough for a table must neither publish nor fail with a riddle.
    """
    last = None
    for pattern in _ever_safer(problem, solution):
        try:
            verify(problem, pattern)
            found = audit_pattern(problem, pattern.complementary)
            if counts:
                found = replace(found, integer=integer_failures(problem, pattern.complementary))
            if found.safe:
                return pattern, found
        except AssertionError as error:
            last = error
    raise Infeasible(
        "the check by linear programmes confirms no pattern of this table, not even that with all cells hidden that "
        "may be; its figures may span too many orders of magnitude"
    ) from last


def _ever_safer(problem: Problem, solution: Pattern) -> Iterator[Pattern]:
    yield solution
    hidden = solution.complementary
    try:
        rescue = METHODS["general"].solve(
            problem, None, budget=Budget(), seeds=Seeds(0), threads=1, observer=silent
        )
    except (Infeasible, AssertionError):
        pass
    else:
        for cells in (rescue.complementary, np.union1d(hidden, rescue.complementary).astype(np.int64)):
            yield _unproven(problem, solution, cells)
    yield _unproven(problem, solution, np.flatnonzero(problem.candidates))


def _unproven(problem: Problem, solution: Pattern, cells: np.ndarray) -> Pattern:
    return replace(
        solution,
        complementary=cells,
        value=problem.total_cost(cells),
        bound=None,
        optimal=False,
        record={**solution.record, "rescued": 1.0},
    )


def _solve_whole(
    problem: Problem,
    method: Any,
    options: Mapping[str, Any] | None,
    budget: Budget,
    seed: int,
    threads: int,
    observer: Observer,
    *,
    counts: bool,
) -> Pattern:
    """Solve; for counts, ask for more where whole numbers alone give a cell away, and solve again."""
    asked, run = problem, budget.start()
    for _ in range(4):
        solution: Pattern = method.solve(
            asked, options, budget=run.remaining(), seeds=Seeds(seed), threads=threads, observer=observer
        )
        run.spend(solution.work)
        bad = integer_failures(problem, solution.complementary) if counts else ()
        if not bad:
            bound = solution.bound if asked is problem else None
            return replace(solution, bound=bound, optimal=solution.optimal and asked is problem)
        more = np.isin(asked.sensitive, bad)
        asked = asked.with_changes(
            lower=np.where(more, np.minimum(asked.lower + 1.0, problem.down[asked.sensitive]), asked.lower),
            upper=np.where(more, asked.upper + 1.0, asked.upper),
        )
    raise Infeasible(
        f"{len(bad)} count cells can be worked out because counts are whole numbers; the first is "
        f"{problem.table.name(bad[0])}"
    )


@checked
def audit(
    table: "Problem | Tabulation | Table | IntoDataFrame | np.ndarray | str | Path",
    pattern: "IntoDataFrame | Iterable[Sequence[Any]] | np.ndarray",
    *,
    sensitive: "IntoDataFrame | Iterable[Sequence[Any]] | None" = None,
    protection: float | None = None,
    sliding: float = 0.0,
    low: float = 0.0,
    high: float | None = None,
    insiders: bool = True,
    counts: bool = False,
    rounding: float | None = None,
) -> Audit:
    """Compute the interval an attacker can compute for every hidden cell, exactly, whoever made the pattern.

    Parameters
    ----------
    table : array, DataFrame, Tabulation, Table, Problem or path
        A matrix with or without totals (the first column of a frame, or the index of pandas, names its rows), a table from
        ``tabulate``, a whole problem, or the path of a file with one of these.
    pattern : DataFrame or iterable of tuples
        All hidden cells, sensitive or not: coordinates, and a column ``kind`` if there is one. A sensitive cell that is not
        among them is published, and therefore unsafe.
    sensitive : DataFrame or iterable of tuples, optional
        The sensitive cells, (row, column[, lower, upper]) of a matrix; without them the cells of kind ``primary`` are.
    protection : float, optional
        How far off a sensitive cell without levels must stay, as a share of its value; 0.10 by default.
    sliding : float, default 0.0
        The width an interval must have in addition, as a share of the cell's value.
    low : float, default 0.0
        The least an attacker holds possible for any cell, beside the bounds a ``.jj`` file has.
    high : float, optional
        The most an attacker holds possible for any cell; no limit by default.
    insiders : bool, default True
        Take into account that a sole contributor knows its own cells, and that sums which one relation gives away must
        pass the rules, where contributors are known.
    counts : bool, default False
        The cells are counts: check whole numbers, too. Tables of counts from ``tabulate`` are checked anyway.
    rounding : float, optional
        Totals may be off by rounding to this base; otherwise totals that do not add up are an error.

    Returns
    -------
    Audit
        ``safe``, the hidden ``cells`` with ``low`` and ``high``, and what is wrong: ``unsafe``, ``published``,
        ``disclosed``, ``insider``, ``sums`` and ``integer``. Internal.

    Raises
    ------
    InputError
        A cell is unknown or listed twice, nothing says which cells are sensitive, or totals do not add up.

    See Also
    --------
    suppress : find a pattern that is safe.

    References
    ----------
    - M. Fischetti and J. J. Salazar, Management Science 47, 2001 (the attacker's problem as a linear programme).

    Examples
    --------
    >>> found = audit(np.array([[10, 20, 30], [40, 50, 60], [70, 80, 90]]),
    ...               [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")], sensitive=[("2", "2")])
    >>> found.safe, float(found.low[-1]), float(found.high[-1])
    (True, 40.0, 70.0)
    """
    whole = _opened(table, rounding)
    if not isinstance(whole, Problem | Tabulation | Table):
        whole = as_table(whole, rounding=rounding)
    base = whole.table if isinstance(whole, Problem | Tabulation) else whole
    cells, kinds = read_pattern(base, pattern)
    if sensitive is None and isinstance(whole, Table):
        sensitive = primary_cells(base, cells, kinds)
    problem = as_problem(
        whole,
        sensitive=sensitive,
        protection=share_of(whole, sensitive, protection),
        sliding=sliding,
        low=low,
        high=high,
        insiders=insiders,
    )
    complementary = np.setdiff1d(np.array(cells, dtype=np.int64), problem.sensitive)
    # A pattern of other software may hide what ours would not.
    candidates = problem.candidates.copy()
    candidates[complementary] = True
    problem = problem.with_changes(candidates=candidates)
    refuse_lost_levels(problem)
    published = np.setdiff1d(problem.sensitive, np.array(cells, dtype=np.int64))
    found = audit_pattern(problem, complementary, published=published)
    if counts or (isinstance(whole, Tabulation) and whole.counts):
        found = replace(found, integer=integer_failures(without(problem, published), complementary))
    return found


def _opened(table: Any, rounding: float | None) -> Any:
    """The table in a file if a path was given; what the command line would remark on is a warning here."""
    if not isinstance(table, str | Path):
        return table
    from shoal.tables.files.loading import load

    loaded = load(str(table), rounding=rounding)
    for note in (*loaded.notes, *loaded.warnings):
        warnings.warn(note, stacklevel=3)
    return loaded.table


def describe_attacker(problem: Problem, *, counts: bool = False) -> str:
    """Whom the pattern protects against, in words."""
    low = _bound(problem.low, "at least", "no lower bound", "bounded below")
    high = _bound(problem.high, "at most", "no upper bound", "bounded above")
    text = f"an outsider who knows the published cells and of hidden ones: {low}, {high}"
    if problem.insiders:
        text += f"; {len(problem.insiders)} sole contributors who know their own cells"
        conceded = sum(cells.size for cells in problem.conceded)
        if conceded:
            cases = "1 case" if conceded == 1 else f"{conceded} cases"
            text += f" (in {cases} one gives so much of a sensitive cell that it knows how far it can fall)"
    if problem.sums is not None:
        text += "; sums that one relation gives away pass the rules"
    if counts:
        text += "; counts are whole numbers"
    return text


def _bound(bounds: np.ndarray, one: str, none: str, several: str) -> str:
    if np.isinf(bounds).all():
        return none
    return f"{one} {bounds[0]:g}" if (bounds == bounds[0]).all() else several


def _doubtful(problem: Problem, complementary: np.ndarray) -> int:
    """How many sensitive cells would be unsafe if the attacker knew every cell to twice its value."""
    values = np.abs(problem.table.values)
    narrow = problem.with_changes(
        high=np.minimum(problem.high, np.maximum(2.0 * values, problem.table.values)), insiders=(), sums=None
    )
    return int(audit_pattern(narrow, complementary, all_cells=False).unsafe.size)
