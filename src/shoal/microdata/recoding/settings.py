"""The settings of ``recode``."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from shoal.engines import EngineSettings
from shoal.microdata.columns.settings import HierarchyTexts, Ordinal
from shoal.microdata.models.settings import MODELS_IN_WORDS, Models
from shoal.runtime.settings import SearchSettings, method, method_options
from shoal.settings import (
    SHARE,
    Column,
    Columns,
    Data,
    Options,
    Spelling,
    UnitColumn,
    Weights,
    accepted_wildcard,
    counted_unit,
    data_argument,
    setting,
    switch,
)
from shoal.written_values import split_weights

_DEMANDS = "What must hold"
_KEYS = "Keys and loss"
_RECORDS = "Records"


def _split_levels(text: str) -> dict[str, int]:
    levels = split_weights(text)
    if any(not level.is_integer() for level in levels.values()):
        raise ValueError("needs whole numbers, like age=2,sex=0")
    return {name: int(level) for name, level in levels.items()}


#: A level for each of some columns.
LevelsByName: TypeAlias = Annotated[
    dict[str, Annotated[int, Field(ge=0, le=1000)]],
    Spelling(
        "weights",
        "a=2,b=0",
        _split_levels,
        lambda levels: ",".join(f"{name}={level}" for name, level in levels.items()),
        names=list,
    ),
]


class RecodeSettings(SearchSettings, EngineSettings):
    """Which keys to recode, what must hold after, and what may be lost."""

    data: Data = data_argument()
    quasi: Columns = setting(
        ...,
        "Key variables (quasi-identifiers): columns an intruder may know.",
        metavar="a,b,c",
        label="Keys",
        min_length=1,
    )
    k: int = setting(
        5,
        "Least size of a class: records, or units, that share their keys.",
        short="-k",
        label="k, least size of a class",
        ge=1,
        le=10**9,
        served={"le": 10**6},
    )
    hierarchies: HierarchyTexts = setting(
        {},
        "What the values of a key become: a file, or a rule like intervals(5,10,20,top=85); may be repeated.",
        flag="--hierarchy",
        label="Hierarchies",
        metavar="a=FILE|RULE",
        otherwise="built for each key; the rule is printed",
    )
    suppress: float = setting(
        0.0,
        "Largest share of records, or units, that may be left out.",
        label="Share that may be left out",
        metavar=SHARE,
        ge=0,
        le=1,
    )
    models: Models = setting(
        [],
        f"A further demand: {MODELS_IN_WORDS}; may be repeated.",
        section=_DEMANDS,
        flag="--model",
        label="Models",
    )
    confidential: Columns = setting(
        [],
        "Columns that models of values are about.",
        section=_DEMANDS,
        label="Confidential columns",
    )
    population: Data | None = setting(
        None,
        "Everybody, with the same keys, for k-map and presence.",
        section=_DEMANDS,
        flag="--population-file",
        label="Population",
    )
    unit: UnitColumn | None = counted_unit("Count distinct units in k.", section=_DEMANDS)
    household: Column | None = setting(
        None,
        "Records of one household: what members share is told of all alike.",
        section=_DEMANDS,
        label="Household",
    )
    null: Literal["own", "wildcard"] = setting(
        "own",
        "A blank is a value of its own, or matches any (as in sdcMicro; protects less).",
        section=_DEMANDS,
        label="A blank",
        words={"own": "is a value of its own", "wildcard": "matches any value (protects less)"},
    )
    accept_wildcard: bool = accepted_wildcard(_DEMANDS)
    ordinal: Ordinal = setting(
        [], "Keys whose values have an order; texts need it stated.", section=_KEYS, label="Orders of values"
    )
    measure: Literal["loss", "entropy", "discernibility", "class-size", "cells"] = setting(
        "loss",
        "What is to be as small as possible.",
        section=_KEYS,
        label="Loss",
        words={
            "loss": "share of values a label stands for",
            "entropy": "bits to the original values",
            "discernibility": "records that look alike",
            "class-size": "records for each class",
            "cells": "values that change",
        },
    )
    weights: Weights | None = setting(
        None, "Importance of keys.", section=_KEYS, flag="--importance", label="Importance of keys"
    )
    stay: Columns = setting([], "Keys that must stay as they are.", section=_KEYS, label="Keys that stay")
    levels: LevelsByName | None = setting(
        None,
        "Recode by hand: these levels, 0 for keys not named.",
        section=_KEYS,
        label="Levels by hand",
    )
    uniform: bool = switch(
        "One level for each key, and blanks; for software that cannot read mixed levels.",
        section=_KEYS,
        label="One level for each key",
    )
    apply: str | None = setting(
        None,
        "Apply the recoding of an earlier release.",
        section=_KEYS,
        metavar="MAPPING",
        only="command",
    )
    by: Columns = setting([], "Strata that are recoded each on its own.", section=_RECORDS, label="Strata")
    average: Columns = setting(
        [],
        "Numeric columns to average within the classes.",
        section=_RECORDS,
        label="Columns to average within classes",
    )
    drop: Columns | None = setting(
        None, "Identifiers to remove.", section=_RECORDS, label="Columns to remove"
    )
    keep_suppressed: bool = switch(
        "Release those who are left out with all keys blank.",
        section=_RECORDS,
        label="Release those left out without keys",
    )
    sample_weights: Column | None = setting(
        None,
        "How much of the population a record stands for, in the margins of the report.",
        section=_RECORDS,
        label="Sample weights",
    )
    order: Literal["keep", "sorted"] = setting(
        "keep",
        "Order of the released records.",
        section=_RECORDS,
        label="Order of the released records",
        words={"keep": "as it was", "sorted": "sorted"},
    )
    secret: str | None = setting(
        None,
        "Repeat, with the secret in this file, which of several equal records loses a value; a new one is written there if there "
        "is none. Internal.",
        section="Search",
        metavar="FILE",
        only="command",
    )
    method: str = method("auto", "How to recode")
    options: Options = method_options()
    explain: bool = switch(
        "Show what one level finer would cost, and loss against what is left out.",
        section="Result",
        label="Explain the choice",
    )
