"""The settings of ``round``."""

from typing import Literal

from shoal.runtime.settings import SearchSettings, method, method_options
from shoal.settings import Data, Options, choice, setting
from shoal.tables.rounding.controlled_rounding.problem import MOST_STEPS
from shoal.tables.rounding.settings import secret, study_seed, table_argument
from shoal.tables.settings import LayoutSettings, TableSettings

_ROUNDING = "How to round"


class RoundSettings(TableSettings, LayoutSettings, SearchSettings):
    """The table, the base, and what must stay uncertain."""

    data: Data = table_argument()
    base: float = setting(
        ..., "What every figure becomes a multiple of.", label="Base", metavar="B", gt=0, le=1e15
    )
    objective: Literal["random", "nearest"] = choice(
        "What is best: near to where chance would round each cell without bias, or near to the true figures.",
        {"random": "rounded by chance, without bias", "nearest": "as near to the true figures as possible"},
        section=_ROUNDING,
        label="Rounded",
    )
    steps: int | None = setting(
        None,
        "A figure stays less than this many bases from the true one.",
        section=_ROUNDING,
        label="Less than so many bases away",
        otherwise="1, and more only where nothing else adds up",
        ge=1,
        le=MOST_STEPS,
    )
    small_totals: bool = setting(
        default=False,
        sentence="Round totals that are smaller than the base, too: 0 or the base is left of them.",
        section=_ROUNDING,
        label="Totals may be smaller than the base",
    )
    method: str = method("exact", "How to search")
    options: Options = method_options()
    secret: str | None = secret()
    seed: int | None = study_seed()  # type: ignore[assignment]
