"""``shoal.compare``: every loss and risk measure of a protected table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from shoal.arguments import checked
from shoal.errors import InputError, messages, parameter, unknown
from shoal.exact_names import only
from shoal.microdata.anonymity.api import count_classes
from shoal.microdata.columns.attributes import read_attribute
from shoal.microdata.columns.inputs import read_frame
from shoal.microdata.columns.released_as_is import listed
from shoal.microdata.columns.roles import Guess, guess_roles, with_roles
from shoal.microdata.columns.units import unit_column, unit_warnings
from shoal.microdata.measures.attacks.all_attacks import ATTACKS, UNCHANGED, attacked, chosen
from shoal.microdata.measures.attacks.attack import Attack
from shoal.microdata.measures.attacks.attribute_inference import NOT_TRIED
from shoal.microdata.measures.categories import CategoryPair, pair_categories
from shoal.microdata.measures.compared_columns import Beside, beside, compared_columns, with_exchanged
from shoal.microdata.measures.counted_in_k import counted_in_k, warnings_on_key
from shoal.microdata.measures.in_time import InTime, what_is_not_measured
from shoal.microdata.measures.measured import Definitions, Measured, measure
from shoal.microdata.measures.mixed import MixedTables
from shoal.microdata.measures.needs import possible, refuse_too_wide_tables, refuse_what_cannot_be
from shoal.microdata.measures.pairing import Pairing, texts
from shoal.microdata.measures.probabilistic import LARGEST
from shoal.microdata.measures.result import AttributeComparison, CategoryComparison, Comparison
from shoal.microdata.measures.utility.all_utility import UTILITY, measured_utility
from shoal.microdata.measures.utility.marginals import distances
from shoal.microdata.measures.utility.propensity import Made
from shoal.numbers import counted as in_words
from shoal.numbers import whole
from shoal.runtime import Budget, Observer, Seeds, silent
from shoal.runtime.threads import usable_threads

if TYPE_CHECKING:
    from os import PathLike

    from narwhals.typing import IntoDataFrame

    from shoal.microdata.columns.record_links import RecordLinks

# Above this many records the reference points of the map would take longer than the comparison itself.
REFERENCES_UP_TO = 2000
# A larger share of records that cannot be compared is warned of.
_MANY = 0.1


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
    before, after = read_frame(original), read_frame(protected)
    declared, unit = unit, unit_column(unit, after.columns)
    for frame, where in ((before, "the original data"), (after, f"'{name}'")):
        if len(frame) == 0:
            raise InputError(f"there are no records in {where}")
    threads = usable_threads(threads)
    run = (budget or Budget()).start(observer)
    run.report(phase="looking at the columns")
    pairing = Pairing.asked(key, record_links, paired_by_position)
    notes: list[str] = []
    measures = chosen(utility, UTILITY, "measure")
    tries = chosen(attacks, list(ATTACKS), "attack")
    whole(ways, "the number of columns tabulated together", least=1, most=4)
    compared = compared_columns(before, after, columns, categories, key)
    for column in [*(quasi or ()), *([unit] if unit else [])]:
        if column not in after.columns:
            raise unknown("column", column, after.columns, where="in the protected data")
    whole_before, released = before, after
    rows_before, rows_after, remark, warnings = pairing.pair(before, after, compared.names)
    before, after = before[rows_before.tolist()], after[rows_after.tolist()]
    if columns is None:
        compared = with_exchanged(before, after, compared, roles or {}, (key, unit))
    names = list(compared.names)
    guesses = _guesses(whole_before, released, roles or {})
    counted = tuple(quasi) if quasi else counted_in_k(guesses, released.columns, names, (key, unit))
    # What is released and could be known helps an intruder, changed or not, and what is released can be inferred.
    more = beside(whole_before, released, names, guesses, (key, unit), quasi or ())
    scenarios = _scenarios(known, [*names, *more.columns])
    of_each = {"numbers": len(compared.numbers), "categories": len(compared.categories)}
    numbers_known = sum(name in more.numbers for name in more.known)
    attackable_columns = {
        "numbers": of_each["numbers"] + numbers_known,
        "categories": of_each["categories"] + len(more.known) - numbers_known,
        "unknown": len(more.others),
    }
    refuse_what_cannot_be(attacks, **attackable_columns)
    refuse_what_cannot_be(utility, **of_each)
    # What cannot be had is nothing that there was no time for.
    tries = possible(tries, **attackable_columns)
    if "marginals" in measures:
        refuse_too_wide_tables(ways, len(names))
    notes += [*compared.notes, *remark]
    if more.known and tries and not known:
        notes.append(f"the intruder of further attacks also knows {', '.join(more.known)}")
    if more.others and tries:
        notes.append(
            f"values are inferred of {', '.join(more.others)}, too, which the intruder does not know"
        )
    restrictions = _restrictions(columns, known, tries, attacks, [*names, *more.known], more)
    warnings += [*restrictions, *warnings_on_key(key, counted)]
    warnings += unit_warnings(before, declared, but=(key, *(quasi or ()), *(columns or ())))
    numbers = [
        np.column_stack(
            [np.zeros((len(frame), 0)), *(_numbers(frame, column) for column in compared.numbers)]
        )
        for frame in (before, after)
    ]
    complete = ~(np.isnan(numbers[0]) | np.isnan(numbers[1])).any(axis=1)
    left_out = int((~complete).sum())
    if left_out:
        gone = f"{left_out} records have a missing value in the columns compared and are left out"
        # What is not looked at has no risk in any figure.
        if left_out > _MANY * complete.size:
            warnings.append(f"{gone}: nothing is said of their risk; fewer columns would leave more of them")
        else:
            notes.append(gone)
    x, y = numbers[0][complete], numbers[1][complete]
    if x.shape[0] == 0:
        raise InputError("there is no record with a value in every column to compare")
    rows = np.flatnonzero(complete)
    tables = MixedTables(
        compared.numbers,
        x,
        y,
        tuple(_pair(before, after, column, rows) for column in compared.categories),
        None if unit is None else _whose(before if unit in before.columns else after, unit, rows),
    )
    using = definitions or Definitions()
    places = [
        [compared.numbers.index(column) for column in scenario if column in compared.numbers]
        for scenario in scenarios or [names]
    ]
    seeds = Seeds(seed)
    left = InTime(run)
    run.report(phase="K and loss")
    k = count_classes(released.to_native(), list(counted), unit=unit).k
    k_compared = count_classes(released.to_native(), names, unit=unit).k
    measured = measure(x, y, using, scenarios=places, seeds=seeds, threads=threads, left=left)
    attackable = _with(tables, before, after, rows, more) if tries else tables
    tried = attacked(
        attackable,
        tries,
        scenarios=scenarios if known else [attackable.known],
        unchanged=() if known else attackable.select(attackable.known).unchanged(),
        seeds=seeds,
        left=left,
    )
    useful = measured_utility(tables, measures, made=made, ways=ways, seeds=seeds.child("utility"), left=left)
    landmarks = None
    if references and compared.numbers and x.shape[0] <= REFERENCES_UP_TO:
        landmarks = left.measured("landmarks of the map", lambda: _references(x, using, threads))
    warnings += what_is_not_measured(left.missed, left.stopped_by)
    notes += _remarks(measured, x.shape[0]) + useful.notes(x.shape[0]) + _sampled(tried) + _not_tried(tried)
    if using.ties == "strict" and measured.expected_links > 0:
        restrictions.append(
            f"a tie in the linkage by distance counts as no link ({parameter('ties')}), which flatters the release"
        )
        warnings.append(restrictions[-1])
    found = Comparison(
        name=name,
        records=int(x.shape[0]),
        left_out=left_out,
        columns=tuple(names),
        quasi=counted,
        quasi_guessed=not quasi,
        k=k,
        k_compared=k_compared,
        pairing=pairing.way,
        **vars(measured),
        attributes=_by_attribute(compared.numbers, measured, x),
        scenarios=tuple(tuple(scenario) for scenario in scenarios or [names]),
        notes=messages(notes),
        warnings=messages(warnings),
        restrictions=messages(restrictions),
        settings=(
            ("records paired by", f"key '{key}'" if key is not None else pairing.way),
            *using.in_words(),
            ("how the release was made", made),
            ("seed", seed),
            *((("time limit", f"{run.budget.seconds:g} s"),) if run.budget.seconds is not None else ()),
        ),
        references=landmarks or {},
        categories=tuple(_of_categories(pair) for pair in tables.categories),
        utility=useful,
        tried=tried,
        not_measured=tuple(left.missed),
        stopped_by=left.stopped_by,
    )
    return replace(found, notes=messages([*notes, *_released_as_is(found, attackable)]))


def _released_as_is(found: Comparison, tables: MixedTables) -> list[str]:
    """That the worst risk is one of columns that nobody changed, and so not of those that were protected."""
    _, worst = found.worst_tried
    alone = [
        attack for attack in found.tried if attack.percent == worst and UNCHANGED in dict(attack.details)
    ]
    every = all(name in tables.same() for name in tables.columns)
    if not worst or not (alone or every):
        return []
    names = tables.columns if every else dict(alone[0].details)[UNCHANGED]
    return [
        f"the worst risk, {worst:.2f} %, comes from columns that were released as they are: {listed(names)}"
    ]


def _guesses(before: nw.DataFrame, after: nw.DataFrame, roles: Mapping[str, str]) -> tuple[Guess, ...]:
    """The roles of all columns: what a column was before protection says more of it than what it has become."""
    here = set(before.columns)
    new = [column for column in after.columns if column not in here]
    return (*with_roles(guess_roles(before), roles), *guess_roles(only(after, new)))


def _with(
    tables: MixedTables, before: nw.DataFrame, after: nw.DataFrame, rows: np.ndarray, more: Beside
) -> MixedTables:
    """The records compared, with what is released of them beside."""
    numbers = {name: _amounts(before, after, name) for name in more.columns if name in more.numbers}
    amounts = {name: pair[:, rows] for name, pair in numbers.items() if pair is not None}
    none = np.zeros((2, rows.size, 0))
    old, new = np.concatenate([none, *(pair[:, :, None] for pair in amounts.values())], axis=2)
    pairs = [_pair(before, after, name, rows) for name in more.columns if name not in amounts]
    every = tables.beside(list(amounts), old, new, pairs)
    first = tuple(name for name in more.confidential if name in every.columns)
    return replace(every, unknown=more.others, first=first)


def _amounts(before: nw.DataFrame, after: nw.DataFrame, column: str) -> np.ndarray | None:
    """A column of numbers of both tables; a missing value is the mean, so that no record is left out for it.

    ``None`` where values are too large, or infinite: nobody asked to compute with this column.
    """
    try:
        pair = np.array([_numbers(frame, column) for frame in (before, after)])
    except InputError:
        return None
    known = pair[0][~np.isnan(pair[0])]
    return np.where(np.isnan(pair), known.mean() if known.size else 0.0, pair)


def _restrictions(
    columns: Sequence[str] | None,
    known: Sequence[Sequence[str]] | None,
    tries: Sequence[str],
    attacks: Sequence[str] | None,
    knowable: Sequence[str],
    more: Beside,
) -> list[str]:
    """In what the risks are of less than all that an intruder may know and try, since somebody has said so."""
    told = []
    if columns is not None and more.columns:
        also = f"; attacks look at {listed(more.columns)}, too" if tries else ""
        told.append(
            "loss, interval disclosure, and linkage by distance and by agreement are of the columns compared alone "
            f"({parameter('columns')}), not of all that is released{also}"
        )
    if known and not any(set(knowable) <= set(scenario) for scenario in known):
        further = [name for name in knowable if not any(name in scenario for scenario in known)]
        also = f"; {listed(further)} could be known, too" if further else ""
        told.append(
            f"an intruder knows only one set of {parameter('known')} at a time{also}; who knows more may find more"
        )
    if attacks is not None and (left_out := [name for name in ATTACKS if name not in tries]):
        told.append(f"attacks that were not tried ({parameter('attacks')}): {', '.join(left_out)}")
    return told


def _numbers(frame: nw.DataFrame, column: str) -> np.ndarray:
    return read_attribute(frame, column).values


def _pair(before: nw.DataFrame, after: nw.DataFrame, column: str, rows: np.ndarray) -> CategoryPair:
    old, new = texts(before[column]), texts(after[column])
    return pair_categories(column, [old[row] for row in rows], [new[row] for row in rows])


def _whose(frame: nw.DataFrame, unit: str, rows: np.ndarray) -> np.ndarray:
    whose = texts(frame[unit])
    place = {value: number for number, value in enumerate(dict.fromkeys(whose))}
    return np.array([place[whose[row]] for row in rows], dtype=np.int64)


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


def _sampled(tried: Sequence[Attack]) -> list[str]:
    samples: dict[int, list[str]] = {}
    for attack in tried:
        if attack.targets < attack.records:
            samples.setdefault(attack.targets, []).append(attack.title)
    return [f"{', '.join(names)}: tried on a sample of {size:,} records" for size, names in samples.items()]


def _not_tried(tried: Sequence[Attack]) -> list[str]:
    columns = [name for attack in tried for name in dict(attack.details).get(NOT_TRIED, ())]
    if not columns:
        return []
    return [
        f"inference was not tried on {in_words(len(columns), 'column', 'columns')} of very many: {listed(columns)}"
    ]


def _scenarios(known: Sequence[Sequence[str]] | None, names: Sequence[str]) -> list[list[str]]:
    """The sets of columns an intruder knows, if any are named."""
    for scenario in known or ():
        if not scenario:
            raise InputError("an intruder who knows no column links nobody; name at least one")
        for column in scenario:
            if column not in names:
                raise unknown("column", column, names, where="among those that both tables have")
    return [list(dict.fromkeys(scenario)) for scenario in known or ()]


def _remarks(measured: Measured, records: int) -> list[str]:
    notes = []
    if measured.loss.skipped:
        notes.append(
            f"{measured.loss.skipped} ratios with a zero denominator are skipped in IL1 to IL5 and IL1s"
        )
    if records > LARGEST and measured.probabilistic.records:
        notes.append(f"the probabilistic linkage is that of a sample of {LARGEST:,} records")
    return notes


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
        found: Any = measure(original, released, using, threads=threads)
        return found.loss.il, found.dr

    points = {"unprotected": figures(original)}
    scaled = standardise(original)
    for k in (3, 5, 10, 25):
        if original.shape[0] >= 2 * k:
            labels = mdav_labels(scaled, k)
            points[f"MDAV k={k}"] = figures(group_means(original, labels)[labels])
    return points
