"""The settings of ``anonymity``."""

from typing import Literal

from shoal.engines import EngineSettings
from shoal.microdata.columns.settings import HierarchyTexts, Ordinal
from shoal.microdata.models.settings import MODELS_IN_WORDS, Models
from shoal.settings import (
    Columns,
    Data,
    SeveralData,
    UnitColumn,
    accepted_wildcard,
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
_MODELS = "Confidential values and models"
_RESULT = "Result"


class AnonymitySettings(EngineSettings):
    """Which tables, and which columns an intruder may know."""

    data: SeveralData = data_argument(
        "Files, or URL::table of a database.",
        metavar="DATA…",
        label="Data (several tables at once)",
        min_length=1,
        served={"max_length": 100},
    )
    quasi: Columns = setting(
        ...,
        "Key variables (quasi-identifiers): columns an intruder may know.",
        metavar="a,b,c",
        label="Quasi-identifiers",
        min_length=1,
    )
    tables: int = setting(
        1, "Number of tables: DATA0, DATA1, … (1: DATA itself).", only="command", ge=1, le=10_000
    )
    unit: UnitColumn | None = counted_unit(
        "Identifies the unit a record belongs to; K counts distinct units.", section=_COUNTING
    )
    null: Literal["own", "wildcard"] = choice(
        "A missing value is a value of its own, or matches any.",
        {"own": "is a value of its own", "wildcard": "matches any value"},
        section=_COUNTING,
        label="A missing value",
    )
    confidential: Columns = setting(
        [],
        "Columns whose diversity is measured, and that models of values are about.",
        section=_MODELS,
        label="Confidential columns",
    )
    models: Models = setting(
        [],
        f"Measure a model in every class: {MODELS_IN_WORDS}; may be repeated.",
        section=_MODELS,
        flag="--model",
        label="Models",
    )
    require_models: bool = switch(
        "Exit with 3 if a class fails a model.", section=_MODELS, label="Models must hold"
    )
    hierarchies: HierarchyTexts = setting(
        {},
        "For closeness(t,hierarchical): what confidential values become, a file or a rule; may be repeated.",
        section=_MODELS,
        flag="--hierarchy",
        label="Hierarchies of confidential columns",
        metavar="c=FILE|RULE",
    )
    ordinal: Ordinal = setting(
        [],
        "For closeness(t,ordered): confidential columns with an order; texts need it stated.",
        section=_MODELS,
        label="Orders of confidential values",
    )
    population: Data | None = setting(
        None,
        "Everybody, with the same columns, for k-map and presence.",
        section=_MODELS,
        flag="--population-file",
        label="Population",
    )
    reference: Data | None = setting(
        None,
        "For closeness and likeness: whose shares a class is held against, of a release the original data.",
        section=_MODELS,
        label="Reference",
        otherwise="the table itself",
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
    accept_wildcard: bool = accepted_wildcard(_RESULT)
