"""``shoal.compare``: every loss and risk measure of a protected table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.arguments import checked
from shoal.errors import InputError, parameter
from shoal.microdata.columns.inputs import read_frame
from shoal.microdata.columns.released_as_is import listed
from shoal.microdata.measures.attacks.all_attacks import ATTACKS, UNCHANGED, attacked, chosen
from shoal.microdata.measures.attacks.attack import Attack
from shoal.microdata.measures.attacks.attribute_inference import NOT_TRIED
from shoal.microdata.measures.categories import CategoryPair
from shoal.microdata.measures.classic import Definitions, Measured, measure
from shoal.microdata.measures.mixed import MixedTables
from shoal.microdata.measures.pairing import Pairing
from shoal.microdata.measures.probabilistic import LARGEST
from shoal.microdata.measures.problem import known_sets, read_problem, remarks_on_knowledge, restriction
from shoal.microdata.measures.requirements import possible, refuse_too_wide_tables, refuse_what_cannot_be
from shoal.microdata.measures.result import AttributeComparison, CategoryComparison, Comparison
from shoal.microdata.measures.time_limited import TimeLimit, remarks_on_time
from shoal.microdata.measures.utility.all_utility import UTILITY, measured_utility
from shoal.microdata.measures.utility.marginals import distances
from shoal.microdata.measures.utility.propensity import Made
from shoal.numbers import counted, whole
from shoal.remarks import Remark, note
from shoal.runtime import Budget, Observer, Seeds, silent
from shoal.runtime.threads import usable_threads

if TYPE_CHECKING:
    from os import PathLike

    import narwhals as nw
    from narwhals.typing import IntoDataFrame

    from shoal.microdata.columns.record_links import RecordLinks

# Above this many records the reference points of the map would take longer than the comparison itself.
REFERENCES_UP_TO = 2000


@checked
def compare(
    original: "IntoDataFrame",
    protected: "IntoDataFrame",
    *,
    columns: Sequence[str] | None = None,
    quasi: Sequence[str] | None = None,
    roles: Mapping[str, str] | None = None,
    key: str | None = None,
    record_links: "RecordLinks | str | PathLike[str] | None" = None,
    paired_by_position: bool = False,
    unit: str | None = None,
    known: Sequence[Sequence[str]] | None = None,
    definitions: Definitions | None = None,
    categories: Sequence[str] | None = None,
    utility: Sequence[str] | None = None,
    attacks: Sequence[str] | None = None,
    made: Made = "paired",
    ways: int = 2,
    references: bool = False,
    name: str = "release",
    seed: int | None = 0,
    threads: int | None = None,
    budget: Budget | None = None,
    observer: Observer = silent,
) -> Comparison:
    """Measure what protection cost and what it bought.

    Both tables hold the same records, and it must be said which is which: by exactly one of ``key``, ``record_links`` and
    ``paired_by_position``.

    Parameters
    ----------
    original : DataFrame
        The data before protection: a frame of pandas, Polars, Arrow or any other that Narwhals knows.
    protected : DataFrame
        The data after it.
    columns : sequence of str, optional
        The columns to compare; those that are no numbers in both tables are compared as categories. ``["*"]`` takes every
        numeric one that both have. By default those that measure something, and categories and codes that the release changed.
        Loss, intervals and the two classic linkages are of these; further attacks know all that is released and could be known.
    quasi : sequence of str, optional
        The columns over which K of the protected data is counted. By default all that could be known of somebody, as
        ``microaggregate`` does.
    roles : mapping of str to str, optional
        Corrections of the roles that ``guess_roles`` guesses, by column.
    key : str, optional
        Pair records by this column (or named pandas index) of both tables.
    record_links : RecordLinks or path, optional
        Pair records by the links of ``microaggregate``, or by the file of them.
    paired_by_position : bool, default False
        The tables hold the same records in the same order. That is refused when columns that protection left alone disagree.
    unit : str, optional
        The column that says whose records these are; K counts distinct units. ``"record"`` declares that each record is one.
    known : sequence of sequences of str, optional
        Sets of columns an intruder may know, of those that both tables have. By default one: the columns compared, and all that
        are released beside them and could be known, changed or not. A value is inferred of every released column.
    definitions : Definitions, optional
        What the measures mean where they have more than one meaning: intervals, scaling, ties, agreement.
    categories : sequence of str, optional
        Columns of numbers that are codes: they are compared as categories.
    utility : sequence of str, optional
        Which measures of utility: ``pmse``, ``marginals``, ``coefficients``, ``eigenvalues``, ``classification``; all by
        default, none if the list is empty.
    attacks : sequence of str, optional
        Which attacks beside the classic ones: ``rank-windows``, ``mahalanobis``, ``mixed-linkage``, ``likelihood``,
        ``attribute-inference``, ``membership``; all by default, none if the list is empty. On large files they look for a seeded
        sample of records.
    made : {"paired", "independent", "synthetic"}, default "paired"
        How the release was made, which decides what pMSE is to be expected: records that were changed, a new sample, or
        drawn from a model.
    ways : int, default 2
        How many columns are tabulated together at most, 1 to 4.
    references : bool, default False
        Also measure plain microaggregation, as landmarks on the risk–utility map of the report.
    name : str, default "release"
        What the release is called in the report.
    seed : int or None, default 0
        Where randomness begins (above 5,000 records the probabilistic linkage is that of a sample); ``None`` begins from
        the system's entropy.
    threads : int, optional
        How many cores to use; all of them by default. They do not change the result.
    budget : Budget, optional
        How long to measure. When its seconds are over, linkage, measures of utility and attacks that there was no time for are
        left out, and ``not_measured`` names them; loss, intervals and K are measured in any case.
    observer : callable, optional
        Called with a ``Progress`` when the next measure begins.

    Returns
    -------
    Comparison
        ``il1`` to ``il5`` and ``il``, ``id``, ``id_sd``, ``dld``, ``pld``, ``dr``, ``score``, ``fitness``, ``worst`` (the
        highest risk over all ``attacks`` and its name), ``utility``, ``k``, the same by column in ``attributes`` and
        ``categories``, ``not_measured`` for want of time, ``restrictions`` of the attacks, ``notes`` and ``warnings``;
        ``report()`` is a page.

    Raises
    ------
    InputError
        A column is missing or holds lists, nothing or several things say how records are paired, or the data contradict it.

    See Also
    --------
    microaggregate : makes the release and its ``record_links``.
    anonymity : K of a table alone.

    References
    ----------
    - J. Domingo-Ferrer and V. Torra, A quantitative comparison of disclosure control methods for microdata, 2001.
    - A. Hundepool and others, Handbook on Statistical Disclosure Control, 2nd edition, 2024.
    - I. P. Fellegi and A. B. Sunter, A theory for record linkage, JASA 64, 1969; M. A. Jaro, JASA 84, 1989.

    Examples
    --------
    >>> import polars as pl
    >>> before = pl.DataFrame({"turnover": [1.0, 2.0, 8.0, 9.0], "staff": [10, 20, 60, 70]})
    >>> after = pl.DataFrame({"turnover": [1.5, 1.5, 8.5, 8.5], "staff": [15.0, 15.0, 65.0, 65.0]})
    >>> found = compare(before, after, paired_by_position=True)
    >>> found.k, found.links_expected, round(found.sse_percent, 2)
    (2, 2.0, 2.92)
    """
    before, after = _records(original, "the original data"), _records(protected, f"'{name}'")
    run = (budget or Budget()).start(observer)
    run.report(phase="looking at the columns")
    pairing = Pairing.read(key, record_links, paired_by_position)
    measures, tries = chosen(utility, UTILITY, "measure"), chosen(attacks, list(ATTACKS), "attack")
    whole(ways, "the number of columns tabulated together", least=1, most=4)
    problem = read_problem(
        *(before, after, pairing),
        columns=columns,
        categories=categories,
        quasi=quasi,
        roles=roles or {},
        unit=unit,
    )
    names, tables = problem.compared.names, problem.tables
    scenarios = known_sets(known, (*names, *problem.beside.columns))
    refuse_what_cannot_be(attacks, **problem.attackable_columns)
    refuse_what_cannot_be(utility, numbers=len(tables.names), categories=len(tables.categories))
    if "marginals" in measures:
        refuse_too_wide_tables(ways, len(names))
    not_tried = () if attacks is None else tuple(attack for attack in ATTACKS if attack not in tries)
    # What cannot be had is nothing that there was no time for.
    tries = possible(tries, **problem.attackable_columns)

    using, seeds, left, threads = (
        definitions or Definitions(),
        Seeds(seed),
        TimeLimit(run),
        usable_threads(threads),
    )
    run.report(phase="K and loss")
    k, k_compared = problem.k(problem.quasi), problem.k(names)
    measured = measure(
        *(tables.before, tables.after, using),
        scenarios=[
            [i for i, name in enumerate(tables.names) if name in scenario]
            for scenario in scenarios or [names]
        ],
        seeds=seeds,
        threads=threads,
        left=left,
    )
    attackable = problem.attackable if tries else tables
    tried = attacked(
        *(attackable, tries),
        scenarios=scenarios or [attackable.known],
        unchanged=() if scenarios else attackable.select(attackable.known).unchanged(),
        seeds=seeds,
        left=left,
    )
    useful = measured_utility(tables, measures, made=made, ways=ways, seeds=seeds.child("utility"), left=left)
    landmarks = None
    if references and tables.names and tables.records <= REFERENCES_UP_TO:
        landmarks = left.measured("landmarks of the map", lambda: _references(tables.before, using, threads))

    comparison = Comparison(
        name=name,
        records=tables.records,
        left_out=problem.left_out,
        columns=names,
        quasi=problem.quasi,
        quasi_guessed=not quasi,
        k=k,
        k_compared=k_compared,
        pairing=problem.pairing,
        **vars(measured),
        attributes=_by_attribute(tables.names, measured, tables.before),
        scenarios=scenarios or (names,),
        remarks=(
            *problem.remarks,
            *remarks_on_knowledge(problem, columns, scenarios, tries, not_tried),
            *remarks_on_time(left.missed, left.stopped_by),
            *_remarks_on_links(measured, using, tables.records),
            *useful.remarks(tables.records),
            *_remarks_on_attacks(tried),
        ),
        definitions=using,
        references=landmarks or {},
        categories=tuple(_of_categories(pair) for pair in tables.categories),
        utility=useful,
        tried=tried,
        not_measured=tuple(left.missed),
        stopped_by=left.stopped_by,
    )
    return replace(comparison, remarks=(*comparison.remarks, *_released_as_is(comparison, attackable)))


def _records(frame: "IntoDataFrame", where: str) -> "nw.DataFrame":
    records = read_frame(frame)
    if len(records) == 0:
        raise InputError(f"there are no records in {where}")
    return records


def _released_as_is(comparison: Comparison, tables: MixedTables) -> list[Remark]:
    """That the worst risk is one of columns that nobody changed, and so not of those that were protected."""
    _, worst = comparison.worst_tried
    alone = [
        attack for attack in comparison.tried if attack.percent == worst and UNCHANGED in dict(attack.details)
    ]
    every = all(name in tables.same() for name in tables.columns)
    if not worst or not (alone or every):
        return []
    names = tables.columns if every else dict(alone[0].details)[UNCHANGED]
    text = (
        f"the worst risk, {worst:.2f} %, comes from columns that were released as they are: {listed(names)}"
    )
    return [note("unchanged-columns", text, *names)]


def _of_categories(pair: CategoryPair) -> CategoryComparison:
    apart = distances(pair.aligned, pair.after, pair.labels)[0]
    return CategoryComparison(
        pair.name,
        100.0 * float(pair.changed.mean()),
        100.0 * float(pair.blanked.mean()),
        pair.kept_percent,
        pair.recoded,
        float(apart),
    )


def _remarks_on_attacks(tried: Sequence[Attack]) -> Iterator[Remark]:
    samples: dict[int, list[str]] = {}
    for attack in tried:
        if attack.targets < attack.records:
            samples.setdefault(attack.targets, []).append(attack.title)
    for size, titles in samples.items():
        yield note("sample", f"{', '.join(titles)}: tried on a sample of {size:,} records")
    columns = [name for attack in tried for name in dict(attack.details).get(NOT_TRIED, ())]
    if columns:
        text = f"inference was not tried on {counted(len(columns), 'column')} of very many: {listed(columns)}"
        yield note("untried-columns", text, *columns)


def _remarks_on_links(measured: Measured, using: Definitions, records: int) -> Iterator[Remark]:
    if measured.loss.skipped:
        text = f"{measured.loss.skipped} ratios with a zero denominator are skipped in IL1 to IL5 and IL1s"
        yield note("skipped-ratios", text)
    if records > LARGEST and measured.probabilistic.records:
        yield note("sample", f"the probabilistic linkage is that of a sample of {LARGEST:,} records")
    if using.ties == "strict" and measured.expected_links > 0:
        yield restriction(
            f"a tie in the linkage by distance counts as no link ({parameter('ties')}), which flatters the release"
        )


def _by_attribute(
    names: Sequence[str], measured: Measured, original: np.ndarray
) -> tuple[AttributeComparison, ...]:
    disclosed = zip(measured.id_by_column, measured.id_sd_by_column, strict=True)
    constant = (original == original[0]).all(axis=0)
    parts = zip(names, disclosed, constant, measured.loss.by_column, strict=True)
    return tuple(
        AttributeComparison(
            column=name, id=float(share), id_sd=float(by_sd), constant=bool(alike), **vars(loss)
        )
        for name, (share, by_sd), alike, loss in parts
    )


def _references(original: np.ndarray, using: Definitions, threads: int) -> dict[str, tuple[float, float]]:
    """IL and DR of the unprotected table and of plain microaggregation, as landmarks."""
    from shoal.microdata.microaggregation.construct.mdav import mdav_labels
    from shoal.microdata.microaggregation.problem import standardise
    from shoal.microdata.microaggregation.solution import group_means

    def figures(released: np.ndarray) -> tuple[float, float]:
        measured = measure(original, released, using, threads=threads)
        return measured.loss.il, measured.dr

    points = {"unprotected": figures(original)}
    scaled = standardise(original)
    for k in (3, 5, 10, 25):
        if original.shape[0] >= 2 * k:
            labels = mdav_labels(scaled, k)
            points[f"MDAV k={k}"] = figures(group_means(original, labels)[labels])
    return points
