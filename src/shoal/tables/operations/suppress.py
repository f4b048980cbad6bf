"""``suppress`` as an operation: which further cells of a table must be hidden, and the proof that it is enough."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import Infeasible, InputError, parameter, unknown
from shoal.numbers import counted
from shoal.operation import DataName, Operation, Product, Workplace
from shoal.operation_release import TableRelease, Written
from shoal.remarks import Remark, Remarked, note
from shoal.tables.operations.products import (
    INTERVALS_FILES,
    PATTERN_FILES,
    PUBLISHED_ENDINGS,
    PUBLISHED_FILES,
    layout_of,
    pattern,
    published_whole,
    suits_layout,
    whole,
)
from shoal.tables.settings import SuppressSettings

if TYPE_CHECKING:
    from shoal.runtime import Observer
    from shoal.tables.files.layout import Layout
    from shoal.tables.problem import Problem
    from shoal.tables.suppression import Suppression
    from shoal.tables.table_to_protect import TableToProtect


@dataclass(frozen=True)
class Suppressed(Remarked):
    """The pattern that was found, the table it is for, and what other methods found for it."""

    outcome: "Suppression"
    table: "TableToProtect"
    others: "tuple[Suppression, ...]" = ()
    remarks: tuple[Remark, ...] = ()
    layout: "Layout | None" = None
    dataflow: str = ""


def run(settings: SuppressSettings, workplace: Workplace) -> Suppressed:
    """Build the table, find the pattern, and have it checked."""
    from shoal.runtime import silent
    from shoal.tables.methods import METHODS
    from shoal.tables.table_arguments import refuse_without_rule
    from shoal.tables.table_to_protect import table_to_protect

    others = [METHODS[name].name for name in settings.compare if name != settings.method]
    workplace.say("building the table")
    table = table_to_protect(settings, workplace, "value" if settings.listed_costs else settings.cost)
    layout = layout_of(settings, workplace.decimal)
    if settings.rows or settings.columns:
        from shoal.tables.files.layout import crosstabs

        # What cannot be laid out is refused before the search.
        crosstabs(table.base, table.trees, layout)
    problem, gone = problem_of(settings, table, workplace)
    remarks = list(table.remarks)
    refuse_without_rule(table.tabulation, problem)
    if gone:
        words = ("cell of the previous pattern is", "cells of the previous pattern are")
        remarks.append(note("previous-pattern", f"{counted(gone, *words)} not in this table"))
    workplace.say("searching")
    found = _search(settings, settings.method, table, problem, workplace, workplace.observe)
    compared = []
    for name in others:
        if str(found.solution.stopped_by) == "interrupt":
            break
        workplace.say(f"comparing with {name}")
        try:
            other = _search(settings, name, table, problem, workplace, silent)
            if str(other.solution.stopped_by) == "interrupt":
                text = f"{name} was interrupted, so the comparison ends before it"
                remarks.append(note("comparison", text))
                break
            compared.append(other)
        except (InputError, Infeasible) as error:
            remarks.append(note("comparison", f"{name} is left out of the comparison: {error.template}"))
    return Suppressed(found, table, tuple(compared), tuple(remarks), layout, settings.dataflow)


def problem_of(
    settings: SuppressSettings, table: "TableToProtect", workplace: Workplace
) -> "tuple[Problem, int]":
    """What has to be protected at which cost; and how many cells of last period's pattern the table no longer has."""
    from shoal.tables.as_problem import keep_stable
    from shoal.tables.model.costs import COSTS
    from shoal.tables.problem import Problem

    if table.sensitive is not None and isinstance(table.table, Problem):
        raise InputError(
            f"a .jj file carries its own sensitive cells; leave out {parameter('sensitive_data')}"
        )
    named = settings.cost in COSTS or (table.from_records and not settings.listed_costs)
    problem = table.problem(settings, settings.cost if named else workplace.listed(settings.cost))
    return (
        (problem, 0)
        if settings.previous is None
        else keep_stable(problem, workplace.listed(settings.previous))
    )


def _search(
    settings: SuppressSettings,
    method: str,
    table: "TableToProtect",
    problem: "Problem",
    workplace: Workplace,
    observer: "Observer",
) -> "Suppression":
    from shoal.runtime.threads import usable_threads
    from shoal.tables.api import suppress

    found = suppress(
        problem,
        method=method,
        options=settings.options if method == settings.method else None,
        counts=table.is_counts(settings),
        common=settings.common,
        keep_totals=settings.keep_totals,
        budget=workplace.budget(settings),
        seed=settings.seed,
        threads=usable_threads(workplace.threads),
        observer=observer,
    )
    return replace(found, tabulation=table.tabulation)


def reads(settings: SuppressSettings) -> list[DataName]:
    """The table with what is said of it, last period's pattern, and the costs if they are in a file."""
    from shoal.tables.model.costs import COSTS

    costs = [] if settings.cost in COSTS else [settings.cost]
    if costs and not Path(settings.cost).suffix and "::" not in settings.cost:
        if not settings.columns_in:
            raise unknown("cost", settings.cost, COSTS, where="a cost or a file")
        # The sum of a column of the records, or a column of a ready-made table.
        costs = []
    return [*settings.read, *costs, *([] if settings.previous is None else [settings.previous])]


def _check_pattern(result: Suppressed, settings: SuppressSettings) -> Any:
    from shoal.tables.files.publishing import check_pattern

    return partial(check_pattern, result.outcome.problem, result.outcome.complementary)


def _hidden(result: Suppressed) -> Any:
    return result.outcome.problem.hidden_mask(result.outcome.complementary)


def _published(result: Suppressed, settings: SuppressSettings) -> Any:
    """The list of cells or the matrix; crosstabs in one frame if rows or columns were named."""
    from shoal.tables.files.layout import as_frame, crosstabs
    from shoal.tables.files.publishing import published_frame

    table, layout = result.outcome.problem.table, result.layout or layout_of(settings)
    if not layout.chosen:
        return published_frame(table, _hidden(result), layout.symbol, layout.decimals, layout.decimal)
    return as_frame(crosstabs(table, result.table.trees, layout), _hidden(result), layout)


def _review(result: Suppressed, settings: SuppressSettings) -> bytes:
    """All figures with their states in colours, for those who look it over before it is published."""
    from shoal.tables.files.layout import crosstabs
    from shoal.tables.files.workbook import review_workbook

    problem, layout = result.outcome.problem, layout_of(settings)
    states = np.where(
        problem.is_sensitive,
        "primary",
        np.where(_hidden(result), "complementary", np.where(problem.candidates, "free", "published")),
    )
    return review_workbook(
        crosstabs(problem.table, result.table.trees, layout), _hidden(result), layout, states
    )


def _check_published(result: Suppressed, settings: SuppressSettings) -> Any:
    from shoal.tables.files.publishing import check_published

    return partial(check_published, _published(result, settings), settings.symbol)


def _intervals(result: Suppressed, settings: SuppressSettings) -> Any:
    from shoal.sources.internal import marked

    return marked(result.outcome.intervals)


def _argus(result: Suppressed, settings: SuppressSettings) -> dict[str, bytes]:
    from shoal.tables.files.argus_writing import argus_files

    made = result.table.tabulation
    known = None if made is None else made.contributions
    contributors = None if made is None else made.contributors
    return argus_files(
        result.outcome.problem, result.outcome.complementary, result.table.trees, known, contributors
    )


def check(settings: SuppressSettings, written: frozenset[str]) -> None:
    """The symbol must be none that is taken for a figure, and there must be something to lay out."""
    from shoal.tables.files.publishing import check_symbol

    check_symbol(settings.symbol)
    if settings.laid_out and not written & {"published", "review"}:
        raise InputError(
            f"{parameter('rows')}, {parameter('columns')} and {parameter('decimals')} lay out a published table; name a "
            f"place for it with {parameter('published')}"
        )


OPERATION = Operation(
    name="suppress",
    title="Protect a table",
    summary="Hide as few further cells as possible so that no sensitive cell can be computed from the totals.",
    description="Prints the cost, a bound no safe pattern can be below, and the gap; every result is checked by linear "
    f"programmes. Ctrl-C or {parameter('time_limit')} end the search with the best found so far.",
    examples=(
        "shoal suppress table.csv --sensitive cells.csv --protection 0.10 -o pattern.csv --published public.csv",
        "shoal suppress turnover.csv --dimensions ACTIVITY,SIZE --value TOT --contributors-column N --largest-column MAX "
        '--rule "frequency(3)" --rule "dominance(1,85)" --hierarchy ACTIVITY=act.hrc -o pattern.csv',
        "shoal suppress table.jj --method exact --time-limit 60 -o pattern.csv",
    ),
    doing="suppressing",
    settings=SuppressSettings,
    run=run,
    columns_in=lambda settings: settings.columns_in,
    reads=reads,
    reads_beside=lambda settings: settings.read_beside,
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
            "The table as it may be published: .xlsx or .html as crosstabs, .sdmx.csv, else a list of cells or a matrix.",
            _published,
            check=_check_published,
            whole=published_whole,
            endings=PUBLISHED_ENDINGS,
            like_input=False,
            signs_of_input=True,
            suits=suits_layout,
            files=PUBLISHED_FILES,
        ),
        Product(
            "review",
            "A workbook of the table with all figures, the state of each cell as its colour, and a legend (internal).",
            _review,
            form="bytes",
            metavar="FILE.xlsx",
            internal=True,
            files=(("review.xlsx", "All figures with states in colours, internal (Excel)"),),
            lacking="",
        ),
        Product(
            "intervals",
            "The intervals of the sensitive cells (internal).",
            _intervals,
            internal=True,
            only="workbench",
            files=INTERVALS_FILES,
        ),
        Product(
            "argus",
            "The table and its pattern as files of τ-ARGUS, into this folder (internal).",
            _argus,
            form="folder",
            metavar="FOLDER",
            internal=True,
            files=(("argus.zip", "Table and pattern for τ-ARGUS, internal"),),
            lacking="",
        ),
    ),
    methods="shoal.tables.methods:METHODS",
    reporter="shoal.tables.reports.suppression",
    function="shoal.tables.api:suppress",
    release=TableRelease(
        passes_on="published.csv",
        product="published",
        gates=("safe",),
        searches=True,
        recounts="shoal.tables.recount:hidden",
        written=Written(builds="tabulate", writes="{result}.published({symbol})"),
    ),
    apart=frozenset({"hierarchy", "hierarchies", "metadata"})
    | {"table", "linked", "linked_tables", "sensitive_data", "contributions"}
    | {"rows", "columns", "decimals", "dataflow"}
    | {"previous", "symbol", "compare", "iterations", "time_limit"},
)
