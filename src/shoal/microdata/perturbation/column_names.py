"""Names of columns as an option of a method."""

from typing import Annotated, Any

from pydantic import BeforeValidator


def _split(given: Any) -> Any:
    return tuple(name.strip() for name in given.split(",")) if isinstance(given, str) else given


#: Names of columns: several, or one text in which commas part them, as the command line has it.
ColumnNames = Annotated[tuple[str, ...], BeforeValidator(_split)]
