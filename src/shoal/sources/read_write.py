"""One ``read`` and one ``write`` for files and database tables."""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, TypeAlias, Union

from shoal.errors import InputError, parameter
from shoal.sources.address import Address, FileAddress, parse, parse_database
from shoal.sources.data import Data, TextSigns

if TYPE_CHECKING:
    import polars as pl

# Each is a file or a table of its own: more are a slip of the finger.
MOST_TABLES = 10_000

DataLocation: TypeAlias = Union[str, "PathLike[str]", Address]


def read(
    address: DataLocation,
    *,
    columns: Sequence[str] | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header_row: int | None = None,
    like: Data | None = None,
) -> Data:
    """Read a file or a database table; ``columns`` are the ones wanted, in that order.

    ``separator``, ``decimal`` and ``encoding`` are of text files; what is not given is guessed and said in the notes.
    ``header_row`` is the line of a text file or the row of a sheet that holds the column names, counted from 1; 0 says
    that none does. If nobody says it, a first line that clearly is a record is refused.
    ``like`` is the data that the file was made from: where the order of day and month cannot be told from the dates
    themselves, it is taken to be the same.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "firms.csv"
    >>> _ = path.write_text(chr(10).join(["firm;turnover", "007;1,5", "008;2,25"]))
    >>> data = read(path)
    >>> data.frame.rows(), data.notes
    ([('007', 1.5), ('008', 2.25)], ("separator ';' (guessed)", 'decimal comma (guessed)'))
    """
    place = parse(address)
    if isinstance(place, FileAddress):
        from shoal.sources.files import read_file

        said = TextSigns(separator, decimal, encoding)
        return read_file(place, said, columns=columns, header_row=header_row, like=like)
    if header_row is not None:
        raise InputError(
            f"a table of a database has its own column names; {parameter('header_row')} is for files"
        )
    from shoal.sources.databases import read_table

    return read_table(place, columns=columns)


def read_list(address: DataLocation) -> Data:
    """Read a list that goes with data: cells, costs, codes with their parents.

    Where the first line cannot be names, the list has none, and its columns are called ``column1`` and so on. Nothing that is
    said of the data holds for it.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "codes.csv"
    >>> _ = path.write_text(chr(10).join(["11,10", "12,10"]))
    >>> read_list(path).frame.rows()
    [(11, 10), (12, 10)]
    """
    place = parse(address)
    if not isinstance(place, FileAddress):
        return read(place)
    from shoal.sources.dialect import NoNames
    from shoal.sources.files import read_file

    try:
        return read_file(place, check_names=False)
    except NoNames:
        return read_file(place, header_row=0)


def count(address: DataLocation, columns: Sequence[str]) -> Data | None:
    """The combinations of values in a table of a database, with how many records have each in the last column.

    The database counts, and sends no record. ``None`` for a file, which has to be read.

    >>> count("people.csv", ["zip", "age"]) is None
    True
    """
    place = parse(address)
    if isinstance(place, FileAddress):
        return None
    from shoal.sources.databases import count_combinations

    return count_combinations(place, columns)


def write(
    frame: "pl.DataFrame",
    address: DataLocation,
    *,
    force: bool = False,
    like: Data | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> None:
    """Write a file or a database table, whole or not at all; what exists is replaced only with ``force``.

    ``like`` is the data the frame was made from: its labels are kept, and a text file is written as it was.
    """
    place = parse(address)
    if not frame.width:
        raise InputError("there are no columns to write")
    if isinstance(place, FileAddress):
        from shoal.sources.files import write_file

        write_file(frame, place, TextSigns(separator, decimal, encoding), force=force, like=like)
    else:
        from shoal.sources.databases import write_table

        write_table(frame, place, force=force)


def check_writable(address: DataLocation, force: bool = False) -> None:
    """Refuse a place that cannot or must not be written to, before any work is done."""
    place = parse(address)
    if isinstance(place, FileAddress):
        from shoal.sources.files import check_file

        check_file(place, force)
    else:
        from shoal.sources.databases import check_table

        check_table(place, force)


def list_tables(url: str, *, called: str = "") -> tuple[str, ...]:
    """The tables and views of a database, given by its URL without a table; messages say what it is ``called``, if anything."""
    from shoal.sources.databases import table_names

    return table_names(replace(parse_database(url.removesuffix("::")), called=called))


def numbered(address: DataLocation, count: int) -> tuple[Address, ...]:
    """The addresses of several tables: one has the exact name, more get an index.

    >>> [str(address) for address in numbered("sqlite:///clinic.db::tabla", 3)]
    ['sqlite:///clinic.db::tabla0', 'sqlite:///clinic.db::tabla1', 'sqlite:///clinic.db::tabla2']
    >>> [str(address) for address in numbered("tabla.csv", 1)]
    ['tabla.csv']
    """
    if not 1 <= count <= MOST_TABLES:
        raise InputError(f"the number of tables must be 1 to {MOST_TABLES:,}, not {count:,}")
    place = parse(address)
    return (place,) if count == 1 else tuple(place.with_suffix_number(index) for index in range(count))
