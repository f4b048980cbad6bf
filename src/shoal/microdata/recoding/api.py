"""``shoal.recode``: from a frame to one in which every class has at least k records, or units."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from shoal.arguments import checked
from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.hierarchy import read_values
from shoal.microdata.columns.inputs import as_names, check_choice, read_frame
from shoal.microdata.columns.orders import Orders, read_orders
from shoal.microdata.columns.roles import guess_roles, with_roles
from shoal.microdata.columns.units import unit_column, unit_remarks
from shoal.microdata.models.confidential import read_confidential, trees_asked_for
from shoal.microdata.recoding.assembly import Asked, assemble
from shoal.microdata.recoding.demands import (
    check_columns,
    check_mapping,
    check_together,
    importance,
    level_bounds,
    read_demands,
)
from shoal.microdata.recoding.households import read_households, shared_keys
from shoal.microdata.recoding.keys import Keys
from shoal.microdata.recoding.mapping import AppliedMapping
from shoal.microdata.recoding.methods import METHODS
from shoal.microdata.recoding.problem import MEASURES, Measure, Problem
from shoal.microdata.recoding.result import Part, Recoded
from shoal.microdata.recoding.wildcard import check_wildcard, with_wildcards
from shoal.numbers import number, whole
from shoal.runtime import Budget, Observer, Seeds, silent
from shoal.runtime.observer import Witness, mapped
from shoal.runtime.secrets import Secret
from shoal.runtime.threads import usable_threads

if TYPE_CHECKING:
    import narwhals as nw
    from narwhals.typing import IntoDataFrame

Order = Literal["keep", "sorted"]


@checked
def recode(
    frame: "IntoDataFrame",
    quasi: Sequence[str],
    k: int = 5,
    *,
    hierarchies: Mapping[str, Any] | None = None,
    ordinal: Sequence[str] | Orders = (),
    suppress: float = 0.0,
    keep_suppressed: bool = False,
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    measure: Measure = "loss",
    weights: Mapping[str, float] | None = None,
    stay: Sequence[str] = (),
    levels: Mapping[str, int] | None = None,
    apply: Any = None,
    models: Sequence[str] = (),
    confidential: Sequence[str] = (),
    population: Any = None,
    unit: str | None = None,
    household: str | None = None,
    null: Literal["own", "wildcard"] = "own",
    by: Sequence[str] = (),
    sample_weights: str | None = None,
    average: Sequence[str] = (),
    drop: Sequence[str] = (),
    order: Order = "keep",
    roles: Mapping[str, str] | None = None,
    explain: bool = False,
    budget: Budget | None = None,
    seed: int | None = 0,
    secret: Any = None,
    threads: int | None = None,
    observer: Observer = silent,
) -> Recoded:
    """Make keys coarser, or blank them, until every class has at least k records, or units, and prove how little that costs.

    Every key has a hierarchy: what each value becomes, level by level, up to one label that says nothing. Where none is given
    one is built, and a note says which. The result was verified by an independent check.

    Parameters
    ----------
    frame : DataFrame
        The records: a frame of pandas, Polars, Arrow or any other that Narwhals knows.
    quasi : sequence of str
        The keys: columns an intruder may know.
    k : int, default 5
        The least size of a class: records, or units, that share their keys.
    hierarchies : mapping of str to hierarchy, optional
        What the values of a key become: a rule such as ``"intervals(5,10,20)"``, the path of a file as ARX writes it, rows,
        a frame of rows, or a ``Hierarchy``. Columns that are not named get what ``propose_hierarchies`` proposes.
    ordinal : sequence of str, or mapping of str to sequence, default ()
        Keys whose values have an order; of texts each with its values from the lowest on.
    suppress : float, default 0
        The largest share of records, or units, that may be left out of the release.
    keep_suppressed : bool, default False
        Release those who are left out with all keys blank; together they must meet every demand.
    method : str, default "auto"
        How to recode; ``shoal recode --method list`` shows all.
    options : mapping, optional
        Options of the method by name.
    measure : {"loss", "entropy", "discernibility", "class-size", "cells"}, default "loss"
        What is to be as small as possible.
    weights : mapping of str to float, optional
        How important a key is; 1 by default.
    stay : sequence of str, default ()
        Keys that must stay as they are.
    levels : mapping of str to int, optional
        Recode by hand: keys named here are released at these levels, the others as they are. What is then still unsafe is
        left out (``method="lattice"``), blanked, or made coarser in groups (``method="local"``).
    apply : AppliedMapping or path, optional
        Apply the recoding of an earlier release: its ``mapping``, or the file it was written to.
    models : sequence of str, default ()
        Further demands on every class: ``distinct(3)``, ``entropy(3)``, ``recursive(3,3)``, ``closeness(0.2)``,
        ``closeness(0.15,ordered)``, ``likeness(1)``, ``k-map(10)``, ``presence(0,0.5)``, ``average-risk(0.05)`` …
    confidential : sequence of str, default ()
        The columns that models of values are about, each on its own.
    population : DataFrame, optional
        Everybody, with the same keys: for ``k-map`` and ``presence``.
    unit : str, optional
        The column that says whose records these are; k counts distinct units. ``"record"`` declares that each record is one.
    household : str, optional
        The column that says which records are of one household: what its members share is told of all alike and blanked for
        nobody alone, and whole households of the same composition are counted, too.
    null : {"own", "wildcard"}, default "own"
        A blank is a value of its own, or matches anything when k is counted, as in sdcMicro: fewer values are blanked, and
        records are protected less. A missing value of the data is a value of its own in any case.
    by : sequence of str, default ()
        Columns that form strata, each recoded on its own; k holds within each.
    sample_weights : str, optional
        The column that says how much of the population a record stands for: margins in the report are weighted by it.
    average : sequence of str, default ()
        Numeric columns that are microaggregated within the classes, in groups of at least k records.
    drop : sequence of str, default ()
        Columns that are not released.
    order : {"keep", "sorted"}, default "keep"
        Keep the order of the records, by which they can be linked, or sort by what is released.
    roles : mapping of str to str, optional
        Corrections of the roles that ``guess_roles`` guesses, by column.
    explain : bool, default False
        Look also at what one level finer or coarser would cost, and at the front of loss against what is left out.
    budget : Budget, optional
        How long to search. By default the usual amount of work.
    seed : int or None, default 0
        Where the search begins; ``None`` begins from the system's entropy.
    secret : Secret or path, optional
        The secret of an earlier release, to repeat it. Which of several records with the same keys loses a value is drawn from
        it; loss, K and counts do not depend on it. By default a new one, which the result holds.
    threads : int, optional
        How many cores to use; all of them by default. They do not change the result.
    observer : callable, optional
        Called with a ``Progress`` now and then while the search goes on.

    Returns
    -------
    Recoded
        ``frame`` (of the kind that came in), ``levels``, ``k_release``, ``loss`` and its proved lower ``bound``, ``optimal``,
        ``suppressed_records``, ``suppressed_cells``, ``losses`` by all measures, ``mapping``, ``notes`` and ``warnings``;
        ``report()`` is a page, ``verify(frame)`` checks what was written and read back.

    Raises
    ------
    InputError
        Before any work: a column is missing, a hierarchy does not cover the values, k is above the number of records (or
        units), a model lacks its column, an option is unknown.
    Infeasible
        No recoding meets the demands; the message says how near one can get.

    See Also
    --------
    propose_hierarchies : the hierarchies that are used where none is given.
    anonymity : measure K without changing anything.
    microaggregate : protect numbers by averages.

    References
    ----------
    - P. Samarati, Protecting respondents' identities in microdata release, IEEE TKDE 13(6), 2001.
    - F. Kohlmayer and others, Flash: efficient, stable and optimal k-anonymity, PASSAT 2012.
    - A. Machanavajjhala and others, l-diversity, ICDE 2006; N. Li and others, t-closeness, ICDE 2007.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> people = pl.DataFrame({"age": [31, 38, 47, 44, 33], "sex": list("ffmmf")})
    >>> safe = shoal.recode(people, ["age", "sex"], k=2, method="lattice", hierarchies={"age": "intervals(10,20)"})
    >>> safe.frame.rows()[0], safe.k_release, safe.optimal
    (('30-39', 'f'), 2, True)
    """
    check_choice("measure", measure, MEASURES)
    check_choice("order", order, get_args(Order))
    check_choice("null", null, ("own", "wildcard"))
    METHODS[method].configure(options)
    k = whole(k, "k", least=1)
    number(suppress, "suppress", least=0.0, most=1.0)
    data, declared = read_frame(frame), unit
    unit = unit_column(unit, data.columns)
    names, confidential, orders = as_names(quasi), as_names(confidential), read_orders(ordinal)
    others = {
        "by": as_names(by),
        "drop": as_names(drop),
        "stay": as_names(stay),
        "confidential": confidential,
        "average": as_names(average),
        "unit": [] if unit is None else [unit],
        "household": [] if household is None else [household],
        "sample_weights": [] if sample_weights is None else [sample_weights],
    }
    given = dict(hierarchies or {})
    check_columns(data, names, others, given, orders)
    if len(data) == 0:
        raise InputError("there are no records")
    demands, k = read_demands(as_names(models), confidential, k, population)
    check_together(demands, by=others["by"], household=household, keep_suppressed=keep_suppressed)
    guesses = with_roles(guess_roles(data), roles or {})
    if apply is not None:
        applied = apply if isinstance(apply, AppliedMapping) else AppliedMapping.read(Path(apply))
        check_mapping(applied, names, levels)
        given, levels, method, options = (
            {**applied.hierarchies(data), **given},
            applied.levels,
            "lattice",
            None,
        )
    everybody = None if population is None else read_frame(population)
    keys = Keys.read(data, names, guesses, given, orders, everybody)
    trees = trees_asked_for(data, demands, guesses, given, orders)
    secrets = read_confidential(data, confidential, demands, trees, orders)
    units = None if unit is None else read_values(data[unit]).codes
    households = None if household is None else read_households(read_values(data[household]))
    alike = () if households is None else shared_keys(keys.leaves, households)
    exactly = "uniform" in METHODS[method].traits
    # A method that chooses among recodings of columns keeps what is shared alike by itself.
    fixed = alike if not exactly and method != "auto" else ()
    witness = Witness(observer)
    lowest, highest = level_bounds(keys, levels, others["stay"], exactly=exactly, alike=fixed)
    weighed = importance(names, weights)
    strata = _strata(data, others["by"])
    parts = []
    for place, members in enumerate(strata):
        problem = Problem.of(
            [leaves[members] for leaves in keys.leaves],
            keys.hierarchies,
            k=k,
            units=None if units is None else units[members],
            confidential={name: (codes[members], column) for name, (codes, column) in secrets.items()},
            population=None if everybody is None else keys.leaves_of(everybody),
            models=tuple(demands),
            measure=measure,
            weights=weighed,
            lowest=lowest,
            highest=highest,
            keep_suppressed=keep_suppressed,
            alike=alike,
            limit=floor(suppress * _people(units, members) + 1e-9),
        )
        if alike and "mixed" in METHODS[method].traits and levels is None:
            problem = _with_shared_levels(problem, alike, [names.index(name) for name in others["stay"]])
        phase = f"stratum {place + 1} of {len(strata)}" if len(strata) > 1 else ""
        if null == "wildcard":
            check_wildcard(problem, METHODS[method].traits)
        solution = METHODS[method].solve(
            problem,
            options,
            budget=budget or Budget(),
            seeds=Seeds(seed),
            threads=usable_threads(threads),
            # Levels by hand are where a method that chooses has to begin.
            start=lowest if levels is not None and method == "auto" else None,
            observer=mapped(witness, lambda value: value, phase),
        )
        if null == "wildcard":
            solution = with_wildcards(problem, solution)
        if levels is not None and (exactly or method == "auto"):
            # Levels that somebody said are not the best ones, and no bound on others.
            solution = solution.without_proof()
        parts.append(Part(members, problem, solution))
    asked = Asked(
        k=k,
        method=method,
        options=options,
        suppress=suppress,
        by=tuple(others["by"]),
        drop=tuple(others["drop"]),
        average=tuple(others["average"]),
        unit=unit,
        household=household,
        null=null,
        sample_weights=sample_weights,
        order=order,
        explain=explain,
        seed=seed,
        secret=Secret.of(secret),
        budget=budget,
        unit_remarks=tuple(
            unit_remarks(data, declared, guesses, (*names, *others["by"], household, sample_weights))
        ),
    )
    witness.verification()
    return assemble(asked, data, guesses, keys, secrets, units, households, everybody, parts)


def _with_shared_levels(problem: Problem, alike: Sequence[int], stay: Sequence[int]) -> Problem:
    """The keys that households share at the levels that are best where all keys have one level."""
    highest = tuple(0 if place in stay else height for place, height in enumerate(problem.heights))
    free = replace(problem, lowest=(0,) * len(problem.heights), highest=highest)
    best = METHODS["lattice"].solve(free)
    fixed = {place: best.uniform[place] for place in alike}
    lowest = tuple(fixed.get(place, level) for place, level in enumerate(problem.lowest))
    highest = tuple(fixed.get(place, level) for place, level in enumerate(problem.highest))
    return replace(problem, lowest=lowest, highest=highest)


def _strata(data: "nw.DataFrame", by: Sequence[str]) -> list[np.ndarray]:
    """The records of each stratum, by the values of the columns."""
    if not by:
        return [np.arange(len(data))]
    codes = np.stack([read_values(data[name]).codes for name in by], axis=1)
    _, numbers = np.unique(codes, axis=0, return_inverse=True)
    return [np.flatnonzero(numbers.reshape(-1) == stratum) for stratum in range(int(numbers.max()) + 1)]


def _people(units: np.ndarray | None, members: np.ndarray) -> int:
    return members.size if units is None else int(np.unique(units[members]).size)
