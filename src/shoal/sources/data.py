"""What ``read`` gives back: the frame, where it came from, and what a frame alone would lose."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shoal.errors import unknown
from shoal.exact_names import exactly

if TYPE_CHECKING:
    import polars as pl

    from shoal.sources.address import Address


@dataclass(frozen=True)
class Dialect:
    """How a text file is written; ``dates`` are the columns of dates in another form than ISO (``%d/%m/%Y``)."""

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    newline: str = "\n"
    dates: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TextSigns:
    """What somebody said of a text file: its signs by themselves or by name. The rest is guessed, or stays as it was."""

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None


@dataclass(frozen=True)
class Labels:
    """What a file of SPSS, Stata or SAS says about its variables beyond their values.

    ``missing`` holds the codes declared missing (``{"lo": …, "hi": …}`` or a single value); the frame has nulls in
    their place. ``formats``, ``measures`` and ``widths`` are words of the format the file was read from.
    """

    format: str
    file: str = ""
    notes: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    missing: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Data:
    """A frame as it was read. ``notes`` are one-line remarks on what was guessed; they hold no value of the data.

    ``warnings`` are remarks that nobody should miss: that values may have been taken for column names.
    """

    frame: "pl.DataFrame"
    address: "Address"
    notes: tuple[str, ...] = ()
    labels: Labels | None = None
    dialect: Dialect | None = None
    warnings: tuple[str, ...] = ()

    @property
    def as_written(self) -> "pl.DataFrame":
        """The frame with its dates as the file wrote them, for those who use them as names and codes."""
        forms = {} if self.dialect is None else self.dialect.dates

        return self.frame.with_columns(
            exactly(name).dt.to_string(form) for name, form in forms.items() if name in self.frame.columns
        )

    def __repr__(self) -> str:
        """The size and the place; never the records, which may be confidential."""
        return f"Data({self.frame.height} records × {self.frame.width} columns from {self.address})"


def chosen(columns: Sequence[str] | None, names: Collection[str], where: str) -> list[str]:
    """The columns that were asked for, each once, or all there are; an ``InputError`` for one that is not there.

    >>> chosen(["b", "a", "b"], ["a", "b", "c"], "in the data"), chosen(None, ["a", "b"], "in the data")
    (['b', 'a'], ['a', 'b'])
    """
    if columns is None:
        return list(names)
    known = set(names)
    for column in columns:
        if column not in known:
            raise unknown("column", column, names, where=where)
    return list(dict.fromkeys(columns))
