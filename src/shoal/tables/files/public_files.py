"""Published tables as others wrote them: lists of cells, matrices, crosstabs and SDMX-CSV, whatever they call their totals."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, parameter
from shoal.tables.files.crosstabs_read import READABLE, cells_of_crosstab, has_words, labels_of
from shoal.tables.model.table import Table
from shoal.tables.model.total_codes import looks_like_total, named_totals, total_of
from shoal.tables.model.trees import refuse_circles
from shoal.tables.public_table import TOTAL, PublicTable, Relation, figure_in, figures_in, refuse_unread

if TYPE_CHECKING:
    import polars as pl

# What says of all figures together when and in what they were counted, and no dimension where all say the same.
_OF_ALL = ("TIME_PERIOD", "FREQ", "UNIT_MEASURE", "UNIT_MULT", "DECIMALS")
_ABOUT = ("DATAFLOW", "STRUCTURE", "STRUCTURE_ID", "ACTION", "CONF_STATUS", "OBS_STATUS", "note")


def read_public(
    frame: "pl.DataFrame",
    name: str,
    *,
    hierarchies: Mapping[str, Mapping[str, str]] | None = None,
    total: Sequence[str] | str | Mapping[str, str] | None = None,
    slack: float = 0.0,
    known: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> PublicTable:
    """A published table from its frame; ``name`` is for messages, ``slack`` what a figure may be off by rounding.

    ``known`` are dimensions of other tables with their codes, by which those of a crosstab are recognised.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"a": ["x", "y", "_T"], "OBS_VALUE": [1.0, None, 3.0], "CONF_STATUS": ["F", "C", "F"]})
    >>> read_public(frame, "last.csv").hidden
    (('y',),)
    """
    import polars as pl

    for dimension, tree in (hierarchies or {}).items():
        refuse_circles(dimension, tree)
    if "OBS_VALUE" in frame.columns:
        frame = frame.rename({"OBS_VALUE": "value"})
    elif "value" not in frame.columns:
        _refuse_texts(frame, name)
        cells = cells_of_crosstab(frame, known)
        frame = frame if cells is None else cells
    listed = "value" in frame.columns
    frame = frame.drop([column for column in _ABOUT if listed and column in frame.columns])
    if listed:
        frame = frame.drop(
            [column for column in _OF_ALL if column in frame.columns and frame[column].n_unique() == 1]
        )
        dimensions = [column for column in frame.columns if column != "value"]
        codes = {column: [str(item).strip() for item in frame[column].to_list()] for column in dimensions}
    else:
        dimensions = ["row", "column"]
        codes = {"row": [str(item) for item in frame[:, 0].to_list()], "column": list(frame.columns[1:])}
    said = {} if total is None or not total else named_totals(total, [*dimensions])
    totals = {column: said.get(column) or total_of(column, own) for column, own in codes.items()}
    inside = {
        column: [TOTAL if code == totals[column] else code for code in own] for column, own in codes.items()
    }
    if listed:
        frame = pl.DataFrame({**inside, "value": frame["value"]})
    else:
        frame = frame.rename(dict(zip(frame.columns[1:], inside["column"], strict=True)))
        frame = frame.with_columns(pl.Series(frame.columns[0], inside["row"]))
    without = [column for column in dimensions if TOTAL not in inside[column]]
    found = PublicTable.of(frame, hierarchies, without, slack)
    # What is not printed need not add up.
    found = replace(found, relations=tuple(item for item in found.relations if item.total in found.cells))
    if wrong := found.wrong():
        raise InputError(
            f"the totals of '{name}' do not add up{_first(found, wrong[0], totals)}; name its subtotals with "
            f"{parameter('hierarchy')}, or say {parameter('rounding')}"
        )
    written = {column: code for column, code in totals.items() if code is not None and code != TOTAL}
    return replace(found, trees=hierarchies or {}, totals=written)


def is_published(frame: "pl.DataFrame") -> bool:
    """Whether a frame is a table as it is published and nothing else: a list of cells with their figures, or a matrix or
    crosstab with totals that hides some.
    """
    if "OBS_VALUE" in frame.columns or "value" in frame.columns:
        return True
    count = labels_of(frame)
    if count is None or frame.width < 3 or any(has_words(frame[name]) for name in frame.columns[count:]):
        return False
    rows = [
        any(looks_like_total(str(code)) for code in frame[column].to_list())
        for column in frame.columns[:count]
    ]
    across = any(looks_like_total(code) for code in frame.columns[count:])
    # Several figures side by side have no total; a matrix may print those of its rows alone, or of its columns.
    if not (any(rows) and across) and not (all(rows) if count > 1 else any(rows) or across):
        return False
    return any(figure is None for name in frame.columns[count:] for figure in figures_in(frame[name]))


def columns_of_figures(frame: "pl.DataFrame") -> list[str]:
    """The columns of a published table that have its figures."""
    listed: list[str] = [name for name in ("OBS_VALUE", "value") if name in frame.columns]
    return listed[:1] or frame.columns[labels_of(frame) or 1 :]


def _refuse_texts(frame: "pl.DataFrame", name: str) -> None:
    """Refuse what is no matrix or crosstab: a column of different texts and not one figure, as records and lists have them.

    Several marks in one column are of hidden cells only where others have figures, and their total.
    """
    import polars as pl

    columns = columns_of_figures(frame)
    for column in columns:
        if has_words(frame[column]):
            raise InputError(
                f"'{name}' is no published table: column '{column}' has codes and no figures; {READABLE}, and records are "
                "tabulated before"
            )
    texts = {column: frame[column].cast(pl.String, strict=False).drop_nulls().to_list() for column in columns}
    parts = [column for column in columns if not looks_like_total(column)]
    if len(parts) < len(columns) and any(
        figure_in(text) is not None for part in parts for text in texts[part]
    ):
        return
    for column in columns:
        if has_words(frame[column], 1):
            refuse_unread(texts[column])
            raise InputError(
                f"'{name}' is no crosstab: column '{column}' has different texts and no figure at all; if it is a list of cells, "
                "call the column of its figures 'value' and leave out columns that are no dimensions, or name "
                f"{parameter('dimensions')}, {parameter('value')} and the pattern"
            )


def _first(table: PublicTable, number: int, totals: Mapping[str, str | None]) -> str:
    """Where the first is, by its codes as the file writes them; nothing if no cell of that total is there."""
    if number == 0:
        return ""
    key = list(table.cells)[number - 1]
    shown = [
        totals.get(name) or code if code == TOTAL else code
        for name, code in zip(table.dimensions, key, strict=True)
    ]
    named = ", ".join(f"{name} '{code}'" for name, code in zip(table.dimensions, shown, strict=True))
    return f", the first at the cell {named}"


def public_part(table: Table, hidden: np.ndarray, slack: float = 0.0) -> PublicTable:
    """What everybody sees of a table with hidden cells."""
    keys = [tuple(str(own[cell]) for own in table.keys.values()) for cell in range(table.cells)]
    cells = {
        key: None if gone else float(value)
        for key, gone, value in zip(keys, hidden, table.values, strict=True)
    }
    relations = []
    for place in range(table.relations):
        members, signs = table.relation(place), table.signs_of(place)
        minus = signs < 0
        if minus.sum() != 1 or not np.allclose(np.abs(signs), 1.0):
            raise InputError(
                "this table has relations that are no totals of parts, which only an audit alone can judge"
            )
        parts = tuple(keys[cell] for cell in members[~minus].tolist())
        relations.append(Relation(keys[int(members[minus][0])], parts))
    return PublicTable(table.dimensions, cells, tuple(relations), slack=slack)


def parents_of(trees: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The hierarchies of dimensions that have some, as codes with their parents."""
    return {
        name: {
            code: "" if tree.parent[place] == 0 else tree.codes[tree.parent[place]]
            for place, code in enumerate(tree.codes)
            if place
        }
        for name, tree in trees.items()
        if tree.depth > 1
    }
