"""The table of records: each one in every cell that contains it, whom it belongs to, and what it adds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, first_record, parameter
from shoal.numbers import counted
from shoal.remarks import Remark, note
from shoal.tables.model.cells import cells_of
from shoal.tables.model.columns import MISSING, Missing, numbers
from shoal.tables.model.contributions import Contributions
from shoal.tables.model.costs import costs
from shoal.tables.model.costs import missing as gap
from shoal.tables.model.decimals import units
from shoal.tables.model.figures import stack
from shoal.tables.model.rows_of_cells import Columns
from shoal.tables.model.rules import MinimumFrequency, PPercent, Rule, concentration
from shoal.tables.model.tabulated import Tabulation, classify
from shoal.tables.model.trees import Tree, grow

if TYPE_CHECKING:
    import narwhals as nw

    from shoal.tables.settings import TabulateSettings


def from_records(
    data: "nw.DataFrame[Any]",
    codes: Mapping[str, Sequence[str]],
    columns: Columns,
    parents: Mapping[str, Mapping[str, str]],
    settings: "TabulateSettings",
    rules: tuple[Rule, ...] | None,
) -> Tabulation:
    """The table of records, of several figures under one another."""
    contributor, holding, weight = settings.contributor, settings.holding, settings.weight
    missing, further = settings.missing, settings.further_values
    value, dimensions = columns.value, list(codes)
    if columns.contributors or columns.largest or columns.status:
        raise InputError(
            f"columns that tell of the contributors of cells are for ready-made tables, {parameter('source', 'aggregated')}"
        )
    if (further or settings.shadow) and (value is None or not further):
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
    kept, remarks = _taking_part(data, codes, every, contributor, missing)
    # Messages name records as they stand in the data, also where some were set aside.
    written, number = codes, np.flatnonzero(kept)
    if remarks:
        data = data.filter(kept.tolist())
        codes = {
            name: [code for code, stays in zip(found, kept, strict=True) if stays]
            for name, found in codes.items()
        }
        amounts, weights = [own[kept] for own in amounts], weights[kept]
        prices = None if prices is None else prices[kept]
    if contributor is None and holding is None and (value is not None or weight is not None):
        remarks = (*remarks, *_alone(codes))
    leaf_codes, trees = _code(codes, parents, written)
    if (weights < 0).any():
        bad = first_record(number[weights < 0])
        raise InputError(f"column '{weight}' has negative weights: see {bad}")
    if prices is not None and (prices < 0).any():
        raise InputError(
            f"column '{columns.cost}' has negative values; the cost of hiding a cell is at least 0"
        )
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
        contributions = _contributions(
            cells, who, weighted if settings.weights_public else own, records, totals
        )
        filled = replace(table, values=totals)
        made = classify(
            filled, trees, contributions, chosen, settings.zeros, counts=value is None and weight is None
        )
        price = (
            costs(settings.cost, totals, made.contributors)
            if prices is None
            else _sums(cells, prices, records, table.cells)
        )
        found[str(name)] = replace(made, cost=price, remarks=remarks)
    return stack(found, shadow=settings.shadow) if further else next(iter(found.values()))


def _taking_part(
    data: "nw.DataFrame[Any]",
    codes: Mapping[str, Sequence[str]],
    figures: Sequence[np.ndarray],
    contributor: str | None,
    missing: Missing,
) -> tuple[np.ndarray, tuple[Remark, ...]]:
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
    return kept, set_aside(gone)


def set_aside(records: int) -> tuple[Remark, ...]:
    """What is said of records with gaps that are not counted."""
    words = ("record with missing values was", "records with missing values were")
    return (note("missing-values", f"{counted(records, *words)} set aside"),) if records else ()


def _alone(codes: Mapping[str, Sequence[str]]) -> tuple[Remark, ...]:
    """What is said where no two records are in one cell, as in a table that is ready but for its totals."""
    rows = list(zip(*codes.values(), strict=True))
    if len(rows) < 4 or len(set(rows)) < len(rows):
        return ()
    return (
        note(
            "single-records",
            "every record is alone in its cell, and so the only contributor to it; if rows are cells of a table, say "
            f"{parameter('source', 'aggregated')} and name {parameter('contributors_column')}",
        ),
    )


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
