"""The settings of ``risk``."""

from typing import Literal

from shoal.runtime.settings import time_limit
from shoal.settings import (
    Column,
    Columns,
    Data,
    Settings,
    UnitColumn,
    accepted_wildcard,
    choice,
    counted_unit,
    data_argument,
    setting,
    switch,
)

_POPULATION = "The population"
_LIST = "A list of names"
_COUNTING = "What is counted"
_SPECIAL = "Special uniques"
_RESULT = "Result"


class RiskSettings(Settings):
    """Which records, which keys, and what is known of the population behind them."""

    data: Data = data_argument()
    quasi: Columns = setting(
        ...,
        "Key variables (quasi-identifiers): columns an intruder may know.",
        metavar="a,b,c",
        label="Keys",
        min_length=1,
    )
    sample_weights: Column | None = setting(
        None,
        "How much of the population a record stands for.",
        section=_POPULATION,
        label="Sample weights",
        otherwise="every record stands for equally many",
    )
    population: int | None = setting(
        None,
        "How large the population is.",
        section=_POPULATION,
        label="Size of the population",
        otherwise="the sum of the weights",
        ge=1,
        le=10**12,
    )
    population_file: Data | None = setting(
        None,
        "Everybody, with the same keys: counted, nothing is estimated.",
        section=_POPULATION,
        label="Population",
    )
    listed: Data | None = setting(
        None,
        "Names with the same keys, as somebody else may have them: how many of them the data re-identifies.",
        section=_LIST,
        label="List of names",
        flag="--list",
        metavar="FILE",
    )
    unit: UnitColumn | None = counted_unit("Identifies the unit a record belongs to.", section=_COUNTING)
    household: Column | None = setting(
        None,
        "Records of one household: who finds one member finds all.",
        section=_COUNTING,
        label="Household",
        otherwise="every record stands alone",
    )
    null: Literal["own", "wildcard"] = choice(
        "A missing value is a value of its own, or matches any.",
        {"own": "is a value of its own", "wildcard": "matches any value"},
        section=_COUNTING,
        label="A missing value",
    )
    respondents: Literal["known", "unknown"] = choice(
        "Whether an intruder may know who responded: then what is required must hold for 1/f, too.",
        {"known": "may be known to an intruder", "unknown": "are known to nobody"},
        section=_COUNTING,
        label="Those who responded",
    )
    special_uniques: bool = switch(
        "Look for special uniques: records that few keys single out.",
        section=_SPECIAL,
        label="Special uniques",
    )
    max_size: int | None = setting(
        None,
        "Largest number of keys that special uniques are looked for in.",
        section=_SPECIAL,
        label="Most keys of a special unique",
        otherwise="all keys",
        ge=1,
        le=62,
    )
    time_limit: float | None = time_limit(
        "Stop after this time; what was not measured is named, and passes no gate.", section=_COUNTING
    )
    riskiest: int = setting(
        10,
        "How many of the riskiest records to list, by their position.",
        section=_RESULT,
        label="Riskiest records listed",
        ge=0,
        le=1000,
    )
    show_values: bool = switch(
        "Show the keys of the riskiest records (confidential!).", section=_RESULT, only="command"
    )
    accept_wildcard: bool = accepted_wildcard(_RESULT)
    require_reidentifications: float | None = setting(
        None,
        "Exit with 3 if more correct matches may be expected, by the upper end of the interval.",
        section=_RESULT,
        label="Most expected re-identifications",
        ge=0,
        le=10**12,
    )
    require_risk: float | None = setting(
        None,
        "Exit with 3 if somebody's risk may be above this, by the upper end of its interval.",
        section=_RESULT,
        label="Largest risk allowed",
        ge=0,
        le=1,
    )
