"""What rows are: records, or cells of a table with its totals among them; what is doubtful is refused."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, first_record, parameter, unknown
from shoal.tables.model.columns import Missing, codes_of, numbers
from shoal.tables.model.rows_of_cells import Columns
from shoal.tables.model.total_codes import named_totals, recognised, refuse_totals, sums_of_others, total_of

if TYPE_CHECKING:
    import narwhals as nw


def what_rows_are(
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
    kept: Missing = "refuse" if cells else missing
    texts = {name: codes_of(data, name, kept, optional=not cells) for name in dimensions}
    plain = {name: [text.strip() for text in found] for name, found in texts.items()}
    if cells:
        given = {} if total is None else named_totals(total, dimensions)
        found = {name: code for name in dimensions if (code := total_of(name, plain[name])) is not None}
        totals = {**found, **given}
        for name, code in given.items():
            if code in plain[name]:
                continue
            other, equals, _ = code.partition("=")
            if equals:
                raise unknown("dimension", other.strip(), dimensions, where="a dimension of the table")
            raise InputError(f"{parameter('total')} of '{name}' is in no row of the table: '{code}'")
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


def refuse_unnamed(
    data: "nw.DataFrame[Any]",
    codes: Mapping[str, Sequence[str]],
    unnamed: Mapping[str, Sequence[str]],
    columns: Columns,
) -> None:
    """Refuse a total that nobody named: it would be taken for one code more, and what it tells of the others be missed."""
    name = columns.value or columns.contributors
    if not unnamed or name is None or not data[name].dtype.is_numeric():
        return
    rows = list(zip(*codes.values(), strict=True))
    found = sums_of_others(rows, list(codes), np.nan_to_num(numbers(data, name, gaps=True)))
    for dimension, code in found.items():
        if dimension in unnamed:
            places = [place for place, text in enumerate(codes[dimension]) if text == code]
            raise InputError(
                f"in dimension '{dimension}' the code '{code}' is the sum of all others: see {first_record(places)}; say that it "
                f"is the total with {parameter('total')} {dimension}={code}; if it is none, {parameter('hierarchy')} with an "
                "empty parent for each code says so"
            )
