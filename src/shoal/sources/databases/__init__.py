"""Tables of databases: SQLite, PostgreSQL, and MariaDB or MySQL (the servers need the extra ``databases``)."""

from shoal.sources.databases.counting import count_combinations
from shoal.sources.databases.reading import read_table, table_names
from shoal.sources.databases.writing import TableWriter, check_table, update_columns, write_table

__all__ = [
    "TableWriter",
    "check_table",
    "count_combinations",
    "read_table",
    "table_names",
    "update_columns",
    "write_table",
]
