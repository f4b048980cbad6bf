"""Where data comes from and goes to: files and database tables behind one ``read`` and one ``write``.

A place is named by one string: a file (``people.csv``) or a table of a database (``sqlite:///clinic.db::people``).

>>> import tempfile, pathlib, polars as pl
>>> from shoal import sources
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> sources.write(pl.DataFrame({"zip": ["02139", "10001"], "age": [31, 47]}), folder / "people.csv")
>>> sources.read(folder / "people.csv").frame.rows()
[('02139', 31), ('10001', 47)]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.sources.address import Address, FileAddress, TableAddress, parse
    from shoal.sources.atomic import atomically
    from shoal.sources.data import Data, Dialect, Labels
    from shoal.sources.databases import update_columns
    from shoal.sources.outputs import Output, Outputs
    from shoal.sources.read_write import check_writable, count, list_tables, numbered, read, read_list, write

_LAZY = {
    "Address": "shoal.sources.address",
    "Data": "shoal.sources.data",
    "Dialect": "shoal.sources.data",
    "FileAddress": "shoal.sources.address",
    "Labels": "shoal.sources.data",
    "Output": "shoal.sources.outputs",
    "Outputs": "shoal.sources.outputs",
    "TableAddress": "shoal.sources.address",
    "atomically": "shoal.sources.atomic",
    "check_writable": "shoal.sources.read_write",
    "count": "shoal.sources.read_write",
    "list_tables": "shoal.sources.read_write",
    "numbered": "shoal.sources.read_write",
    "parse": "shoal.sources.address",
    "read": "shoal.sources.read_write",
    "read_list": "shoal.sources.read_write",
    "update_columns": "shoal.sources.databases",
    "write": "shoal.sources.read_write",
}

__all__ = [
    "Address",
    "Data",
    "Dialect",
    "FileAddress",
    "Labels",
    "Output",
    "Outputs",
    "TableAddress",
    "atomically",
    "check_writable",
    "count",
    "list_tables",
    "numbered",
    "parse",
    "read",
    "read_list",
    "update_columns",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'shoal.sources' has no attribute {name!r}")
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_LAZY))
