"""The settings of ``group``."""

from typing import Literal

from shoal.runtime.settings import SearchSettings, method, method_options, target
from shoal.settings import Columns, Data, Groups, Options, choice, data_argument, setting, smallest, switch

_SCORING = "Scoring, gaps"


class GroupSettings(SearchSettings):
    """The columns, k and how groupings are scored."""

    data: Data = data_argument()
    columns: Columns | None = setting(
        None,
        "Columns to group ('*': every numeric one).",
        label="Columns to group",
        otherwise="all that measure something; the choice is printed",
    )
    k: int = smallest(25, "Smallest number of records in a cluster.")
    groups: Groups | None = setting(
        None, "Score these groups, search nothing.", label="Groups to score", otherwise="search for them"
    )
    variant: Literal["compatible", "literal"] = choice(
        "Score as in the published tables or their text.",
        {"compatible": "as in the published tables", "literal": "as in their text"},
        section=_SCORING,
        label="Score",
    )
    bounds: Literal["compatible", "strict"] = choice(
        "May the last cluster be below k when scoring.",
        {"compatible": "may be below k when scoring", "strict": "has k records too"},
        section=_SCORING,
        label="The last cluster",
    )
    loss_weight: float = setting(
        0.5,
        "How much of the score is loss (0 to 1); the rest is risk.",
        section=_SCORING,
        label="Weight of the loss in the score",
        ge=0.0,
        le=1.0,
    )
    missing: Literal["aside", "refuse"] = choice(
        "Records with missing values.",
        {"aside": "are left out of the search", "refuse": "are refused"},
        section=_SCORING,
        label="Records with gaps",
    )
    alone: bool = switch(
        "Also search with each genetic operator alone, for the report.",
        section=_SCORING,
        label="Also search with each operator alone, for the report",
    )
    method: str = method("d-gomm", "How to find the groups")
    options: Options = method_options()
    target: float | None = target("score", metavar="SCORE", most=1e9)
