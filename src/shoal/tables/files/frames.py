"""Frames as they are given: of any library, with an index of pandas, or as the path of a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError
from shoal.exact_names import refuse_patterns

if TYPE_CHECKING:
    import narwhals as nw


def as_frame(data: Any, what: str) -> "nw.DataFrame[Any]":
    """The frame, read if it is the path of a file; ``what`` it is goes into the message if it is neither.

    >>> import polars as pl
    >>> as_frame(pl.DataFrame({"a": [1]}), "the table").columns
    ['a']
    """
    import narwhals as nw

    if isinstance(data, str | Path):
        from shoal import sources

        data = sources.read(str(data)).as_written
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        raise InputError(
            f"{what} must be a frame (pandas, Polars, Arrow) or the path of a file, not {type(data).__name__}"
        ) from None
    refuse_patterns(frame.columns, what)
    return frame


def as_list(data: Any, names: Sequence[str], what: str) -> "nw.DataFrame[Any]":
    """A list of cells with the columns ``names``, which are in the index of pandas or are named by the first line of a file."""
    if isinstance(data, str | Path):
        from shoal import sources

        data = sources.read_list(str(data)).as_written
    frame = as_frame(_with_coordinates(data, names), what)
    for name in names:
        if name not in frame.columns:
            raise InputError(f"{what} lacks the column '{name}'; the first line of a list names its columns")
    return frame


def with_row_names(data: Any) -> Any:
    """A matrix of pandas with its index as the first column, where that is what names the rows.

    Rows that were filtered or sorted keep their old numbers as an index; beside a column of texts those name nothing.
    """
    import narwhals as nw

    if not nw.dependencies.is_pandas_dataframe(data):
        return data
    data = data.set_axis([str(name) for name in data.columns], axis=1)
    index = data.index
    numbered = index.name is None and index.nlevels == 1 and index.dtype.kind in "iu"
    if numbered and (list(index) == list(range(len(index))) or data.iloc[:, 0].dtype.kind not in "iufb"):
        return data
    if index.nlevels == 1 and index.name is None:
        data = data.rename_axis("row")
    return data.reset_index()


def _with_coordinates(data: Any, names: Sequence[str]) -> Any:
    """A list of cells of pandas with those coordinates as columns that are in its index."""
    import narwhals as nw

    if not nw.dependencies.is_pandas_dataframe(data):
        return data
    return data.reset_index() if set(data.index.names) & set(names) - set(data.columns) else data
