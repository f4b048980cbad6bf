"""The settings that every search has."""

from shoal.search.budget import MOST_ITERATIONS, MOST_SECONDS
from shoal.search.threads import MOST
from shoal.settings import Settings, setting

_SECTION = "Search"


class SearchSettings(Settings):
    """How long to search, where randomness begins, and on how many cores."""

    iterations: int | None = setting(
        None,
        "Stop after this much work with the best found.",
        section=_SECTION,
        otherwise="usual",
        ge=0,
        le=MOST_ITERATIONS,
        served={"le": 10**12},
    )
    time_limit: float | None = setting(
        None,
        "Stop after this time with the best found.",
        section=_SECTION,
        label="Time limit, s",
        metavar="SECONDS",
        gt=0,
        le=MOST_SECONDS,
        served={"le": 7 * 86400},
    )
    seed: int = setting(
        0,
        "Where randomness begins; the same seed gives the same result.",
        section=_SECTION,
        ge=0,
        served={"le": 2**53 - 1},
    )
    threads: int | None = setting(
        None, "How many cores to use.", section=_SECTION, otherwise="all", only="command", ge=1, le=MOST
    )
