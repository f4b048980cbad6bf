"""``shoal.tabulate``: from records, or from a table that is ready, to a table with its sensitive cells."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shoal.arguments import checked
from shoal.errors import InputError, first_record, parameter, unknown
from shoal.numbers import counted
from shoal.tables.files.frames import as_frame
from shoal.tables.model.apriori import apply_apriori
from shoal.tables.model.cells import cells_of
from shoal.tables.model.columns import MISSING, Missing, codes_of, numbers
from shoal.tables.model.contributions import Contributions
from shoal.tables.model.costs import COSTS, costs
from shoal.tables.model.costs import missing as gap
from shoal.tables.model.decimals import units
from shoal.tables.model.figures import stack
from shoal.tables.model.ready_made import Columns, ready_made
from shoal.tables.model.rules import MinimumFrequency, PPercent, Rule, concentration, parse_rule
from shoal.tables.model.tabulated import Tabulation, Zeros, classify
from shoal.tables.model.total_codes import given_totals, recognised, refuse_totals, total_of
from shoal.tables.model.trees import Tree, as_it_fits, grow, refuse_circles

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
    if metadata is not None or needs_metadata(frame):
        from shoal.tables.files.argus_described import rows_described

        said = {
            "dimensions": dimensions,
            "source": source,
            "value": value,
            "total": total,
            "contributors_column": contributors_column,
            "largest_columns": largest_columns,
            "status_column": status_column,
            "level_columns": level_columns,
        }
        known = {name: item for name, item in said.items() if item}
        found = rows_described(frame, {**known, "hierarchies": hierarchies, "metadata": metadata})
        return tabulate(
            found.frame,
            **found.with_said({**known, "hierarchies": hierarchies}),
            contributor=contributor,
            holding=holding,
            weight=weight,
            weights_public=weights_public,
            rules=rules,
            apriori=apriori,
            zeros=zeros,
            cost=found.cost or cost if cost == "value" else cost,
            missing=missing,
            rounding=rounding,
            tolerance=tolerance,
            further_values=further_values,
            shadow=shadow,
        )
    data = as_frame(frame, "the data")
    columns = Columns(
        value,
        contributors_column,
        tuple(largest_columns),
        status_column,
        *_two_levels(level_columns),
        cost=cost if cost in data.columns and cost not in COSTS else None,
    )
    own = [name for name in (contributor, holding, weight) if name]
    _check_names(data, dimensions, [*columns.named, *own, *further_values], hierarchies or {})
    parents = {name: hierarchy_of(name, given) for name, given in (hierarchies or {}).items()}
    for name, tree in parents.items():
        refuse_circles(name, tree)
    chosen = tuple(parse_rule(rule) if isinstance(rule, str) else rule for rule in rules) if rules else None
    codes, totals, aggregated = _rows_are(data, dimensions, columns, total, source, missing)
    if aggregated:
        if further_values:
            raise InputError(
                f"{parameter('further_values')} are for records; protect the figures of a ready-made table one after the other"
            )
        if own:
            raise InputError(
                f"rows that are cells of a table have no contributors of their own, so '{own[0]}' cannot be one; "
                f"{parameter('source', 'records')} says that they are records"
            )
        made = as_it_fits(
            lambda read: ready_made(
                data,
                codes,
                totals,
                columns,
                hierarchies=read,
                rules=chosen,
                zeros=zeros,
                rounding=rounding,
                tolerance=tolerance,
            ),
            parents,
        )
        if columns.cost is None:
            made = replace(made, cost=costs(cost, made.table.values, made.contributors))
    else:
        made = as_it_fits(
            lambda read: _of_records(
                data,
                codes,
                read,
                columns,
                (contributor, holding, weight),
                rules=chosen,
                zeros=zeros,
                cost=cost,
                weights_public=weights_public,
                missing=missing,
                further=tuple(further_values),
                shadow=shadow,
            ),
            parents,
        )
    return made if apriori is None else apply_apriori(made, apriori)


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


def _two_levels(columns: Sequence[str]) -> tuple[str | None, str | None]:
    if not columns:
        return None, None
    if len(columns) != 2:
        raise InputError(f"{parameter('level_columns')} names two columns, the lower and the upper level")
    return columns[0], columns[1]


def _rows_are(
    data: "nw.DataFrame[Any]",
    dimensions: Sequence[str],
    columns: Columns,
    total: Any,
    source: str | None,
    missing: Missing,
) -> tuple[dict[str, list[str]], dict[str, str], bool]:
    """The codes of each dimension, what its total is called, and whether rows are cells; totals among records are refused."""
    if source not in (None, "records", "aggregated"):
        raise unknown("source", str(source), ("records", "aggregated"))
    if missing not in ("refuse", "aside", "category"):
        raise unknown("choice for missing values", str(missing), ("refuse", "aside", "category"))
    cells = source == "aggregated" or (
        source is None and bool(columns.contributors or columns.largest or columns.status or total)
    )
    # Rows of a table are never left out, and a code of a cell is one without the blanks around it.
    texts = {name: codes_of(data, name, "refuse" if cells else missing) for name in dimensions}
    plain = {name: [text.strip() for text in found] for name, found in texts.items()}
    if cells:
        given = {} if total is None else given_totals(total, dimensions)
        found = {name: code for name in dimensions if (code := total_of(name, plain[name])) is not None}
        totals = {**found, **given}
        for name, code in given.items():
            if code not in plain[name]:
                raise InputError(f"{parameter('total')} of '{name}' is in no row of the table")
        return plain, totals, True
    if source == "records":
        return texts, {}, False
    figures = None
    if columns.value is not None and data[columns.value].dtype.is_numeric():
        figures = np.nan_to_num(numbers(data, columns.value, gaps=True))
    totals, whole = recognised(plain, figures)
    if whole:
        return plain, totals, True
    refuse_totals(plain, totals)
    return texts, {}, False


def _of_records(
    data: "nw.DataFrame[Any]",
    codes: Mapping[str, Sequence[str]],
    parents: Mapping[str, Mapping[str, str]],
    columns: Columns,
    who_and_weight: tuple[str | None, str | None, str | None],
    *,
    rules: tuple[Rule, ...] | None,
    zeros: Zeros,
    cost: str,
    weights_public: bool,
    missing: Missing,
    further: tuple[str, ...],
    shadow: bool,
) -> Tabulation:
    """The table of records, of several figures under one another."""
    contributor, holding, weight = who_and_weight
    value, dimensions = columns.value, list(codes)
    if columns.contributors or columns.largest or columns.status:
        raise InputError(
            f"columns that tell of the contributors of cells are for ready-made tables, {parameter('source', 'aggregated')}"
        )
    if (further or shadow) and (value is None or not further):
        raise InputError(
            f"{parameter('shadow')} and {parameter('further_values')} are for several figures; name the first with "
            f"{parameter('value')} and the others with {parameter('further_values')}"
        )
    names = [value, *further]
    if len(set(names)) < len(names):
        raise InputError(f"a figure is named twice in {parameter('value')} and {parameter('further_values')}")
    chosen = rules or ((MinimumFrequency(3), PPercent(10.0)) if value else (MinimumFrequency(3),))
    gaps = missing != "refuse"
    amounts = [numbers(data, name, gaps=gaps) if name else np.ones(len(data)) for name in names]
    weights = numbers(data, weight, gaps=gaps) if weight else np.ones(len(data))
    prices = None if columns.cost is None else numbers(data, columns.cost, gaps=gaps)
    every = [*amounts, weights, *([] if prices is None else [prices])]
    kept, note = _kept(data, codes, every, contributor, missing)
    # Messages name records as they stand in the data, also where some were set aside.
    written, number = codes, np.flatnonzero(kept)
    if note:
        data = data.filter(kept.tolist())
        codes = {
            name: [code for code, stays in zip(found, kept, strict=True) if stays]
            for name, found in codes.items()
        }
        amounts, weights = [own[kept] for own in amounts], weights[kept]
        prices = None if prices is None else prices[kept]
    if contributor is None and holding is None and (value is not None or weight is not None):
        note = (*note, *_alone(codes))
    leaf_codes, trees = _code(codes, parents, written)
    if (weights < 0).any():
        bad = first_record(number[weights < 0])
        raise InputError(f"column '{weight}' has negative weights: see {bad}")
    if prices is not None and (prices < 0).any():
        raise InputError(f"column '{cost}' has negative values; the cost of hiding a cell is at least 0")
    who = _who(data, contributor, holding, missing)
    table, size = cells_of(dimensions, trees)
    cells, records = _spread(leaf_codes, trees, dimensions, size)
    found = {}
    for name, own in zip(names, amounts, strict=True):
        if concentration(chosen) and (own < 0).any():
            raise InputError(
                f"column '{name}' has negative contributions, for which concentration rules are not defined: see "
                f"{first_record(number[own < 0])}; use frequency(…) alone"
            )
        weighted = own * weights
        totals = _sums(cells, weighted, records, table.cells)
        contributions = _contributions(cells, who, weighted if weights_public else own, records, totals)
        filled = replace(table, values=totals)
        made = classify(filled, trees, contributions, chosen, zeros, counts=value is None and weight is None)
        price = (
            costs(cost, totals, made.contributors)
            if prices is None
            else _sums(cells, prices, records, table.cells)
        )
        found[str(name)] = replace(made, cost=price, notes=note)
    return stack(found, shadow=shadow) if further else next(iter(found.values()))


def _kept(
    data: "nw.DataFrame[Any]",
    codes: Mapping[str, Sequence[str]],
    figures: Sequence[np.ndarray],
    contributor: str | None,
    missing: Missing,
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Which records take part, and how many do not since they have gaps."""
    kept = np.ones(len(data), dtype=bool)
    for values in figures:
        kept &= ~np.isnan(values)
    if missing == "aside":
        for found in codes.values():
            kept &= np.array([code != "" for code in found])
        if contributor is not None:
            kept &= ~np.array([gap(item) for item in data[contributor].to_list()])
    gone = int((~kept).sum())
    if gone == len(data):
        raise InputError("every record has missing values, so no table is left")
    words = ("record with missing values was", "records with missing values were")
    return kept, (f"{counted(gone, *words)} set aside",) if gone else ()


def _alone(codes: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """What is said where no two records are in one cell, as in a table that is ready but for its totals."""
    rows = list(zip(*codes.values(), strict=True))
    if len(rows) < 4 or len(set(rows)) < len(rows):
        return ()
    return (
        "every record is alone in its cell, and so the only contributor to it; if rows are cells of a table, say "
        f"{parameter('source', 'aggregated')} and name {parameter('contributors_column')}",
    )


def hierarchy_of(name: str, given: Any) -> Mapping[str, str]:
    """The parent of each code of a dimension, from a file or a frame if it is one."""
    if isinstance(given, Mapping):
        return given
    from shoal.tables.files.hierarchies import as_hierarchy, read_hierarchy

    if isinstance(given, str | Path):
        return read_hierarchy(str(given))
    import narwhals as nw

    try:
        return as_hierarchy(nw.from_native(given, eager_only=True).to_polars(), f"of '{name}'")
    except TypeError:
        raise InputError(
            f"the hierarchy of '{name}' must be {{code: parent}}, a frame or the path of a file, not {type(given).__name__}"
        ) from None


def _code(
    codes: Mapping[str, Sequence[str]],
    hierarchies: Mapping[str, Mapping[str, str]],
    written: Mapping[str, Sequence[str]],
) -> tuple[list[np.ndarray], dict[str, Tree]]:
    found, trees = [], {}
    for name, texts in codes.items():
        tree = grow(name, sorted(set(texts)), _with_gap(hierarchies.get(name), texts), records=written[name])
        place = {code: index for index, code in enumerate(tree.codes)}
        found.append(np.array([place[text] for text in texts], dtype=np.int64))
        trees[name] = tree
    return found, trees


def _with_gap(hierarchy: Mapping[str, str] | None, texts: Sequence[str]) -> Mapping[str, str] | None:
    """The hierarchy with the code of missing values directly below the total, where there are such values."""
    if hierarchy is None or MISSING not in texts or MISSING in hierarchy:
        return hierarchy
    return {**hierarchy, MISSING: ""}


def _who(
    data: "nw.DataFrame[Any]", contributor: str | None, holding: str | None, missing: Missing
) -> np.ndarray:
    """A number for whom each record belongs to: its holding, else its contributor, else itself."""
    own = [f"\0{place}" for place in range(len(data))]
    if contributor is not None:
        names = data[contributor].to_list()
        gaps = [place for place, item in enumerate(names) if gap(item)]
        if gaps and missing != "category":
            raise InputError(
                f"column '{contributor}' has missing values: see {first_record(gaps)}; every record needs its contributor, "
                f"or say {parameter('missing', 'aside')} or {parameter('missing', 'category')}"
            )
        # A name never looks like the number of a record.
        own = [mine if gap(name) else f"\1{name}" for mine, name in zip(own, names, strict=True)]
    if holding is not None:
        groups = data[holding].to_list()
        own = [name if gap(group) else str(group) for name, group in zip(own, groups, strict=True)]
    return np.unique(np.array(own), return_inverse=True)[1].reshape(-1)


def _spread(
    leaf_codes: list[np.ndarray], trees: Mapping[str, Tree], dimensions: Sequence[str], shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Every record in every cell that contains it: cells and records, one entry each."""
    records = np.arange(leaf_codes[0].size)
    cells = np.zeros(records.size, dtype=np.int64)
    for codes, name, size in zip(leaf_codes, dimensions, shape, strict=True):
        tree = trees[name]
        lineages = [tree.lineage(code) if tree.leaves[code] else [] for code in range(tree.size)]
        lengths = np.array([len(lineage) for lineage in lineages])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        flat = np.array([code for lineage in lineages for code in lineage], dtype=np.int64)
        mine = codes[records]
        repeat = lengths[mine]
        offset = np.arange(repeat.sum()) - np.repeat(np.cumsum(repeat) - repeat, repeat)
        above = flat[np.repeat(starts[mine], repeat) + offset]
        cells = np.repeat(cells, repeat) * size + above
        records = np.repeat(records, repeat)
    return cells, records


def _sums(places: np.ndarray, amounts: np.ndarray, records: np.ndarray, count: int) -> np.ndarray:
    """The sum of the amounts of the records at each place."""
    whole, scale = units(amounts)
    found: np.ndarray = np.bincount(places, weights=whole[records], minlength=count) / scale
    return found


def _contributions(
    cells: np.ndarray, who: np.ndarray, amounts: np.ndarray, records: np.ndarray, totals: np.ndarray
) -> Contributions:
    many = int(who.max()) + 1
    pairs, inverse = np.unique(cells * many + who[records], return_inverse=True)
    amount = _sums(inverse.reshape(-1), amounts, records, pairs.size)
    cell, contributor = pairs // many, pairs % many
    return Contributions.of(cell, contributor, amount, totals)
