"""The settings of ``compare``."""

from typing import Annotated, Literal

from pydantic import Field

from shoal.search.settings import seed, threads
from shoal.settings import (
    Column,
    Columns,
    Data,
    Groups,
    Settings,
    SeveralData,
    Spelling,
    choice,
    counted_unit,
    setting,
    split_names,
    switch,
)

_PAIRING = "How records belong together"
_MEASURES = "Measures"


def _percentages(text: str) -> list[float]:
    try:
        return [float(part) for part in split_names(text)]
    except ValueError:
        raise ValueError(f"needs percentages, like 1,5,10, not '{text}'") from None


Percentages = Annotated[
    list[Annotated[float, Field(gt=0, le=1e6)]],
    Spelling("text", "PERCENT,…", _percentages, lambda widths: ",".join(f"{width:g}" for width in widths)),
]


class CompareSettings(Settings):
    """Which data before and after protection, how their records belong together, and what is measured."""

    original: Data = setting(..., "The data before protection.", argument=True, metavar="ORIGINAL")
    protected: SeveralData = setting(
        ...,
        "The data after it; several are compared.",
        argument=True,
        metavar="PROTECTED…",
        min_length=1,
        served={"max_length": 100},
    )
    columns: Columns | None = setting(
        None,
        "Columns to compare ('*': every numeric one).",
        label="Columns to compare",
        otherwise="all that measure something; the choice is printed",
    )
    quasi: Columns | None = setting(
        None,
        "Columns over which K is counted.",
        label="Quasi-identifiers",
        otherwise="all in the protected data that could be known",
    )
    unit: Column | None = counted_unit()
    max_risk: float | None = setting(
        None,
        "Exit with 3 if the worst risk is above.",
        label="Largest risk allowed, %",
        metavar="PERCENT",
        ge=0,
        le=100,
    )
    key: Column | None = setting(
        None, "Pair records by this column of both tables.", section=_PAIRING, only="command"
    )
    record_links: SeveralData = setting(
        [],
        "Pair records by the links that protecting wrote; one file for each release.",
        section=_PAIRING,
        metavar="FILE",
        only="command",
    )
    paired_by_position: bool = switch(
        "The tables hold the same records in the same order; this is checked.",
        section=_PAIRING,
        only="command",
    )
    known: Groups | None = setting(
        None,
        "Sets of columns an intruder may know.",
        section=_MEASURES,
        metavar='"a,b;a,c"',
        label="What an intruder may know",
        otherwise="all columns",
    )
    scaling: Literal["min-max", "z-score", "none"] = setting(
        "min-max", "Scale before distances.", section=_MEASURES
    )
    around: Literal["protected", "original"] = choice(
        "What intervals lie around.",
        {"protected": "the protected value", "original": "the original value"},
        section=_MEASURES,
        label="Intervals lie around",
    )
    widths: Percentages = setting(
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
        "Half widths of the intervals.",
        section=_MEASURES,
        label="Half widths of the intervals, %",
        min_length=1,
    )
    ties: Literal["expected", "strict"] = choice(
        "A tie counts by its chance, or as no link.",
        {"expected": "by its chance", "strict": "as no link"},
        section=_MEASURES,
        label="A tie counts",
    )
    within: float | None = setting(
        None,
        "Values agree within this many standard deviations.",
        section=_MEASURES,
        label="Values agree within, sd",
        metavar="SD",
        otherwise="in the same tenth",
        ge=0,
        le=1e6,
    )
    seed: int = seed("")
    threads: int | None = threads("")
