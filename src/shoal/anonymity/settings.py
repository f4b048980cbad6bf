"""The settings of ``anonymity``."""

from typing import Literal

from shoal.settings import (
    Column,
    Columns,
    Settings,
    SeveralData,
    choice,
    counted_unit,
    data_argument,
    required_k,
    setting,
    switch,
)

# Beyond this many records the exact rank takes noticeable time and has thousands of digits.
RANKED_BY_DEFAULT = 20_000

_COUNTING = "What is counted"
_RESULT = "Result"


class AnonymitySettings(Settings):
    """Which tables, and which columns somebody may know of a person."""

    data: SeveralData = data_argument(
        "Files, or URL::table of a database.",
        metavar="DATA…",
        label="Data (several tables at once)",
        min_length=1,
        served={"max_length": 100},
    )
    quasi: Columns = setting(
        ...,
        "The columns somebody may know of a person.",
        metavar="a,b,c",
        label="Quasi-identifiers",
        min_length=1,
    )
    tables: int = setting(
        1, "Number of tables: DATA0, DATA1, … (1: DATA itself).", only="command", ge=1, le=10_000
    )
    unit: Column | None = counted_unit("Whose records these are: K counts distinct units.", section=_COUNTING)
    null: Literal["own", "wildcard"] = choice(
        "A missing value is a value of its own, or matches any.",
        {"own": "is a value of its own", "wildcard": "matches any value"},
        section=_COUNTING,
        label="A missing value",
    )
    confidential: Column | None = setting(
        None,
        "Also measure the diversity of this column.",
        section=_COUNTING,
        label="Diversity of a confidential column",
        otherwise="none",
    )
    rank: bool = switch(
        f"Compute the exact rank above {RANKED_BY_DEFAULT:,} records too.",
        section=_RESULT,
        label="Exact rank of large tables",
    )
    show_values: bool = switch(
        "Show the smallest classes by value (confidential!).", section=_RESULT, only="command"
    )
    require_k: int | None = required_k("Exit with 3 if K is below this.", section=_RESULT)
