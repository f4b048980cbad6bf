"""The settings of ``compare``."""

from typing import Annotated, Literal

from pydantic import Field

from shoal.engines import EngineSettings
from shoal.runtime.settings import seed, threads, time_limit
from shoal.settings import (
    Column,
    Columns,
    Data,
    Groups,
    SeveralData,
    Spelling,
    UnitColumn,
    choice,
    counted_unit,
    setting,
    switch,
)
from shoal.written_values import split_names

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


Names = Annotated[list[str], Spelling("text", "a,b|none", split_names, ",".join)]


class CompareSettings(EngineSettings):
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
        otherwise="all that measure something, and categories and codes that were changed; the choice is printed",
    )
    categories: Columns | None = setting(
        None,
        "Columns of numbers that are codes: they are compared as categories.",
        label="Numbers that are codes",
        otherwise="numbers are numbers",
    )
    quasi: Columns | None = setting(
        None,
        "Columns over which K is counted.",
        label="Quasi-identifiers",
        otherwise="all in the protected data that could be known",
    )
    unit: UnitColumn | None = counted_unit()
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
        otherwise="all that is released and could be known",
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
    utility: Names | None = setting(
        None,
        "Measures of utility: pmse, marginals, coefficients, eigenvalues, classification, or none.",
        section=_MEASURES,
        label="Measures of utility",
        otherwise="all",
    )
    attacks: Names | None = setting(
        None,
        "Attacks: rank-windows, mahalanobis, mixed-linkage, likelihood, attribute-inference, membership, or none.",
        section=_MEASURES,
        label="Attacks",
        otherwise="all",
    )
    made: Literal["paired", "independent", "synthetic"] = choice(
        "How the release was made, for what pMSE is to be expected.",
        {
            "paired": "records were changed",
            "independent": "a new sample",
            "synthetic": "drawn from a model",
        },
        section=_MEASURES,
        label="How the release was made",
    )
    ways: int = setting(
        2,
        "How many columns are tabulated together at most.",
        section=_MEASURES,
        label="Columns tabulated together, at most",
        ge=1,
        le=4,
        served={"le": 3},
    )
    time_limit: float | None = time_limit(
        "Stop after this time; what was not measured is named, and passes no gate.", section=_MEASURES
    )
    seed: int = seed("")
    threads: int | None = threads("")
