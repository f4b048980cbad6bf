"""The settings of ``adjust``."""

from typing import Literal

from shoal.runtime.settings import SearchSettings, method, method_options
from shoal.settings import SHARE, Data, Options, choice, setting, switch
from shoal.tables.rounding.settings import secret, study_seed, table_argument
from shoal.tables.settings import LayoutSettings, TableSettings

_CHANGES = "What may change"


class AdjustSettings(TableSettings, LayoutSettings, SearchSettings):
    """The table, how far sensitive cells move, and what may move along."""

    data: Data = table_argument()
    weights: Literal["relative", "unity"] = choice(
        "What a change costs: its share of the figure, or its size.",
        {"relative": "its share of the figure", "unity": "its size"},
        section=_CHANGES,
        label="A change costs",
    )
    spread: float = setting(
        0.5,
        "How much further than its levels chance may move a sensitive cell, as a share of them.",
        section=_CHANGES,
        label="Further than the levels, at most by",
        metavar=SHARE,
        ge=0,
        le=10,
    )
    limit: float | None = setting(
        None,
        "The most that a cell which is not sensitive may change, as a share of its figure.",
        section=_CHANGES,
        label="Other cells change by at most",
        metavar=SHARE,
        otherwise="no limit",
        gt=0,
        lt=1,
    )
    keep_totals: bool = switch("Keep totals that are not sensitive.", section=_CHANGES, label="Keep totals")
    method: str = method("auto", "How to search")
    options: Options = method_options()
    secret: str | None = secret()
    seed: int | None = study_seed()  # type: ignore[assignment]
