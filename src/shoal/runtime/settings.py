"""The settings that every search has."""

from typing import Any

from shoal.runtime.budget import MOST_ITERATIONS, MOST_SECONDS
from shoal.runtime.threads import MOST
from shoal.settings import Settings, setting, switch

_SECTION = "Search"


def seed(section: str = _SECTION) -> Any:
    """Where randomness begins, for a result that can be repeated."""
    sentence = "Where randomness begins; the same seed gives the same result."
    return setting(0, sentence, section=section, ge=0, served={"le": 2**53 - 1})


def threads(section: str = _SECTION) -> Any:
    """On how many cores; a server decides that itself."""
    return setting(
        None, "How many cores to use.", section=section, otherwise="all", only="command", ge=1, le=MOST
    )


def method(usual: str, purpose: str) -> Any:
    """Which method of a registry, and what it is to do."""
    return setting(usual, f"{purpose}; 'list' shows all methods.", section=_SECTION, max_length=40)


def method_options() -> Any:
    """The options of that method, one by one."""
    return setting({}, "An option of the method; may be repeated.", section=_SECTION, flag="--option")


def target(value: str, unit: str = "", metavar: str = "PERCENT", most: float = 100) -> Any:
    """The value that is enough."""
    label = f"Target {value}{unit}"
    return setting(
        None, f"Stop at this {value}.", section=_SECTION, label=label, metavar=metavar, ge=0, le=most
    )


def bound(least: str) -> Any:
    """Whether to prove how good a result could be at best, where that is work of its own."""
    return switch(f"Prove {least}.", on=True, section=_SECTION, label=f"Prove {least}")


def time_limit(sentence: str = "Stop after this time with the best found.", section: str = _SECTION) -> Any:
    """How long something may take."""
    return setting(
        None,
        sentence,
        section=section,
        label="Time limit, s",
        metavar="SECONDS",
        gt=0,
        le=MOST_SECONDS,
        served={"le": 7 * 86400},
    )


class SearchSettings(Settings):
    """How long to search, where randomness begins, and on how many cores."""

    iterations: int | None = setting(
        None,
        "Stop after this much work with the best found; 0: with what the search begins with.",
        section=_SECTION,
        otherwise="usual",
        ge=0,
        le=MOST_ITERATIONS,
        served={"le": 10**12},
    )
    time_limit: float | None = time_limit()
    seed: int = seed()
    threads: int | None = threads()
