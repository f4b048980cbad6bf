"""Greedy rules: quick, and often good enough."""

from typing import Literal

from pydantic import Field

from shoal.appointments.bounds.limits import best_value
from shoal.appointments.problem import Problem
from shoal.appointments.solvers import filling
from shoal.appointments.solvers.method import SearchResult, method, refuse_diversity
from shoal.runtime import Run, Seeds
from shoal.runtime.options import Options

_RULES = {"better": filling.better_rule, "published": filling.greedy, "best-fit": filling.fit}


class GreedyOptions(Options):
    """``rule``: the published one, best fit, or the better of the two."""

    rule: Literal["better", "published", "best-fit"] = Field(
        default="better", description="the published rule, best fit, or the better of the two"
    )


@method()
def solve(problem: Problem, options: GreedyOptions, run: Run, seeds: Seeds) -> SearchResult:
    """Seat the largest crowd first.

    ``published`` takes as few of the largest slots as hold a group (Cabana Ramírez 2016, with its loose ends tied up);
    ``best-fit`` takes the tightest slot that holds it whole, or fills the largest and goes on.
    """
    refuse_diversity(problem, "greedy")
    matrix = _RULES[options.rule](problem)
    run.spend(1)
    return SearchResult(matrix, best_value(problem), complete=True)
