"""What all solvers share: budgets, histories, seeds, progress, the registry and the conformance battery."""

from shoal.search.budget import Budget, Run, StopReason
from shoal.search.control import Control
from shoal.search.history import History, Point
from shoal.search.observer import Observer, Progress, silent
from shoal.search.registry import Method, Registry
from shoal.search.seeds import Seeds
from shoal.search.solution import Direction, Solution, better, informative

__all__ = [
    "Budget",
    "Control",
    "Direction",
    "History",
    "Method",
    "Observer",
    "Point",
    "Progress",
    "Registry",
    "Run",
    "Seeds",
    "Solution",
    "StopReason",
    "better",
    "informative",
    "silent",
]
