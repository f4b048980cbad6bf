"""``shoal.suppress`` and ``shoal.audit``: from a table to what may be published, and what an attacker makes of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from shoal.arguments import checked
from shoal.errors import Infeasible, InputError, OutOfTime, parameter
from shoal.numbers import number
from shoal.numbers import whole as whole_number
from shoal.runtime import Budget, Observer, silent
from shoal.runtime.kernels import in_plain_python
from shoal.runtime.observer import Witness
from shoal.runtime.threads import usable_threads
from shoal.tables.as_problem import (
    NO_PATTERN,
    as_problem,
    as_table,
    of_change,
    of_unasked,
    primary_cells,
    read_pattern,
    share_of,
    unasked,
)
from shoal.tables.checked_search import checked_pattern, solve_whole
from shoal.tables.methods import METHODS
from shoal.tables.model.table import Table
from shoal.tables.model.tabulated import Tabulation, Zeros
from shoal.tables.model.tabulation import hierarchy_of
from shoal.tables.model.trees import EitherWay
from shoal.tables.model.units import refuse_lost_levels
from shoal.tables.problem import Problem, PublishedProblem
from shoal.tables.public_table import slack_of
from shoal.tables.safety.attackers_named import describe_attacker, doubtful_if_bounded
from shoal.tables.safety.audit import WHOLE_NUMBERS, Audit, without
from shoal.tables.safety.audit import audit as audit_pattern
from shoal.tables.safety.watching import TimeIsOver, watched
from shoal.tables.safety.whole_numbers import integer_failures, known_as_whole, refuse_fractions
from shoal.tables.suppression import Suppression
from shoal.tables.table_arguments import (
    Building,
    RowArguments,
    refuse_without_rule,
    remark,
    table_argument,
    tells_nothing,
    with_metadata,
)

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


# Up to so many cells a whole search in plain Python ends before compiled kernels are loaded (measured).
PLAIN_CELLS = 50


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
    tolerance: float | None = None,
    zeros: Zeros = "published",
    common: bool = False,
    keep_totals: bool = False,
    seed: int = 0,
    threads: int = 1,
    time_limit: float | None = None,
    iterations: int | None = None,
    budget: Budget | None = None,
    observer: Observer = silent,
    **building: Unpack[Building],
) -> Suppression:
    """Find the cheapest further cells to hide so that no sensitive cell can be computed too closely.

    The pattern is checked by linear programmes that share no code with the methods; one that is not confirmed is never
    returned.

    Parameters
    ----------
    table : array, DataFrame, Tabulation, Table, Problem or path
        A matrix with or without totals (the first column of a frame, or the index of pandas, names its rows), a table from
        ``tabulate``, a whole problem, or the path of a file with one of these; with ``dimensions`` records, or the cells of a
        ready-made table.
    sensitive : DataFrame or iterable of tuples, optional
        The sensitive cells, (row, column[, lower, upper]) of a matrix. Tables from ``tabulate`` and whole problems have
        sensitive cells and levels of their own; for cells named here on top of them the larger levels hold.
    protection : float, optional
        How far off every sensitive cell must stay at least, as a share of its value, whichever rule calls it so; by default
        0.10 for cells without levels. A ``.jj`` file has levels of its own.
    method : str, default "auto"
        How to find the pattern; ``shoal suppress --method list`` shows all.
    options : mapping, optional
        Options of the method by name.
    cost : str or DataFrame, default "value"
        What hiding a cell costs: its ``"value"``, 1 (``"unity"``), its number of ``"contributors"``, the ``"log"`` of its
        value, or a frame with coordinates and ``cost`` for cells that differ; of records the sum of a column, too.
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
    tolerance : float, optional
        Totals may besides be off by this much.
    zeros : {"published", "suppressible"}, default "published"
        Whether empty cells of a matrix, of records or of a ready-made table may be hidden.
    common : bool, default False
        Hide the same cells of all figures of a table that has several; by default each has a pattern of its own.
    keep_totals : bool, default False
        Never hide a total that is not sensitive.
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
    **building : arguments of ``tabulate``
        For records, and for ready-made tables with totals among their rows: ``dimensions`` and all that says how rows become
        a table (``value``, ``rules``, ``hierarchies``, ``total``, ``contributors_column``, ``largest_columns``,
        ``status_column``, ``contributor``, ``source``, ``missing`` …), as for ``tabulate``.

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

    A ready-made table, its totals among the rows:

    >>> import polars as pl
    >>> cells = pl.DataFrame({"region": ["n", "s", "Total"] * 3, "size": [*"aaabbb", *["Total"] * 3],
    ...                       "turnover": [20, 50, 70, 30, 60, 90, 50, 110, 160], "firms": [2, 5, 7, 3, 6, 9, 5, 11, 16]})
    >>> suppress(cells, dimensions=["region", "size"], value="turnover", contributors_column="firms", cost="unity")
    Suppression(method='auto', primary=1, complementary=3, cost=3, bound=3, safe=True)
    """
    given = table_argument(
        table,
        building,
        rounding=rounding,
        tolerance=tolerance,
        zeros=zeros,
        cost=cost if isinstance(cost, str) else "value",
    )
    table = given.table
    problem = as_problem(
        table,
        sensitive=sensitive,
        protection=share_of(table, sensitive, protection),
        # What was built has the costs that have a name.
        cost="value" if given.built and isinstance(cost, str) else cost,
        sliding=sliding,
        low=low,
        high=high,
        insiders=insiders,
        rounding=rounding,
        tolerance=tolerance,
        zeros=zeros,
    )
    refuse_without_rule(table if isinstance(table, Tabulation) else None, problem)
    refuse_lost_levels(problem)
    free = problem
    if keep_totals:
        problem = problem.with_totals_published()
    counts = counts or (isinstance(table, Tabulation) and table.counts)
    if counts:
        refuse_fractions(problem.table)
    chosen = METHODS[method]
    budget = budget or Budget(iterations=iterations, seconds=time_limit)
    witness = Witness(observer)
    threads = usable_threads(threads)
    small = problem.table.cells <= PLAIN_CELLS
    search = partial(
        solve_whole,
        method=chosen,
        options=options,
        budget=budget,
        seed=seed,
        # Threads change no result, but each would load the compiled kernels, which a small table does not repay.
        threads=1 if small else threads,
        observer=witness,
        counts=counts,
    )
    with in_plain_python(where=small), _naming_totals(free, problem):
        if common:
            from shoal.tables.common_pattern import solve_common, tied

            problem = tied(problem)
            solution = solve_common(problem, search, budget.start())
        else:
            solution = search(problem)
        witness.verification()
        solution, found = checked_pattern(problem, solution, counts=counts)
        doubtful = doubtful_if_bounded(problem, solution.complementary)
    return Suppression(
        problem,
        solution,
        found,
        method,
        describe_attacker(problem, counts=counts),
        seed,
        doubtful,
        table if isinstance(table, Tabulation) else None,
    )


@contextmanager
def _naming_totals(free: Problem, problem: Problem) -> Iterator[None]:
    """Say of a table that cannot be protected that totals were not to be hidden, if there are any that could be."""
    try:
        yield
    except Infeasible as error:
        if isinstance(error, OutOfTime) or problem.size == free.size:
            raise
        raise Infeasible(
            f"{error.template}; totals are not hidden: try it without {parameter('keep_totals')}"
        ) from error


@checked
def audit(
    table: "Problem | Tabulation | Table | IntoDataFrame | np.ndarray | str | Path",
    pattern: "IntoDataFrame | Iterable[Sequence[Any]] | np.ndarray | None" = None,
    *,
    sensitive: "IntoDataFrame | Iterable[Sequence[Any]] | None" = None,
    protection: float | None = None,
    sliding: float = 0.0,
    low: float = 0.0,
    high: float | None = None,
    insiders: bool = True,
    counts: bool = False,
    rounding: float | None = None,
    tolerance: float | None = None,
    beside: "IntoDataFrame | Sequence[Any] | str | Path | None" = None,
    change: float | None = None,
    within: float | None = None,
    nested: "IntoDataFrame | Sequence[Any] | str | Path | None" = None,
    difference: int = 3,
    hierarchies: "Mapping[str, Mapping[str, str] | IntoDataFrame | str | Path] | None" = None,
    total: str | Sequence[str] | Mapping[str, str] | None = None,
    budget: Budget | None = None,
    observer: Observer = silent,
    **rows: Unpack[RowArguments],
) -> Audit:
    """Compute the interval an attacker can compute for every hidden cell, exactly, whoever made the pattern.

    Parameters
    ----------
    table : array, DataFrame, Tabulation, Table, Problem or path
        A matrix with or without totals (the first column of a frame, or the index of pandas, names its rows), a table from
        ``tabulate``, a whole problem, or the path of a file with one of these; with ``dimensions`` records, or the cells of a
        ready-made table. Without a pattern a published table, hidden cells blank or with any text: a list of cells with
        ``value``, a matrix, or the crosstabs that Shoal publishes; of its hidden cells only what is known exactly is told.
    pattern : DataFrame or iterable of tuples, optional
        All hidden cells, sensitive or not: coordinates, and a column ``kind`` if there is one. A sensitive cell that is not
        among them is published, and therefore unsafe. By default those that a ``.jj`` file or the states of a ready-made table
        mark as hidden, or that a published table does not show.
    sensitive : DataFrame or iterable of tuples, optional
        The sensitive cells, (row, column[, lower, upper]) of a matrix; without them the cells of kind ``primary`` are.
    protection : float, optional
        How far off every sensitive cell must stay at least, as a share of its value, whichever rule calls it so; by default
        0.10 for cells without levels. A ``.jj`` file has levels of its own.
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
    tolerance : float, optional
        Totals may besides be off by this much.
    beside : DataFrame, path or sequence of these, optional
        Other published tables that everybody can see, hidden cells blank or with any text: of other dimensions of the same
        records, which are judged as one system with this one, or of last period.
    change : float, optional
        For a table of last period: the share by which everybody knows that no figure changed by more.
    within : float, optional
        Figures of the tables beside it were changed (rounded or perturbed), and each is at most this far from the true one.
    nested : DataFrame, path or sequence of these, optional
        Which areas of one table lie in which areas of another: two columns, the area and the one it lies in, named after their
        dimensions; an area across several is listed with each. What is left of an area, or of a union of areas, without
        those inside may be no small count.
    difference : int, default 3
        Counts below this one are small.
    hierarchies : mapping, optional
        Subtotals of the dimensions of a ready-made table or of records, and of the tables beside it; other tables know their
        own.
    total : str, sequence of str or mapping, optional
        What totals are called in a ready-made table and in the tables beside it; usual names are recognised.
    budget : Budget, optional
        How long to look. When its seconds are over, the sensitive cells come first; ``not_judged`` and ``not_looked_at`` name
        what was left out, and nothing is safe then.
    observer : callable, optional
        Called with a ``Progress`` while intervals are computed.
    **rows : arguments of ``tabulate``
        For records, and for ready-made tables with totals among their rows: ``dimensions`` and all that says what the rows are
        (``value``, ``rules``, ``contributors_column``, ``largest_columns``, ``status_column``, ``contributor`` …), as for
        ``tabulate``.

    Returns
    -------
    Audit
        ``safe``, the hidden ``cells`` with ``low`` and ``high``, and what is wrong: ``unsafe``, ``published``,
        ``disclosed``, ``insider``, ``sums`` and ``integer``; ``not_judged`` for want of time. Internal.

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
    if change is not None:
        number(change, f"{parameter('change')}, a share,", least=0.0)
        if beside is None:
            raise InputError(
                f"{parameter('change')} is how much figures changed since another table: name that one with {parameter('beside')}"
            )
    difference = whole_number(difference, "the limit of small differences", least=2, most=10**9)
    if nested is not None and beside is None:
        raise InputError(
            f"{parameter('nested')} says which areas lie in those of another table: name that one with {parameter('beside')}"
        )
    if within is not None:
        number(within, f"{parameter('within')}, how far figures may be off,", above=0.0)
        if beside is None:
            raise InputError(f"{parameter('within')} is of tables that are named with {parameter('beside')}")
        if change is not None or nested is not None:
            raise InputError(
                f"{parameter('within')} is for changed figures of the same data: {parameter('change')} and {parameter('nested')} "
                "need figures as they are"
            )
    if not isinstance(table, Problem | Tabulation | Table):
        remark(of_change(change))
    table, said, _ = with_metadata(table, {**rows, "hierarchies": hierarchies, "total": total})
    trees = {name: hierarchy_of(name, own) for name, own in (said.pop("hierarchies", None) or {}).items()}
    total = said.pop("total", None)
    dimensions = said.get("dimensions") or ()
    if rounding is not None:
        number(rounding, "the base of rounding", above=0.0)
    if tolerance is not None:
        number(tolerance, f"{parameter('tolerance')}, an amount,", least=0.0)
    slack = slack_of(rounding, tolerance)
    if (
        pattern is None
        and not said
        and not isinstance(table, Problem | Tabulation | Table | np.ndarray | list)
    ):
        from shoal.tables.published_alone import as_published

        table, pattern = as_published(
            table,
            beside,
            options={"sensitive_data": sensitive, "protection": protection},
            hierarchies=trees,
            total=total,
            slack=slack,
            low=low or None,
            whole=counts,
        )
    given = table_argument(
        table,
        {
            **said,
            "hierarchies": {name: tree for name, tree in trees.items() if name in dimensions},
            "total": total if dimensions else None,
        },
        rounding=rounding,
        tolerance=tolerance,
    )
    whole = given.table
    if not isinstance(whole, Problem | Tabulation | Table):
        whole = as_table(whole, rounding=rounding, tolerance=tolerance)
    base = whole.table if isinstance(whole, Problem | Tabulation) else whole
    if pattern is None:
        if given.hidden is None:
            raise InputError(NO_PATTERN)
        pattern = [tuple(base.key(int(cell)).values()) for cell in given.hidden]
    cells, kinds = read_pattern(base, pattern)
    if sensitive is None and (
        isinstance(whole, Table) or (isinstance(whole, Tabulation) and tells_nothing(whole))
    ):
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
    are_counts = counts or (isinstance(whole, Tabulation) and whole.counts)
    if are_counts:
        refuse_fractions(problem.table)
    published = np.setdiff1d(problem.sensitive, np.array(cells, dtype=np.int64))
    # What kind of table it is belongs to building it, and takes a while if it is large.
    _ = problem.table.network
    watch = watched(budget, observer)
    found = audit_pattern(problem, complementary, published=published, watch=watch)
    unknown = isinstance(problem, PublishedProblem)
    found = replace(found, unasked=unasked(problem, cells, kinds), sensitive_unknown=unknown)
    if given.table is not table:
        remark(of_unasked(found.unasked))
    if are_counts:
        try:
            watch.look()
            failing = (
                known_as_whole(problem, np.setdiff1d(complementary, found.disclosed), watch)
                if unknown
                else integer_failures(without(problem, published), complementary, watch)
            )
            found = replace(found, integer=failing)
        except TimeIsOver:
            found = found.without_time_for(WHOLE_NUMBERS, watch.reason)
    if beside is None:
        return found
    from shoal.tables.files.public_files import parents_of
    from shoal.tables.published_together import audited_together

    return audited_together(
        found,
        beside,
        change=change,
        hierarchies={
            **{name: tree for name, tree in trees.items() if isinstance(tree, EitherWay)},
            **parents_of(whole.trees if isinstance(whole, Tabulation) else {}),
            **{name: tree for name, tree in trees.items() if not isinstance(tree, EitherWay)},
        },
        total=total,
        slack=slack,
        again=lambda cells: audit(
            problem,
            [tuple(base.key(int(cell)).values()) for cell in cells],
            counts=counts,
            budget=watch.left,
        ),
        watch=watch,
        nested=nested,
        difference=difference,
        within=within,
        whole=are_counts,
    )
