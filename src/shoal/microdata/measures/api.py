"""``shoal.compare``: every loss and risk measure of a protected table."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from shoal.anonymity.measure import anonymity
from shoal.arguments import checked
from shoal.errors import InputError, messages, unknown
from shoal.microdata.columns.attributes import read_attribute
from shoal.microdata.columns.column_choice import choose_columns
from shoal.microdata.columns.inputs import read_frame
from shoal.microdata.columns.roles import guess_roles, knowable, with_roles
from shoal.microdata.measures.measured import Definitions, Measured, measure
from shoal.microdata.measures.pairing import Pairing, key_values
from shoal.microdata.measures.probabilistic import LARGEST
from shoal.microdata.measures.result import AttributeComparison, Comparison
from shoal.search import Seeds
from shoal.search.threads import usable_threads
from shoal.sources.not_numbers import why_not_numeric

if TYPE_CHECKING:
    from os import PathLike

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
    references: bool = False,
    name: str = "release",
    seed: int | None = 0,
    threads: int | None = None,
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
        The columns to compare, numbers only; ``["*"]`` takes every numeric one that both have. By default those that
        measure something.
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
        The column that says whose records these are; K counts distinct units.
    known : sequence of sequences of str, optional
        Sets of columns an intruder may know; by default one of all that are compared.
    definitions : Definitions, optional
        What the measures mean where they have more than one meaning: intervals, scaling, ties, agreement.
    references : bool, default False
        Also measure plain microaggregation, as landmarks on the risk–utility map of the report.
    name : str, default "release"
        What the release is called in the report.
    seed : int or None, default 0
        Where randomness begins (above 5,000 records the probabilistic linkage is that of a sample); ``None`` begins from
        the system's entropy.
    threads : int, optional
        How many cores to use; all of them by default. They do not change the result.

    Returns
    -------
    Comparison
        ``il1`` to ``il5`` and ``il``, ``id``, ``id_sd``, ``dld``, ``pld``, ``dr``, ``score``, ``fitness``, ``worst`` (the
        highest risk and its name), ``k``, the same by column in ``attributes``, ``notes`` and ``warnings``; ``report()``
        is a page.

    Raises
    ------
    InputError
        A column is missing or not numeric, nothing or several things say how records are paired, or the data contradict it.

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
    threads = usable_threads(threads)
    pairing = Pairing.asked(key, record_links, paired_by_position)
    notes: list[str] = []
    names, remark = _columns(before, after, columns, key)
    notes += remark
    for column in [*(quasi or ()), *([unit] if unit else [])]:
        if column not in after.columns:
            raise unknown("column", column, after.columns, where="in the protected data")
    counted = tuple(quasi) if quasi else _knowable(before, after, names, roles or {}, (key, unit))
    released = after
    rows_before, rows_after, remark, warnings = pairing.pair(before, after, names)
    before, after = before[rows_before.tolist()], after[rows_after.tolist()]
    notes += remark
    if key is not None and key not in counted:
        warnings.append(
            f"the key '{key}' is in the protected data and does not count in K; if it is released, whoever knows it finds "
            "the record"
        )
    tables = [np.column_stack([_numbers(frame, column) for column in names]) for frame in (before, after)]
    complete = ~(np.isnan(tables[0]) | np.isnan(tables[1])).any(axis=1)
    left_out = int((~complete).sum())
    if left_out:
        notes.append(f"{left_out} records have a missing value in the columns compared and are left out")
    x, y = tables[0][complete], tables[1][complete]
    if x.shape[0] == 0:
        raise InputError("there is no record with a value in every column to compare")
    scenarios = _scenarios(known, names)
    using = definitions or Definitions()
    places = [[names.index(column) for column in scenario] for scenario in scenarios]
    measured = measure(x, y, using, scenarios=places, seeds=Seeds(seed), threads=threads)
    notes += _remarks(measured, x.shape[0], using)
    return Comparison(
        name=name,
        records=int(x.shape[0]),
        left_out=left_out,
        columns=tuple(names),
        quasi=counted,
        quasi_guessed=not quasi,
        k=anonymity(released.to_native(), list(counted), unit=unit).k,
        k_compared=anonymity(released.to_native(), names, unit=unit).k,
        pairing=pairing.way,
        **vars(measured),
        attributes=_by_attribute(names, measured),
        scenarios=tuple(tuple(scenario) for scenario in scenarios),
        notes=messages(notes),
        warnings=messages(warnings),
        settings=(
            ("records paired by", f"key '{key}'" if key is not None else pairing.way),
            *using.in_words(),
            ("seed", seed),
        ),
        references=_references(x, using, threads) if references and x.shape[0] <= REFERENCES_UP_TO else {},
    )


def _columns(
    before: nw.DataFrame, after: nw.DataFrame, asked: Sequence[str] | None, key: str | None
) -> tuple[list[str], list[str]]:
    for frame, which in ((before, "original"), (after, "protected")):
        for column in asked or ():
            if column != "*" and column not in frame.columns:
                raise unknown("column", column, frame.columns, where=f"in the {which} data")
        if key is not None:
            key_values(frame, key, which)
    if asked is not None and list(asked) != ["*"]:
        names = list(choose_columns(before, asked).columns)
    else:
        there = set(after.columns)
        shared = before.select(*[column for column in before.columns if column in there])
        if not any(kind.is_numeric() for column, kind in shared.schema.items() if column != key):
            raise InputError("the two tables have no numeric column in common")
        names = list(choose_columns(shared, asked, not_these=[key] if key else []).columns)
    for frame, which in ((before, "original"), (after, "protected")):
        kinds = frame.schema
        for column in names:
            if not kinds[column].is_numeric():
                raise InputError(
                    f"column '{column}' of the {which} data is not numeric: {why_not_numeric(frame[column])}; "
                    "the measures are for numbers"
                )
    return names, [] if asked is not None else ["comparing " + ", ".join(names)]


def _knowable(
    before: nw.DataFrame,
    after: nw.DataFrame,
    names: Sequence[str],
    roles: Mapping[str, str],
    but: Sequence[str | None],
) -> tuple[str, ...]:
    """The columns compared, and those beside them that could be known of somebody.

    What a column was before protection says more of it than what it has become.
    """
    here, there = set(before.columns), set(after.columns)
    new = [column for column in after.columns if column not in here]
    guesses = [*with_roles(guess_roles(before), roles), *guess_roles(after.select(*new))]
    known = [column for column in knowable(guesses) if column in there and column not in but]
    compared = set(names)
    return (*names, *(column for column in known if column not in compared))


def _numbers(frame: nw.DataFrame, column: str) -> np.ndarray:
    return read_attribute(frame, column).values


def _scenarios(known: Sequence[Sequence[str]] | None, names: Sequence[str]) -> list[list[str]]:
    if not known:
        return [list(names)]
    for scenario in known:
        if not scenario:
            raise InputError("an intruder who knows no column links nobody; name at least one")
        for column in scenario:
            if column not in names:
                raise unknown("column", column, names, where="among the columns compared")
    return [list(dict.fromkeys(scenario)) for scenario in known]


def _remarks(measured: Measured, records: int, using: Definitions) -> list[str]:
    notes = []
    if measured.loss.skipped:
        notes.append(
            f"{measured.loss.skipped} ratios with a zero denominator are skipped in IL1 to IL5 and IL1s"
        )
    if records > LARGEST:
        notes.append(f"the probabilistic linkage is that of a sample of {LARGEST:,} records")
    if using.ties == "strict":
        notes.append("a tie in the linkage by distance counts as no link, which flatters the release")
    return notes


def _by_attribute(names: Sequence[str], measured: Measured) -> tuple[AttributeComparison, ...]:
    parts = zip(names, measured.id_by_column, measured.id_sd_by_column, measured.loss.by_column, strict=True)
    return tuple(
        AttributeComparison(column=name, id=float(share), id_sd=float(by_sd), **vars(loss))
        for name, share, by_sd, loss in parts
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
