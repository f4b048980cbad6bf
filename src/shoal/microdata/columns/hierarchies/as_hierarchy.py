"""What somebody gives as the hierarchy of a column: a rule, a file, rows, a frame, or the parent of each code."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.builders import RULES, builder, is_rule
from shoal.microdata.columns.hierarchies.files import read_hierarchy
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy, Row, Values, text_of
from shoal.microdata.columns.hierarchies.parent_lists import rows_from_pairs
from shoal.microdata.columns.hierarchies.rule import Rule
from shoal.microdata.columns.inputs import read_frame
from shoal.sources.header import codes_and_labels


def hierarchy_or_rule(source: Any, name: str) -> Rule | Hierarchy:
    """A rule or a hierarchy, from whatever a user gives for a column; an ``InputError`` names the column.

    >>> hierarchy_or_rule("intervals(5,10)", "age")
    Intervals(numbers=None, cover=None, widths=(5, 10), bottom=None, top=None)
    >>> hierarchy_or_rule([["m", "*"], ["f", "*"]], "sex")
    Hierarchy(2 values, 1 levels, as given)
    >>> hierarchy_or_rule({"bonn": "west", "west": ""}, "city").rows
    (('bonn', 'west', '*'),)
    """
    if isinstance(source, Rule | Hierarchy):
        return source
    try:
        return _read(source)
    except InputError as error:
        raise error.about(f"column '{name}'") from None


def hierarchy_of(source: Any, values: Values, name: str) -> Hierarchy:
    """The hierarchy of a column with these values, from whatever a user gives for it.

    >>> from shoal.microdata.columns.hierarchies.rule import values_of
    >>> hierarchy_of("star", values_of(["m", None]), "sex").rows
    (('m', '*'), (None, '*'))
    """
    found = hierarchy_or_rule(source, name)
    if isinstance(found, Rule):
        return found.hierarchy(values, name)
    return found.with_missing() if values.has_missing else found


def _read(source: Any) -> Rule | Hierarchy:
    if isinstance(source, str | Path):
        return _from_text(source)
    if isinstance(source, Mapping):
        pairs = [(text_of(code), text_of(parent)) for code, parent in source.items()]
        return _built(rows_from_pairs(pairs))
    if isinstance(source, Sequence) and not isinstance(source, bytes):
        if not all(isinstance(row, Sequence) and not isinstance(row, str | bytes) and row for row in source):
            raise InputError("a hierarchy given by its rows needs a list for each value, with its labels")
        return _built([tuple(text_of(label) for label in row) for row in source])
    return from_frame(source)


def _from_text(source: str | Path) -> Rule | Hierarchy:
    if isinstance(source, str) and is_rule(source):
        return builder(source)
    path = Path(source)
    if not path.exists():
        raise InputError(f"there is no file '{source}', and no such rule; rules are: {', '.join(RULES)}")
    return read_hierarchy(path)


def _built(rows: Sequence[Row], origin: str = "as given") -> Hierarchy:
    try:
        return Hierarchy(rows, origin)
    except InputError as error:
        raise error.about("its hierarchy") from None


def from_frame(frame: Any, origin: str = "as given") -> Hierarchy:
    """A hierarchy from a frame with a record for each value and a column for each level, or with codes and parents.

    The names of columns are a value like the others where labels have them: the first line of a file was no header then.

    >>> import polars as pl
    >>> from_frame(pl.DataFrame({"31": [38, 47], "30-39": ["30-39", "40-49"], "*": ["*", "*"]}))
    Hierarchy(3 values, 2 levels, as given)
    """
    data = read_frame(frame)
    if [name.lower() for name in data.columns] == ["code", "parent"]:
        return _built(
            rows_from_pairs([(text_of(code), text_of(parent)) for code, parent in data.rows()]), origin
        )
    levels = [f"level {number}" for number in range(1, len(data.columns))]
    # Names that Shoal gives itself are no labels, whatever a label is called.
    rows = data.rows() if data.columns == ["value", *levels] else codes_and_labels(data.columns, data.rows())
    return _built([tuple(map(text_of, row)) for row in rows], origin)
