"""Names of columns as an option of a method."""

from typing import Annotated, Any

from pydantic import BeforeValidator


def _split(text: Any) -> Any:
    return tuple(name.strip() for name in text.split(",")) if isinstance(text, str) else text


#: Names of columns: several, or one text in which commas part them, as the command line has it.
ColumnNames = Annotated[tuple[str, ...], BeforeValidator(_split)]
