"""``suppress`` as an operation: which further cells of a table must be hidden, and the proof that it is enough."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import Infeasible, InputError, messages, parameter, unknown
from shoal.numbers import counted
from shoal.operation import Operation, Place, Product, Workplace
from shoal.tables.operations.products import INTERVALS_FILES, PATTERN_FILES, PUBLISHED_FILES, pattern, whole
from shoal.tables.settings import SuppressSettings, TabulationSettings

if TYPE_CHECKING:
    from shoal.search import Observer
    from shoal.tables.api import Suppression
    from shoal.tables.problem import Problem
    from shoal.tables.table_to_protect import TableToProtect


@dataclass(frozen=True)
class Suppressed:
    """The pattern that was found, the table it is for, and what other methods found for it."""

    found: "Suppression"
    table: "TableToProtect"
    others: "tuple[Suppression, ...]" = ()
    notes: tuple[str, ...] = ()


def run(settings: SuppressSettings, place: Workplace) -> Suppressed:
    """Build the table, find the pattern, and have it checked."""
    from shoal.search import silent
    from shoal.tables.methods import METHODS
    from shoal.tables.table_to_protect import table_to_protect

    others = [METHODS[name].name for name in settings.compare if name != settings.method]
    place.say("building the table")
    table = table_to_protect(settings, place, settings.cost)
    problem, gone = problem_of(settings, table, place)
    notes = table.notes
    if gone:
        words = ("cell of the previous pattern is", "cells of the previous pattern are")
        notes.append(f"{counted(gone, *words)} not in this table")
    place.say("searching")
    found = _search(settings, settings.method, table, problem, place, place.observe)
    compared = []
    for name in others:
        if str(found.solution.stopped_by) == "interrupt":
            break
        place.say(f"comparing with {name}")
        try:
            other = _search(settings, name, table, problem, place, silent)
            if str(other.solution.stopped_by) == "interrupt":
                notes.append(f"{name} was interrupted, so the comparison ends before it")
                break
            compared.append(other)
        except (InputError, Infeasible) as error:
            notes.append(f"{name} is left out of the comparison: {error.template}")
    return Suppressed(found, table, tuple(compared), messages(notes))


def problem_of(
    settings: SuppressSettings, table: "TableToProtect", place: Workplace
) -> "tuple[Problem, int]":
    """What has to be protected at which cost; and how many cells of last period's pattern the table no longer has."""
    from shoal.tables.given import keep_stable
    from shoal.tables.model.costs import COSTS
    from shoal.tables.problem import Problem

    if table.sensitive is not None and isinstance(table.table, Problem):
        raise InputError(
            f"a .jj file carries its own sensitive cells; leave out {parameter('sensitive_data')}"
        )
    named = table.from_records or settings.cost in COSTS
    problem = table.problem(settings, settings.cost if named else place.listed(settings.cost))
    return (
        (problem, 0) if settings.previous is None else keep_stable(problem, place.listed(settings.previous))
    )


def _search(
    settings: SuppressSettings,
    method: str,
    table: "TableToProtect",
    problem: "Problem",
    place: Workplace,
    observer: "Observer",
) -> "Suppression":
    from shoal.search.threads import usable_threads
    from shoal.tables.api import suppress

    found = suppress(
        problem,
        method=method,
        options=settings.options if method == settings.method else None,
        counts=table.is_counts(settings),
        budget=place.budget(settings),
        seed=settings.seed,
        threads=usable_threads(place.threads),
        observer=observer,
    )
    return replace(found, tabulation=table.tabulation)


def reads(settings: SuppressSettings) -> list[Place]:
    """The table with what is said of it, last period's pattern, and the costs if they are in a file."""
    from shoal.tables.model.costs import COSTS

    costs = [] if settings.cost in COSTS else [settings.cost]
    if costs and not Path(settings.cost).suffix and "::" not in settings.cost:
        raise unknown("cost", settings.cost, COSTS, where="a cost or a file")
    return [*settings.read, *costs, *([] if settings.previous is None else [settings.previous])]


def _check_pattern(result: Suppressed, settings: SuppressSettings) -> Any:
    from shoal.tables.files.publishing import check_pattern

    return partial(check_pattern, result.found.problem, result.found.complementary)


def _check_published(result: Suppressed, settings: SuppressSettings) -> Any:
    from shoal.tables.files.publishing import check_published

    return partial(check_published, result.found.published(settings.symbol), settings.symbol)


def _intervals(result: Suppressed, settings: SuppressSettings) -> Any:
    from shoal.sources.internal import marked

    return marked(result.found.intervals)


def check(settings: SuppressSettings, written: frozenset[str]) -> None:
    """The symbol must be none that is taken for a figure."""
    from shoal.tables.files.publishing import check_symbol

    check_symbol(settings.symbol)


OPERATION = Operation(
    name="suppress",
    title="Protect a table",
    summary="Hide as few further cells as possible so that no sensitive cell can be computed from the totals.",
    description="Prints the cost, a bound no safe pattern can be below, and the gap; every result is checked by linear "
    f"programmes. Ctrl-C or {parameter('time_limit')} end the search with the best found so far.",
    examples=(
        "shoal suppress table.csv --sensitive cells.csv --protection 0.10 -o pattern.csv --published public.csv",
        "shoal suppress table.jj --method exact --time-limit 60 -o pattern.csv",
    ),
    doing="suppressing",
    settings=SuppressSettings,
    run=run,
    reads=reads,
    check=check,
    titled=lambda settings: settings.named(settings.method),
    products=(
        Product(
            "output",
            "The hidden cells and their kinds (internal); ending in .jj, the whole table with them.",
            pattern,
            short="-o",
            metavar="PATTERN",
            internal=True,
            check=_check_pattern,
            whole=whole,
            endings=(".jj", ".jj.gz"),
            files=PATTERN_FILES,
            subject="the hidden cells",
        ),
        Product(
            "published",
            "The table as it may be published.",
            lambda result, settings: result.found.published(settings.symbol),
            check=_check_published,
            like_input=False,
            files=PUBLISHED_FILES,
        ),
        Product(
            "intervals",
            "The intervals of the sensitive cells (internal).",
            _intervals,
            internal=True,
            only="workbench",
            files=INTERVALS_FILES,
        ),
    ),
    methods="shoal.tables.methods:METHODS",
    telling="shoal.tables.reports.suppression",
    function="shoal.tables.api:suppress",
    only_in_workbench=frozenset(TabulationSettings.model_fields) - {"zeros"},
    apart=frozenset(TabulationSettings.model_fields) - {"zeros"}
    | {"table", "source", "linked", "linked_tables", "sensitive_data", "contributions"}
    | {"previous", "symbol", "compare", "iterations", "time_limit"},
)
