"""The settings of ``perturb``."""

from typing import Annotated, Literal

from shoal.microdata.columns.settings import Ordinal
from shoal.runtime.settings import method_options
from shoal.settings import (
    SHARE,
    Column,
    Columns,
    Data,
    Options,
    Settings,
    Spelling,
    choice,
    data_argument,
    setting,
)

_AMOUNT = "How much"
_RECORDS = "Records and values"
_HOUSEHOLDS = "Households that are swapped"
_RANDOMNESS = "Randomness"


def _can_be_read(rules: list[str]) -> None:
    from shoal.microdata.perturbation.forbidden import read_forbidden

    read_forbidden(rules)


def _in_conditions(rules: list[str]) -> list[str]:
    return [part.partition("=")[0].strip() for rule in rules for part in rule.split(",")]


#: Rules that say one after the other what cannot be.
Rules = Annotated[
    list[str],
    Spelling(
        "rules",
        '"a=0..14,b=x|y"',
        lambda texts: texts.split(";") if isinstance(texts, str) else list(texts),
        ";".join,
        repeated=True,
        check=_can_be_read,
        names=_in_conditions,
    ),
]


class PerturbSettings(Settings):
    """What to change, and by how much."""

    data: Data = data_argument()
    method: str = setting(..., "How to change values; 'list' shows all methods.", max_length=40)
    columns: Columns | None = setting(
        None,
        "Columns to change ('*': every numeric one).",
        label="Columns to change",
        otherwise="all numbers that measure something; PRAM needs them named",
    )
    change: float | None = setting(
        None,
        "The share of values to change by PRAM.",
        section=_AMOUNT,
        label="Share of values to change",
        metavar=SHARE,
        otherwise="0.2",
        gt=0,
        lt=1,
    )
    window: float | None = setting(
        None,
        "How far a rank swap may move a value, in percent of the records.",
        section=_AMOUNT,
        label="Window of ranks, %",
        metavar="PERCENT",
        otherwise="5",
        gt=0,
        le=100,
    )
    amount: float | None = setting(
        None,
        "How large noise is, in percent of a standard deviation.",
        section=_AMOUNT,
        label="Size of the noise, % of a deviation",
        metavar="PERCENT",
        otherwise="10",
        gt=0,
        le=1000,
    )
    share: float | None = setting(
        None,
        "The least share of households that a record swap moves.",
        section=_AMOUNT,
        label="Least share of households to swap",
        metavar=SHARE,
        otherwise="0.05",
        ge=0,
        le=1,
    )
    options: Options = method_options()
    by: Columns = setting([], "Change values within these strata.", section=_RECORDS, label="Strata")
    ordinal: Ordinal = setting(
        [],
        "Columns whose order counts, for a rank swap; texts need their order.",
        section=_RECORDS,
        label="Orders of texts",
    )
    forbid: Rules = setting(
        [],
        "A combination that cannot be, which PRAM never releases; may be repeated.",
        section=_RECORDS,
        label="Combinations that cannot be",
    )
    matrix: str | None = setting(
        None,
        "A transition matrix of PRAM for one column, as CSV.",
        section=_RECORDS,
        metavar="FILE",
        only="command",
    )
    key: Column | None = setting(
        None,
        "The column that tells the records apart.",
        section=_RECORDS,
        label="Key of the records",
        otherwise="all values of a record together",
    )
    drop: Columns | None = setting(
        None, "Identifiers to remove.", section=_RECORDS, label="Columns to remove"
    )
    order: Literal["keep", "sorted"] = choice(
        "Order of the released records.",
        {"keep": "as it was", "sorted": "sorted"},
        section=_RECORDS,
        label="Order of the released records",
    )
    household: Column | None = setting(
        None, "Whose records are of one household.", section=_HOUSEHOLDS, label="Household"
    )
    regions: Columns = setting(
        [],
        "Where a household is, from the coarsest to the finest column.",
        section=_HOUSEHOLDS,
        label="Regions, coarsest first",
    )
    quasi: Columns = setting(
        [], "Key variables: columns an intruder may know.", section=_HOUSEHOLDS, label="Quasi-identifiers"
    )
    secret: str | None = setting(
        None,
        "Repeat a release with the secret in this file; a new one is written there if there is none. Internal.",
        section=_RANDOMNESS,
        metavar="FILE",
        only="command",
    )
    seed: int | None = setting(
        None,
        "A seed in place of a secret, for studies: screen, report and JSON say 'not for release', the records do not.",
        section=_RANDOMNESS,
        otherwise="a secret of the operating system",
        ge=0,
        served={"le": 2**53 - 1},
    )
