"""``shoal.tabulate``: from records, or from a table that is ready, to a table with its sensitive cells."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shoal.arguments import checked
from shoal.errors import InputError, parameter, unknown
from shoal.numbers import counted
from shoal.remarks import Remark, note
from shoal.settings import called_with
from shoal.tables.files.frames import as_frame
from shoal.tables.model.apriori import apply_apriori
from shoal.tables.model.columns import Missing
from shoal.tables.model.costs import COSTS, costs
from shoal.tables.model.from_records import from_records
from shoal.tables.model.kinds_of_rows import refuse_unnamed, what_rows_are
from shoal.tables.model.rows_of_cells import Columns, tabulate_aggregates
from shoal.tables.model.rules import Rule, parse_rule
from shoal.tables.model.tabulated import Tabulation, Zeros
from shoal.tables.model.trees import EitherWay, as_it_fits, refuse_circles
from shoal.tables.settings import TabulateSettings

if TYPE_CHECKING:
    import narwhals as nw
    from narwhals.typing import IntoDataFrame

Source = Literal["records", "aggregated"]
_COLUMNS = ("value", "contributors", "status", "lower", "upper", "cost", "kind")


@checked
def tabulate(
    frame: "IntoDataFrame | str | Path",
    dimensions: Sequence[str] = (),
    *,
    value: str | None = None,
    contributor: str | None = None,
    holding: str | None = None,
    weight: str | None = None,
    weights_public: bool = False,
    hierarchies: "Mapping[str, Mapping[str, str] | IntoDataFrame | str | Path] | None" = None,
    rules: Sequence[str | Rule] | None = None,
    apriori: "IntoDataFrame | None" = None,
    zeros: Zeros = "published",
    cost: str = "value",
    missing: Missing = "refuse",
    source: Source | None = None,
    contributors_column: str | None = None,
    largest_columns: Sequence[str] = (),
    status_column: str | None = None,
    level_columns: Sequence[str] = (),
    total: str | Sequence[str] | Mapping[str, str] | None = None,
    rounding: float | None = None,
    tolerance: float | None = None,
    further_values: Sequence[str] = (),
    shadow: bool = False,
    metadata: str | Path | None = None,
) -> Tabulation:
    """Build a table of sums or counts with all its totals from records, or take one that is ready, and find its sensitive
    cells by rule.

    Parameters
    ----------
    frame : DataFrame or path
        The records, or the cells of a ready-made table: a frame of pandas, Polars, Arrow or any other that Narwhals knows,
        or the path of a file.
    dimensions : sequence of str, default ()
        The columns that span the table; of a ready-made table its metadata may say which.
    value : str, optional
        The column that is summed, or that has the figures of the cells; without it records are counted.
    contributor : str, optional
        The column that says who contributes; by default every record is a contributor.
    holding : str, optional
        The column of the group a contributor belongs to, which then counts as one.
    weight : str, optional
        The column of sampling weights: totals are weighted, contributions are not.
    weights_public : bool, default False
        Attackers know the weights, so that contributions count weighted, too.
    hierarchies : mapping of str to mapping, frame or path, optional
        Subtotals of a dimension: ``{code: parent}`` with an empty parent directly below the total; or a frame or the path of a
        file ``code,parent``, with a column for each level, or ``.hrc``.
    rules : sequence of str or Rule, optional
        When a cell is sensitive: ``"frequency(3)"`` (a range of 20 percent protects such a cell, ``"frequency(3,5)"`` says
        another), ``"dominance(1,75)"``, ``"p-percent(10)"``, ``"pq(10,80)"``, ``"zero(10)"``; ``"manual(20)"`` is the range
        of cells that are declared sensitive. By default fewer than 3 contributors, and for sums p % with p = 10.
    apriori : DataFrame, optional
        Cells by their coordinates with any of ``status``, ``lower``, ``upper`` and ``cost``, which overrule the rules.
    zeros : {"published", "suppressible"}, default "published"
        Whether empty cells may be hidden.
    cost : str, default "value"
        What hiding a cell costs: its ``"value"``, 1 (``"unity"``), its number of ``"contributors"``, the ``"log"`` of its
        value, or the sum of a column of the records.
    missing : {"refuse", "aside", "category"}, default "refuse"
        What becomes of records with missing values: refused; set aside and counted; or kept, with ``missing`` as a code of the
        dimension and a contributor of their own (without a figure they are set aside).
    source : {"records", "aggregated"}, optional
        Whether rows are records or cells of a table with its totals among them; by default they are cells if a column of a
        ready-made table is named, or if every dimension has a total and no combination comes twice.
    contributors_column : str, optional
        Of a ready-made table: the number of contributors of a cell.
    largest_columns : sequence of str, default ()
        Of a ready-made table: the largest contribution of a cell, the second largest, and so on.
    status_column : str, optional
        Of a ready-made table: the state of a cell, ``s`` safe, ``u`` sensitive, ``m`` hidden already, ``p`` or ``z`` always
        published, ``e`` empty; true and false mean sensitive and safe.
    level_columns : sequence of str, default ()
        Of a ready-made table: the lower and the upper protection level of sensitive cells.
    total : str, sequence of str or mapping, optional
        What the total is called in the rows: for all dimensions, or ``{"SIZE": "ALL"}``. Usual names are recognised.
    rounding : float, optional
        Totals of a ready-made table may be off by rounding to this base.
    tolerance : float, optional
        Totals of a ready-made table may besides be off by this much.
    further_values : sequence of str, default ()
        Further columns that are summed; the table then has a dimension ``figure``. A record that lacks one of the figures
        lacks all.
    shadow : bool, default False
        A cell that is sensitive in one figure is so in all of them, since a respondent seen in one is seen in all.
    metadata : path, optional
        The metadata (``.rda``) of τ-ARGUS that describe the file whose path was given; those beside a ``.tab`` or ``.asc``
        file need not be named. What is said here comes before what they say.

    Returns
    -------
    Tabulation
        ``table``, ``status`` of each cell (``s`` may be hidden, ``u`` sensitive, ``z`` always published), ``by_rule``,
        levels and costs; ``frame`` is the list of cells. Internal.

    Raises
    ------
    InputError
        A column is missing, has gaps or is not numeric, a code is not in its hierarchy, a rule cannot be read, or the table
        would have too many cells.

    See Also
    --------
    suppress : hide further cells until the sensitive ones are safe.
    audit : what an attacker can compute from a table with hidden cells.

    References
    ----------
    - A. Hundepool and others, Handbook on Statistical Disclosure Control, 2nd edition, 2024 (rules for magnitude tables).

    Examples
    --------
    >>> import polars as pl
    >>> firms = pl.DataFrame({"region": ["n", "n", "s", "s", "s", "n"], "sector": ["a", "b", "a", "b", "b", "a"],
    ...                       "turnover": [90.0, 40, 30, 20, 10, 5]})
    >>> made = tabulate(firms, ["region", "sector"], value="turnover", rules=["frequency(2)"])
    >>> made.table.cells, len(made.sensitive)
    (9, 2)
    """
    settings = called_with(TabulateSettings, locals())
    if metadata is not None or needs_metadata(frame):
        frame, settings, hierarchies = _described(frame, settings, hierarchies)
    parents = {name: hierarchy_of(name, tree) for name, tree in (hierarchies or {}).items()}
    made = _tabulated(as_frame(frame, "the data"), settings, parents)
    return made if apriori is None else apply_apriori(made, apriori)


def _described(
    frame: Any, settings: TabulateSettings, hierarchies: Mapping[str, Any] | None
) -> tuple[Any, TabulateSettings, Mapping[str, Any]]:
    """The rows of a file of τ-ARGUS, with what its metadata say where nobody says otherwise."""
    from shoal.tables.files.argus_described import DESCRIBED, rows_described

    known = {name: value for name in DESCRIBED if (value := getattr(settings, name))}
    rows = rows_described(frame, {**known, "hierarchies": hierarchies, "metadata": settings.metadata})
    every = rows.with_options({**known, "hierarchies": hierarchies})
    trees = every.pop("hierarchies")
    if settings.cost == "value":
        every["cost"] = rows.cost or settings.cost
    return rows.frame, settings.model_copy(update=every), trees


def _tabulated(
    data: "nw.DataFrame[Any]", settings: TabulateSettings, parents: Mapping[str, Mapping[str, str]]
) -> Tabulation:
    dimensions, cost = settings.dimensions, settings.cost
    columns = Columns(
        settings.value,
        settings.contributors_column,
        tuple(settings.largest_columns),
        settings.status_column,
        *_two_levels(settings.level_columns),
        cost=cost if cost in data.columns and cost not in COSTS else None,
    )
    own = [name for name in (settings.contributor, settings.holding, settings.weight) if name]
    _check_names(data, dimensions, [*columns.named, *own, *settings.further_values], parents)
    _refuse_two_roles(dimensions, columns)
    for name, tree in parents.items():
        refuse_circles(name, tree)
    rules = (
        tuple(rule if isinstance(rule, Rule) else parse_rule(rule) for rule in settings.rules or ()) or None
    )
    codes, totals, aggregated = what_rows_are(
        data, dimensions, columns, settings.total, settings.source, settings.missing
    )
    if aggregated:
        unnamed = {name: found for name, found in codes.items() if name not in {**totals, **parents}}
        refuse_unnamed(data, codes, unnamed, columns)
        _refuse_records(settings, own)
        made = as_it_fits(
            lambda trees: tabulate_aggregates(data, codes, totals, columns, trees, settings, rules), parents
        )
        if columns.cost is None:
            made = replace(made, cost=costs(cost, made.table.values, made.contributors))
    else:
        made = as_it_fits(lambda trees: from_records(data, codes, columns, trees, settings, rules), parents)
    return replace(made, remarks=(*made.remarks, *_marks(codes, parents, cells=aggregated)))


def _refuse_records(settings: TabulateSettings, own: Sequence[str]) -> None:
    """Refuse for cells of a table what only records have."""
    if settings.further_values:
        raise InputError(
            f"{parameter('further_values')} is for records; protect the figures of a ready-made table one after the other"
        )
    if own:
        raise InputError(
            f"rows that are cells of a table have no contributors of their own, so '{own[0]}' cannot be one; "
            f"{parameter('source', 'records')} says that they are records"
        )


def _marks(
    codes: Mapping[str, Sequence[str]], parents: Mapping[str, Mapping[str, str]], *, cells: bool
) -> Iterator[Remark]:
    """What is said of codes that mean a missing value in a column of numbers: NA may be Namibia."""
    from shoal.sources.inference import MISSING_MARKS

    help_ = (
        f"; leave it blank where it means a missing value, and {parameter('missing')} says what becomes of it"
    )
    for name, found in codes.items():
        # Whoever has it in a hierarchy knows it as a code.
        for mark in (item for item in MISSING_MARKS if item not in parents.get(name, {})):
            if times := found.count(mark):
                yield note(
                    "missing-mark",
                    f"dimension '{name}' has '{mark}' in {counted(times, 'record')}: a code like any other"
                    f"{'' if cells else help_}",
                    name,
                )


def needs_metadata(rows: Any) -> bool:
    """Whether rows are those of a file of τ-ARGUS, which is nothing without its metadata.

    >>> needs_metadata("table.tab"), needs_metadata("table.csv")
    (True, False)
    """
    return isinstance(rows, str | Path) and str(rows).lower().endswith((".tab", ".asc"))


def _check_names(
    data: "nw.DataFrame[Any]",
    dimensions: Sequence[str],
    columns: Sequence[str],
    hierarchies: Mapping[str, Any],
) -> None:
    if not dimensions:
        raise InputError("name at least one dimension")
    for name in dimensions:
        if list(dimensions).count(name) > 1:
            raise InputError(f"dimension '{name}' is named twice")
        if name in _COLUMNS:
            raise InputError(
                f"a dimension cannot be called '{name}': a list of cells has that column; rename it"
            )
    for name in [*dimensions, *columns]:
        if name not in data.columns:
            raise unknown("column", name, data.columns, where="in the data")
    if len(data) == 0:
        raise InputError("there are no records")
    for name in hierarchies:
        if name not in dimensions:
            raise unknown("dimension", name, dimensions, where="a dimension of the table")


def _refuse_two_roles(dimensions: Sequence[str], columns: Columns) -> None:
    """Refuse a column that is to be two things: figures taken for counts of contributors make every cell look safe."""
    roles = [
        *((name, "a dimension") for name in dimensions),
        (columns.value, parameter("value")),
        (columns.contributors, parameter("contributors_column")),
        *((name, parameter("largest_columns")) for name in columns.largest),
        (columns.status, parameter("status_column")),
        *((name, parameter("level_columns")) for name in {columns.lower, columns.upper}),
    ]
    seen: dict[str, str] = {}
    for name, role in roles:
        if name is not None and seen.setdefault(name, role) != role:
            raise InputError(f"column '{name}' cannot be both: {seen[name]} and {role}")
    if len(set(columns.largest)) < len(columns.largest):
        raise InputError(f"{parameter('largest_columns')} names a column twice")


def _two_levels(columns: Sequence[str]) -> tuple[str | None, str | None]:
    if not columns:
        return None, None
    if len(columns) != 2:
        raise InputError(f"{parameter('level_columns')} names two columns, the lower and the upper level")
    return columns[0], columns[1]


def hierarchy_of(name: str, hierarchy: Any) -> Mapping[str, str]:
    """The parent of each code of a dimension, from a file or a frame if it is one."""
    if isinstance(hierarchy, EitherWay):
        return hierarchy
    if isinstance(hierarchy, Mapping):
        # A code at the top may be its own parent.
        return {code: "" if parent == code else parent for code, parent in hierarchy.items()}
    from shoal.tables.files.hierarchies import as_hierarchy, read_hierarchy

    if isinstance(hierarchy, str | Path):
        return read_hierarchy(str(hierarchy))
    import narwhals as nw

    try:
        return as_hierarchy(nw.from_native(hierarchy, eager_only=True).to_polars(), f"of '{name}'")
    except TypeError:
        raise InputError(
            f"the hierarchy of '{name}' must be {{code: parent}}, a frame or the path of a file, not {type(hierarchy).__name__}"
        ) from None
