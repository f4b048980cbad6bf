"""What a pattern of hidden cells says of itself, computed again: its cost, its shares and its audit."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from shoal import sources
from shoal.exact_names import only
from shoal.operation_release import Evidence
from shoal.tables.common_pattern import tied
from shoal.tables.problem import Problem
from shoal.tables.safety.attackers_named import describe_attacker, doubtful_if_bounded
from shoal.tables.safety.audit import audit
from shoal.tables.safety.whole_numbers import integer_failures
from shoal.tables.solution import Pattern
from shoal.tables.suppression import Suppression

#: What only the search knows.
_SEARCH = ("method", "bound", "gap_percent", "optimal", "stopped_by", "work", "seconds", "record")


def pattern_figures(
    problem: Problem, complementary: np.ndarray, *, common: bool, counts: bool
) -> dict[str, Any]:
    """The figures of a pattern that say nothing of how it was found."""
    if common:
        problem = tied(problem)
    found = audit(problem, complementary)
    if counts:
        found = replace(found, integer=integer_failures(problem, complementary))
    result = Suppression(
        problem,
        Pattern(value=float(problem.cost[complementary].sum()), complementary=complementary),
        found,
        "",
        describe_attacker(problem, counts=counts),
        0,
        doubtful_if_bounded(problem, complementary),
    )
    return {name: value for name, value in result.to_dict().items() if name not in _SEARCH}


def tabulated(evidence: Evidence) -> dict[str, Any]:
    """The figures of a table, which is no search: the same once more."""
    return evidence.again()


def hidden(evidence: Evidence) -> dict[str, Any]:
    """The figures of a pattern, of which intervals are those of the audit: that they are wide enough is checked without it."""
    settings, listed = evidence.settings, evidence.folder / "pattern.csv"
    stated: dict[str, Any] = {"method": settings.method}
    if not evidence.complete or not listed.exists():
        return stated
    claimed = evidence.table()
    problem = claimed.problem(settings)
    pattern = sources.read(str(listed)).as_written
    names = list(problem.table.dimensions)
    numbers = {tuple(problem.table.key(cell).values()): cell for cell in range(problem.table.cells)}
    rows = only(pattern.filter(pattern["kind"] == "complementary"), names).cast(pl.String).rows()
    complementary = np.array(sorted(numbers[row] for row in rows if row in numbers), dtype=np.int64)
    if settings.keep_totals:
        assert problem.table.internal[complementary].all(), "a total is hidden that is not sensitive"
        problem = problem.with_totals_published()
    counts = claimed.is_counts(settings)
    return {**stated, **pattern_figures(problem, complementary, common=settings.common, counts=counts)}
