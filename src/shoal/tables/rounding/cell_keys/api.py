"""``shoal.perturb_table``: a table of counts, perturbed by the keys of its own records."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from shoal.arguments import checked
from shoal.errors import Infeasible, InputError, first_record, parameter, unknown
from shoal.exact_names import only
from shoal.remarks import Remark
from shoal.runtime import Budget, Seeds, silent
from shoal.runtime.secrets import Secret
from shoal.tables.files.frames import as_frame
from shoal.tables.model.columns import Missing, codes_of, numbers
from shoal.tables.model.contributions import Contributions
from shoal.tables.model.from_records import set_aside
from shoal.tables.model.rules import Rule
from shoal.tables.model.tabulation import Tabulation, tabulate
from shoal.tables.model.total_codes import recognised
from shoal.tables.rounding.cell_keys.files import read_design
from shoal.tables.rounding.cell_keys.keys import (
    are_uneven,
    cell_keys,
    keys_in_column,
    known_by_column,
    known_by_values,
    perturbed_by,
    record_keys,
    scattered,
)
from shoal.tables.rounding.cell_keys.methods import METHODS
from shoal.tables.rounding.cell_keys.posterior import conclusions, posterior
from shoal.tables.rounding.cell_keys.problem import DesignProblem
from shoal.tables.rounding.cell_keys.result import PerturbedTable
from shoal.tables.rounding.cell_keys.solution import PerturbationTable
from shoal.tables.rounding.cell_keys.verify import verify_design, verify_external, verify_table
from shoal.tables.rounding.cell_keys.warnings import on_keys, on_rare_changes, on_whole_tables, remarks
from shoal.tables.rounding.randomness import secret_of

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


# Beyond so many cells only the sensitive ones are looked at.
_ALL_CELLS = 20_000


@checked
def perturb_table(
    frame: "IntoDataFrame | str | Path",
    dimensions: Sequence[str],
    *,
    record: str | None = None,
    record_key: str | None = None,
    value: str | None = None,
    rules: Sequence[str | Rule] | None = None,
    missing: Missing = "refuse",
    hierarchies: "Mapping[str, Mapping[str, str] | IntoDataFrame | str | Path] | None" = None,
    deviation: int = 5,
    variance: float = 2.0,
    small: int = 0,
    ptable: "IntoDataFrame | str | Path | None" = None,
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
    record_key : str, optional
        The column with the permanent keys of the records, numbers from 0 up to 1, in place of keys drawn from a secret: the same
        keys as in other tables and tools.
    value : str, optional
        Refused with the reason: the method is for counts.
    rules : sequence of str or Rule, optional
        When a count is sensitive, as for ``tabulate``; fewer than 3 records by default.
    missing : {"refuse", "aside", "category"}, default "refuse"
        What becomes of records with missing values in a dimension: refused; set aside and counted; or kept, with ``missing`` as
        a code of the dimension.
    hierarchies : mapping of str to mapping, frame or path, optional
        Subtotals of a dimension: ``{code: parent}``, or a frame or the path of a file ``code,parent`` or ``.hrc``.
    deviation : int, default 5
        The most that a count changes.
    variance : float, default 2.0
        The variance of the changes; small counts may need another, which the result says.
    small : int, default 0
        Counts from 1 to this one are never published.
    ptable : DataFrame or path, optional
        A perturbation table in place of one that is designed, as the R packages ``ptable`` and ``cellKey`` and τ-ARGUS have it:
        ``i``, ``j``, ``p``, ``v``, ``p_int_lb``, ``p_int_ub``. It says the largest change itself; one whose chances do not add up
        to 1, have a bias or make counts negative is refused.
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
    if ptable is not None and (deviation, variance, small) != (5, 2.0, 0):
        raise InputError(
            f"{parameter('ptable')} says how counts change: leave out {parameter('deviation')}, {parameter('variance')} and "
            f"{parameter('small')}"
        )
    own = None if ptable is None else read_design(ptable)
    problem = DesignProblem(deviation, float(variance), small) if own is None else own[0]
    data = as_frame(frame, "the data")
    if record_key is not None and (record is not None or secret is not None or seed is not None):
        raise InputError(
            f"{parameter('record_key')} names the keys, so there is nothing to draw: leave out {parameter('record')}, "
            f"{parameter('secret')} and {parameter('seed')}"
        )
    for name in [*dimensions, *(item for item in (record, record_key) if item is not None)]:
        if name not in data.columns:
            raise unknown("column", name, data.columns, where="in the data")
    if record_key in dimensions:
        raise InputError(
            f"column '{record_key}' is a dimension, and would be published; record keys are internal"
        )
    if len(data) == 0:
        raise InputError("there are no records")
    drawn = secret_of(secret, seed) if record_key is None else None
    keys = _keys(data, record, record_key, drawn)
    data, keys, gone = _without_gaps(data, keys, dimensions, missing)
    made = _counted(data, dimensions, rules, hierarchies, missing)
    contributions = made.contributions
    assert isinstance(contributions, Contributions)
    design: PerturbationTable = (
        METHODS[method].solve(problem, options, budget=Budget(), seeds=Seeds(0), threads=1, observer=silent)
        if own is None
        else own[1]
    )
    counts = contributions.counts.astype(np.int64)
    sums = cell_keys(contributions.starts, contributions.contributor, keys)
    published = perturbed_by(counts, sums if drawn is None else scattered(sums, drawn), design)
    try:
        if own is None:
            verify_design(problem, design)
        else:
            verify_external(design)
        check_counts(made, data, dimensions, keys, drawn, design, published, missing)
    except AssertionError as error:
        raise Infeasible(f"the independent check does not confirm the table: {error}") from error
    audit = conclusions(
        made.problem(insiders=False), design, published, all_cells=made.table.cells <= _ALL_CELLS
    )
    uneven = drawn is None and are_uneven(keys)
    odd = on_keys(keys, uneven=uneven) if drawn is None else ()
    return PerturbedTable(
        made,
        problem,
        design,
        published.astype(np.float64),
        audit,
        posterior(design, counts, published, made.sensitive),
        len(data),
        method if own is None else "given",
        _attacker(problem.deviation, scattered=drawn is not None),
        drawn,
        (
            *remarks(problem, design, drawn, record, made.table),
            *odd,
            *on_rare_changes(design, counts[made.sensitive]),
            *gone,
            *made.remarks,
            *on_whole_tables(made.table.cells, made.sensitive.size),
        ),
        uneven,
    )


def _without_gaps(
    data: "nw.DataFrame[Any]", keys: np.ndarray, dimensions: Sequence[str], missing: Missing
) -> "tuple[nw.DataFrame[Any], np.ndarray, tuple[Remark, ...]]":
    """The records that are counted, with their keys, and how many were set aside."""
    if missing not in ("refuse", "aside", "category"):
        raise unknown("choice for missing values", str(missing), ("refuse", "aside", "category"))
    if missing != "aside":
        return data, keys, ()
    kept = np.ones(len(data), dtype=bool)
    for name in dimensions:
        kept &= np.array([code != "" for code in codes_of(data, name, missing)])
    gone = int((~kept).sum())
    if gone == len(data):
        raise InputError("every record has missing values, so no table is left")
    return data.filter(kept.tolist()), keys[kept], set_aside(gone)


def _keys(
    data: "nw.DataFrame[Any]", record: str | None, record_key: str | None, secret: Secret | None
) -> np.ndarray:
    """The key of each record: from its column, or drawn for what the record is known by."""
    if record_key is not None:
        return keys_in_column(numbers(data, record_key), record_key)
    assert secret is not None
    known = (
        known_by_values(data.iter_rows())
        if record is None
        else known_by_column(data[record].to_list(), record)
    )
    return record_keys(known, secret)


def _attacker(deviation: int, *, scattered: bool) -> str:
    """Whom the table protects against, in words."""
    text = (
        f"somebody who knows the perturbation table (changes of at most {deviation}), that empty cells stay empty, that the same "
        "records have the same figure and that true counts add up; who knows neither keys nor secret, nor any record"
    )
    return (
        text
        if scattered
        else f"{text}, and does not use that the key of a total is the sum of those of its parts"
    )


def _counted(
    data: "nw.DataFrame[Any]", dimensions: Sequence[str], rules: Any, hierarchies: Any, missing: Missing
) -> Tabulation:
    """The table of counts; its contributors are the records by their places."""
    codes = {item: codes_of(data, item, missing) for item in dimensions}
    for item, code in recognised(codes, None)[0].items():
        totals = [place for place, text in enumerate(codes[item]) if text == code]
        raise InputError(
            f"dimension '{item}' has a total among its records: see {first_record(totals)}; totals are counted here, so leave "
            "such rows out, or rename the code if it is one like any other"
        )
    name = "record"
    while name in data.columns:
        name += "_"
    width = len(str(len(data)))
    places = [f"{place:0{width}d}" for place in range(len(data))]
    column = nw.new_series(name, places, backend=data.implementation)
    wide = only(data, dict.fromkeys(dimensions)).with_columns(column)
    return tabulate(
        wide.to_native(),
        dimensions,
        contributor=name,
        rules=rules,
        hierarchies=hierarchies,
        missing=missing,
        source="records",
    )


def check_counts(
    tabulation: Tabulation,
    data: "nw.DataFrame[Any]",
    dimensions: Sequence[str],
    keys: np.ndarray,
    secret: Secret | None,
    design: PerturbationTable,
    published: np.ndarray,
    missing: Missing = "refuse",
) -> None:
    """Raise ``AssertionError`` unless the counts are what the keys of the records make of them."""
    lineages = {
        name: {
            code: [tree.codes[above] for above in tree.lineage(place)]
            for place, code in enumerate(tree.codes)
        }
        for name, tree in tabulation.trees.items()
    }
    codes = zip(*(codes_of(data, name, missing) for name in dimensions), strict=True)
    cells: dict[str, Sequence[Any]] = {name: tabulation.table.keys[name].tolist() for name in dimensions}
    verify_table(cells, lineages, list(codes), keys.tolist(), secret, design, published.tolist())
