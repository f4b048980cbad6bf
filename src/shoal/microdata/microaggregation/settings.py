"""The settings of ``microaggregate``."""

from typing import Literal

from shoal.engines import EngineSettings
from shoal.microdata.columns.settings import GroupsOrAuto, Ordinal
from shoal.runtime.settings import SearchSettings, bound, method, method_options, target
from shoal.settings import (
    Column,
    Columns,
    Data,
    Options,
    UnitColumn,
    Weights,
    choice,
    counted_unit,
    data_argument,
    required_k,
    setting,
    smallest,
)

_RECORDS = "Records and values"
_RISK = "What could be known"


class MicroaggregateSettings(SearchSettings, EngineSettings):
    """What to protect and how."""

    data: Data = data_argument()
    columns: Columns | None = setting(
        None,
        "Columns to protect ('*': every numeric one).",
        label="Columns to protect",
        otherwise="all that measure something; the choice is printed",
    )
    groups: GroupsOrAuto | None = setting(
        None, "Protect these columns group by group; auto finds the groups.", label="Protected"
    )
    k: int = smallest(5, "Smallest number of equal records.")
    quasi: Columns | None = setting(
        None,
        "Columns over which K of the release is counted.",
        section=_RISK,
        label="Quasi-identifiers",
        otherwise="all released ones that could be known; the choice is printed",
    )
    unit: UnitColumn | None = counted_unit("Count distinct units in K and in every group.", section=_RISK)
    require_k: int | None = required_k("Release nothing if K of the release is below this.", section=_RISK)
    ordinal: Ordinal = setting(
        [],
        "Columns whose order counts, not their values; texts need their order.",
        section=_RECORDS,
        label="Orders of texts",
    )
    nominal: Columns = setting(
        [],
        "Categories without an order: a group gets its most frequent one ('*': all that could be known).",
        section=_RECORDS,
        label="Categories without an order",
    )
    by: Columns = setting(
        [], "Strata no group may cross.", section=_RECORDS, label="Strata no group may cross"
    )
    drop: Columns | None = setting(
        None, "Identifiers to remove.", section=_RECORDS, label="Columns to remove"
    )
    missing: Literal["refuse", "aside", "impute", "value"] | None = setting(
        None,
        "Records with gaps: refuse, do not release, fill in, or take a gap for a value.",
        section=_RECORDS,
        label="Records with gaps",
        words={
            "refuse": "are refused",
            "aside": "are set aside, not released",
            "impute": "are filled in",
            "value": "have a value of its own there",
        },
        otherwise="refuse; value where there are categories without an order",
    )
    aggregate: Literal["mean", "median", "rounded-mean"] | None = setting(
        None,
        "What stands for a group.",
        section=_RECORDS,
        label="A group is replaced by",
        words={"mean": "its mean", "median": "its median", "rounded-mean": "its mean, rounded"},
        otherwise="mean; rounded-mean where there are categories without an order",
    )
    largest: int | None = setting(
        None,
        "Most records in a group.",
        section=_RECORDS,
        label="Most records in a group",
        otherwise="no limit",
        ge=2,
        le=10**9,
    )
    sample_weights: Column | None = setting(
        None, "How much of the population a record stands for.", section=_RECORDS, label="Sample weights"
    )
    attribute_weights: Weights | None = setting(
        None, "Importance in the distance.", section=_RECORDS, label="Importance of columns"
    )
    order: Literal["keep", "sorted"] = choice(
        "Order of the released records.",
        {"keep": "as it was", "sorted": "sorted"},
        section=_RECORDS,
        label="Order of the released records",
    )
    method: str = method("auto", "How to find the groups")
    options: Options = method_options()
    start: str | None = setting(
        None, "Begin from these groups.", section="Search", metavar="LABELS", only="command"
    )
    target: float | None = target("loss", ", %")
    bound: bool = bound("how little any grouping could lose")
