"""``shoal.microaggregate``: from a frame to a frame in which every record equals at least k−1 others."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import narwhals as nw
import numpy as np

from shoal.arguments import checked
from shoal.errors import InputError, parameter, unknown
from shoal.exact_names import without
from shoal.microdata.anonymity.api import count_classes
from shoal.microdata.columns.attributes import Attribute, read_attribute, write_attribute
from shoal.microdata.columns.column_choice import choose_columns
from shoal.microdata.columns.inputs import (
    Missing,
    as_names,
    check_choice,
    check_k,
    check_names,
    check_quasi,
    read_attribute_weights,
    read_frame,
    read_owners,
    read_sample_weights,
    read_strata,
    records_to_keep,
    start_labels,
    with_one_zero,
)
from shoal.microdata.columns.orders import Orders, read_orders, remarks_on_orders
from shoal.microdata.columns.record_links import RecordLinks, released_numbers
from shoal.microdata.columns.roles import Guess, guess_roles, knowable, with_roles
from shoal.microdata.columns.sorting import ORIGINAL_ORDER, sorted_by_release
from shoal.microdata.columns.units import possible_units, unit_column, unit_remarks
from shoal.microdata.measures.before_after import measure_changes
from shoal.microdata.microaggregation.aggregate import Aggregate
from shoal.microdata.microaggregation.categories import changes_of_categories, table_of
from shoal.microdata.microaggregation.contributors import Contributions, check_contributors, join_short_groups
from shoal.microdata.microaggregation.methods import METHODS
from shoal.microdata.microaggregation.partitioning import Bounded, Partitioning, Shares
from shoal.microdata.microaggregation.release import comparable, loss, released_values, scaled_points
from shoal.microdata.microaggregation.remarks import (
    MEDIAN_TELLS,
    remarks_on_constants,
    remarks_on_skew,
    warnings_on_identity,
    warnings_on_k,
    warnings_on_unchanged,
)
from shoal.microdata.microaggregation.result import Microaggregation, Part
from shoal.microdata.microaggregation.verify import ReleaseCheck
from shoal.numbers import counted, whole
from shoal.remarks import Remark, note, warning
from shoal.runtime import Budget, Observer, Seeds, silent
from shoal.runtime.budget import decisive
from shoal.runtime.observer import Progress, Witness
from shoal.runtime.threads import usable_threads

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

Order = Literal["keep", "sorted"]

# Categories are many coordinates: groups go on getting better for longer.
_ROUNDS_WITH_CATEGORIES = 60


@checked
def microaggregate(
    frame: "IntoDataFrame",
    k: int = 5,
    *,
    columns: Sequence[str] | None = None,
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    groups: Sequence[Sequence[str]] | Literal["auto"] | None = None,
    aggregate: Aggregate | None = None,
    ordinal: Sequence[str] | Orders = (),
    nominal: Sequence[str] = (),
    by: Sequence[str] = (),
    missing: Missing | None = None,
    attribute_weights: Mapping[str, float] | None = None,
    sample_weights: str | None = None,
    largest: int | None = None,
    drop: Sequence[str] = (),
    order: Order = "keep",
    quasi: Sequence[str] | None = None,
    roles: Mapping[str, str] | None = None,
    unit: str | None = None,
    start: Any = None,
    bound: bool = True,
    budget: Budget | None = None,
    seed: int | None = 0,
    threads: int | None = None,
    observer: Observer = silent,
) -> Microaggregation:
    """Replace records by the means of groups of at least k, with the least loss found, and prove how good that is.

    k holds for the columns that are protected together; what holds over all that somebody could know is K of the release
    (``k_release``), which is counted on what comes out. The result was verified by an independent check.

    Parameters
    ----------
    frame : DataFrame
        The records: a frame of pandas, Polars, Arrow or any other that Narwhals knows.
    k : int, default 5
        The smallest number of equal records, 2 or more.
    columns : sequence of str, optional
        The columns to protect together; ``["*"]`` takes every numeric one. By default those that measure something
        (``guess_roles``); a note says which.
    method : str, default "auto"
        How to find the groups; ``shoal microaggregate --method list`` shows all.
    options : mapping, optional
        Options of the method by name.
    groups : sequence of sequences of str or "auto", optional
        Protect columns group by group; k then holds within each. ``"auto"`` looks for the groups that balance loss and
        risk best.
    aggregate : {"mean", "median", "rounded-mean"}, optional
        What stands for a group; ``"rounded-mean"`` keeps integers whole. The mean by default, rounded where there are
        nominal columns.
    ordinal : sequence of str, or mapping of str to sequence, default ()
        Columns whose order counts, not their values: the middle value of a group is released. Names alone will do for
        what has an order; texts need theirs, ``{"education": ["low", "high"], "age": None}``.
    nominal : sequence of str, default ()
        Columns of categories without an order, protected together with the others: a group gets its most frequent category,
        in the codes of the column. ``["*"]`` takes all categories that an intruder could know (``guess_roles``) and that
        are not named elsewhere.
    by : sequence of str, default ()
        Columns that form strata no group crosses.
    missing : {"refuse", "aside", "impute", "value"}, optional
        Records with gaps in the protected columns: refuse the frame, do not release them, fill in the group's mean, or take
        a gap for a value of its own, which a group gets that has no values for the most part. Refused by default, a value
        where there are nominal columns; in those it always is one.
    attribute_weights : mapping of str to float, optional
        How much a column counts in the distance; 1 by default.
    sample_weights : str, optional
        The column that says how much of the population a record stands for: means are weighted by it; k still counts records.
    largest : int, optional
        The most records a group may have.
    drop : sequence of str, default ()
        Columns that are not released.
    order : {"keep", "sorted"}, default "keep"
        Keep the order of the records, by which they can be linked, or sort by what is released.
    quasi : sequence of str, optional
        The columns over which K of the release is counted. By default all released columns that an intruder could know
        of somebody: the protected ones and those that look like it.
    roles : mapping of str to str, optional
        Corrections of the roles that ``guess_roles`` guesses, by column.
    unit : str, optional
        The column that says whose records these are: K counts distinct units, and so does every group, which holds at
        least k of them. ``"record"`` declares that each record is one.
    start : array of int, optional
        Begin the search from these groups: one number for each record. For one group of columns only.
    bound : bool, default True
        Whether to prove how little any grouping could lose; without it all the time is for the search.
    budget : Budget, optional
        How long to search and to prove: iterations, seconds, or the loss in percent that is enough. By default the usual
        amount of work, so that the same seed gives the same result on any machine.
    seed : int or None, default 0
        Where randomness begins; ``None`` begins from the system's entropy.
    threads : int, optional
        How many cores to use; all of them by default. They do not change the result.
    observer : callable, optional
        Called with a ``Progress`` now and then while the search goes on.

    Returns
    -------
    Microaggregation
        ``frame`` (of the kind that came in), ``k_release``, ``k_protected``, ``loss`` and its proved lower ``bound`` in
        percent, ``optimal``, ``labels``, ``notes`` and ``warnings``; ``report()`` is a page, ``verify(frame)`` checks
        what was written and read back.

    Raises
    ------
    InputError
        Before any work: a column is missing, not numeric or named twice, k is above the number of records, values are
        missing and ``missing`` is ``"refuse"``, a whole stratum has too few contributors, an option is unknown.

    See Also
    --------
    group_attributes : find the groups of columns, with their score.
    compare : measure what the release lost and what an intruder still finds.
    shoal.sklearn.Microaggregator : the same in a pipeline of scikit-learn.

    References
    ----------
    - J. Domingo-Ferrer and J. M. Mateo-Sanz, Practical data-oriented microaggregation for statistical disclosure control,
      IEEE TKDE 14(1), 2002; J. Domingo-Ferrer and V. Torra, Data Mining and Knowledge Discovery 11, 2005 (``mdav``).
    - S. L. Hansen and S. Mukherjee, A polynomial algorithm for optimal univariate microaggregation, IEEE TKDE 15(4), 2003.
    - M. Laszlo and S. Mukherjee, Iterated local search for microaggregation, Journal of Systems and Software 100, 2015.
    - T. A. Bierman, Improvements to Iterated Local Search for Microaggregation, Nova Southeastern University, 2020.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> data = pl.DataFrame({"turnover": [1.0, 2.0, 3.0, 40.0, 41.0, 45.0], "region": list("aabbba")})
    >>> safe = shoal.microaggregate(data, k=3, columns=["turnover"])
    >>> safe.frame["turnover"].to_list()
    [2.0, 2.0, 2.0, 42.0, 42.0, 42.0]
    >>> safe.k_protected, round(safe.loss, 2), safe.optimal
    (3, 0.66, True)
    >>> safe.quasi, safe.k_release
    (('turnover', 'region'), 1)
    """
    aggregate = aggregate or ("rounded-mean" if nominal else "mean")
    missing = missing or ("value" if nominal else "refuse")
    check_choice("aggregate", aggregate, get_args(Aggregate))
    check_choice("missing", missing, get_args(Missing))
    check_choice("order", order, get_args(Order))
    if nominal and method == "auto":
        options = {"rounds": _ROUNDS_WITH_CATEGORIES, **(options or {})}
    METHODS[method].configure(options)
    data, declared = read_frame(frame), unit
    unit = unit_column(unit, data.columns)
    columns = None if columns is None else as_names(columns)
    if isinstance(groups, str) and groups != "auto":
        raise unknown("way to group columns", groups, ["auto"])
    groups = groups if groups is None or groups == "auto" else [as_names(group) for group in groups]
    by, drop, orders = as_names(by), as_names(drop), read_orders(ordinal)
    quasi = None if quasi is None else as_names(quasi)
    nominal, all_categories = as_names(nominal), list(nominal) == ["*"]
    elsewhere = [*by, *drop, unit, sample_weights]
    check_names(data, [*orders, *([] if all_categories else nominal), *(quasi or ()), *elsewhere])
    if len(data) == 0:
        raise InputError("there are no records")
    guesses = with_roles(guess_roles(data), roles or {})
    if all_categories:
        numbers_given_out = possible_units(data, guesses, elsewhere)
        nominal = _all_categories(guesses, [*orders, *(columns or ()), *elsewhere, *numbers_given_out])
    else:
        _check_nominal(nominal, [*orders, *elsewhere])
    check_k(k)
    if largest is not None:
        whole(largest, "the largest group", least=1)
    threads = usable_threads(threads)
    remarks: list[Remark] = []

    named = None if groups == "auto" else groups
    if nominal and groups == "auto":
        raise InputError(
            f"{parameter('groups', 'auto')} groups numbers only; name the {parameter('groups')}, or leave out "
            f"{parameter('nominal')}"
        )
    names, column_groups, of_columns = _columns(data, guesses, columns, named, [*orders, *nominal], elsewhere)
    remarks += of_columns
    for role, others in (("strata", by), ("columns to drop", drop)):
        for name in others:
            if name in names:
                raise InputError(f"column '{name}' is to be protected, so it cannot be among the {role}")
    if unit in names:
        raise InputError(f"column '{unit}' is to be protected, so it cannot say whose records these are")
    check_quasi(quasi or (), unit, drop)
    attributes = _read_attributes(data, names, orders, nominal, missing)
    remarks += remarks_on_orders(data, orders)
    keep, of_gaps = records_to_keep(attributes, missing)
    remarks += of_gaps
    set_aside = len(data) - int(keep.sum())
    if set_aside:
        data = data.filter(keep.tolist())
        attributes = _read_attributes(data, names, orders, nominal, missing)
    n = len(data)
    if n == 0:
        raise InputError("every record has a missing value in the columns to protect")
    if k > n:
        aside = counted(set_aside, "other with missing values is", "others with missing values are")
        raise InputError(
            f"k is {k}, but there {'is' if n == 1 else 'are'} only {counted(n, 'record')}"
            + (f"; {aside} set aside" if set_aside else "")
        )
    if n < 2 * k and not by:
        text = f"{counted(n, 'record is', 'records are')} fewer than 2k = {2 * k}: all of them form one group"
        remarks.append(note("single-group", text))
    grouping = None
    if groups == "auto":
        # What searches for groups is loaded by those who have it done.
        from shoal.microdata.grouping.automatic import choose_groups

        grouping, column_groups, budget = choose_groups(
            data, list(attributes.values()), k, budget or Budget(), seed, threads, observer
        )
        remarks += [item for item in grouping.remarks if item.severity == "note"]
    weights = read_sample_weights(data, sample_weights)
    if weights is not None:
        text = f"means, deviations and correlations before and after are weighted by {sample_weights}"
        remarks.append(note("weighted-figures", text, str(sample_weights)))
    strata = read_strata(data, by, k, keep)
    owners = None if unit is None else read_owners(data, unit)
    contributions = {name: Contributions.to(attributes[name], weights, owners) for name in names}
    members_of = [] if unit is None or owners is None else [Contributions.of_members(unit, owners)]
    check_contributors([*members_of, *contributions.values()], k, strata, unit)
    factors = read_attribute_weights(names, attribute_weights)
    begin = None if start is None else start_labels(start, keep, len(column_groups))
    remarks += remarks_on_constants(list(attributes.values())) + remarks_on_skew(list(attributes.values()))

    shares = Shares(budget or Budget(), len(column_groups) * n, bounded=bound)
    witness = Witness(observer)
    witness(Progress(0, 0.0, phase="searching"))
    randomness = Seeds(seed), threads, witness
    partitioning = Partitioning(
        METHODS[method], options, k, largest, strata, begin, shares, *randomness, bound
    )
    released: dict[str, np.ndarray] = {}
    parts = []
    bound_hurried = False
    for number, group in enumerate(column_groups):
        members = [attributes[name] for name in group]
        scale = [factors[name] for name in group]
        points, filled_in = scaled_points(members, scale)
        phase = f"group {number + 1} of {len(column_groups)}" if len(column_groups) > 1 else ""
        labels, solved = partitioning.search(points, number, phase)
        labels, joined = join_short_groups(
            points,
            labels,
            [*members_of, *(contributions[name] for name in group)],
            k,
            strata=strata,
            largest=largest,
        )
        if joined:
            text = (
                f"{joined} groups of {', '.join(group)} were joined to others, so that every value is made of at least {k} "
                + ("records of which none dominates" if unit is None else f"distinct values of '{unit}'")
            )
            remarks.append(note("joined-groups", text, *group))
        for attribute in members:
            released[attribute.name] = released_values(attribute, labels, aggregate, weights)
        sse, sst = loss(members, [released[name] for name in group], scale)
        proved = Bounded(None, reached=False, hurried=False) if filled_in else partitioning.bound(solved)
        bound_hurried = bound_hurried or proved.hurried
        # The proof is for group means in the scaled space; other aggregates only inherit the bound.
        exact = (
            aggregate == "mean"
            and weights is None
            and not joined
            and all(a.kind in ("number", "integer") for a in members)
        )
        parts.append(
            Part(
                columns=tuple(group),
                labels=labels,
                sse=sse,
                sst=sst,
                bound=None if proved.error is None else min(proved.error, sse),
                optimal=proved.reached and exact,
                method=method,
                iterations=sum(stratum.partition.work for stratum in solved),
                seconds=sum(stratum.partition.seconds for stratum in solved),
                stopped_by=decisive(stratum.partition.stopped_by for stratum in solved),
                histories=tuple(
                    (name, partition.history.mapped(problem.percent)) for name, problem, partition in solved
                ),
            )
        )

    # Of many records the copies that only the search needed would be most of the memory.
    del points, solved
    witness.verification()
    if bound_hurried:
        text = "the time limit cut the work on the bound short: more time would prove more about the least possible loss"
        remarks.append(note("hurried-bound", text))
    whole_numbers, backend = aggregate == "rounded-mean", nw.get_native_namespace(data)
    kept_as_they_are = [name for name in data.columns if name not in names]
    protected = with_one_zero(data, kept_as_they_are).with_columns(
        *(
            write_attribute(attributes[name], values, whole=whole_numbers, backend=backend)
            for name, values in released.items()
        )
    )
    counted_elsewhere = {*names, *drop, unit}
    known = [name for name in knowable(guesses) if name not in counted_elsewhere]
    quasi_names = tuple(names) + tuple(known) if quasi is None else tuple(quasi) or tuple(names)
    measured = count_classes(protected.to_native(), list(quasi_names), unit=unit)
    k_protected = count_classes(protected.to_native(), names, unit=unit).k
    units = None if unit is None else protected[unit]
    if drop:
        protected = without(protected, drop)
    kept = [name for name in protected.columns if name not in counted_elsewhere or name == unit]
    remarks += [
        *warnings_on_identity(guesses, kept, unit),
        *warnings_on_k(measured, k, k_protected, kept),
        *unit_remarks(data, declared, guesses, (*names, *by, *(quasi or ()), sample_weights)),
        *warnings_on_unchanged(
            data,
            guesses,
            list(attributes.values()),
            [name for name in kept if name not in by],
            unit=unit,
            weights=sample_weights,
            quasi=quasi or (),
        ),
    ]
    if len(column_groups) > 1:
        text = (
            f"columns are protected in {len(column_groups)} separate groups: k = {k} holds for the columns of each "
            "group, not for all together; K of the release says what holds"
        )
        remarks.append(warning("separate-groups", text, *names))
    if aggregate == "median" and not all(attribute.categorical for attribute in attributes.values()):
        remarks.append(MEDIAN_TELLS)
    gaps = sum(int(np.isnan(values).sum()) for values in released.values())
    if gaps and missing != "value":
        text = (
            f"{counted(gaps, 'value stays', 'values stay')} missing, because nobody in the same group has one"
        )
        remarks.append(note("missing-values", text))
    permutation = np.arange(n)
    if order == "sorted":
        protected, permutation = sorted_by_release(protected, names)
    else:
        remarks.append(ORIGINAL_ORDER)

    fitness = None
    if len(column_groups) > 1 or grouping is not None:
        from shoal.microdata.grouping.automatic import release_fitness

        numbers = [attribute for attribute in attributes.values() if not attribute.categorical]
        fitness = release_fitness(numbers, released, threads)
    ordered = [name for name in names if attributes[name].kind != "nominal"]
    counted_over = "all that could be known" if quasi is None else "the columns named"
    result = Microaggregation(
        frame=protected.to_native(),
        parts=tuple(parts),
        k=k,
        k_release=measured.k,
        k_protected=k_protected,
        anonymity=measured,
        quasi=quasi_names,
        quasi_guessed=quasi is None,
        method=method,
        records=n,
        set_aside=set_aside,
        grouping=grouping,
        fitness=fitness,
        changes=measure_changes(
            ordered,
            table_of([attributes[name].values for name in ordered], n),
            table_of([comparable(attributes[name], released[name]) for name in ordered], n),
            scales=[attributes[name].scale for name in ordered],
            weights=weights,
        ),
        categories=changes_of_categories(attributes, released, parts) if nominal else None,
        remarks=tuple(remarks),
        settings=(
            ("k", k),
            ("method", method),
            ("options of the method", _listed(options)),
            ("aggregate", aggregate),
            ("ordinal columns", ", ".join(orders) or None),
            ("nominal columns", ", ".join(nominal) or None),
            ("attribute weights", _listed(attribute_weights)),
            ("sample weights", sample_weights),
            ("missing values", missing),
            ("strata", ", ".join(by) or None),
            ("columns dropped", ", ".join(drop) or None),
            ("K of the release counted over", counted_over),
            ("unit counted in K, and in every group", unit or "record"),
            ("a missing value in K", "is a value of its own"),
            ("order", order),
            ("largest group", largest),
            ("iterations allowed", budget.iterations if budget else None),
            ("seconds allowed", budget.seconds if budget else None),
            ("target, % loss", budget.target if budget else None),
            ("a bound was asked for", bound),
            ("seed", seed),
        ),
        record_links=RecordLinks.of(keep.tolist(), permutation.tolist(), released_numbers(protected, names)),
        _check=ReleaseCheck(
            attributes=tuple(attributes[name] for name in names),
            factors=tuple(factors[name] for name in names),
            strata=strata,
            permutation=permutation,
            aggregate=aggregate,
            weights=weights,
            units=units,
        ),
    )
    result.verify()
    return result


def _listed(settings: Mapping[str, Any] | None) -> str | None:
    return ", ".join(f"{name} = {value}" for name, value in (settings or {}).items()) or None


def _read_attributes(
    data: nw.DataFrame, names: Sequence[str], orders: Orders, nominal: Sequence[str], missing: Missing
) -> dict[str, Attribute]:
    attributes = {}
    for name in names:
        attribute = read_attribute(
            data, name, ordinal=name in orders, order=orders.get(name), nominal=name in nominal
        )
        attributes[name] = replace(
            attribute, gap_is_value=missing == "value" and bool(attribute.missing.any())
        )
    return attributes


def _check_nominal(nominal: Sequence[str], others: Sequence[str | None]) -> None:
    for position, name in enumerate(nominal):
        if name in nominal[:position]:
            raise InputError(f"column '{name}' is named twice in {parameter('nominal')}")
        if name in others:
            raise InputError(
                f"column '{name}' is among the categories without an order ({parameter('nominal')}), so it cannot be an "
                "ordered one, a stratum, a weight, the unit or dropped at once"
            )


def _all_categories(guesses: Sequence[Guess], others: Sequence[str | None]) -> list[str]:
    """The categories that could be known: what is not averaged and not named elsewhere."""
    averaged = {guess.column for guess in guesses if guess.averaged}
    categories = [name for name in knowable(guesses) if name not in averaged and name not in others]
    if not categories:
        raise InputError(
            f"no column looks like categories that could be known; name them with {parameter('nominal')}"
        )
    return categories


def _columns(
    data: nw.DataFrame,
    guesses: Sequence[Guess],
    columns: Sequence[str] | None,
    groups: Sequence[Sequence[str]] | None,
    ordinal: Sequence[str],
    others: Sequence[str | None],
) -> tuple[list[str], list[list[str]], list[Remark]]:
    """The columns to protect, which of them together, and the choice in words if it was ours."""
    elsewhere = [*ordinal, *(name for name in others if name is not None)]
    if groups is not None:
        together = [list(group) for group in groups if group]
        for name in choose_columns(data, columns, not_these=elsewhere).columns if columns is not None else ():
            if all(name not in group for group in together):
                raise InputError(f"column '{name}' is to be protected, but it is in none of the groups")
        together += [[name] for name in ordinal if all(name not in group for group in together)]
        names = list(choose_columns(data, [name for group in together for name in group]).columns)
        # A star for all numeric columns is one group of them.
        return names, [names] if together == [["*"]] and "*" not in names else together, []
    measured = any(guess.averaged and guess.column not in elsewhere for guess in guesses)
    if columns is None and ordinal and not measured:
        return list(ordinal), [list(ordinal)], []
    choice = choose_columns(data, columns, not_these=elsewhere, guesses=guesses)
    names = [*choice.columns, *(name for name in ordinal if name not in choice.columns)]
    ours = columns is None or list(columns) == ["*"]
    sentence = replace(choice, columns=tuple(names)).sentence()
    return names, [names], [note("chosen-columns", sentence, *names)] if ours else []
