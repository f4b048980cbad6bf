"""What all solvers share: budgets, histories, seeds, progress, the registry and the conformance battery."""

from shoal.runtime.budget import Budget, Run, StopReason
from shoal.runtime.control import Control
from shoal.runtime.history import History, Point
from shoal.runtime.observer import Observer, Progress, silent
from shoal.runtime.registry import Method, Registry
from shoal.runtime.seeds import Seeds
from shoal.runtime.solution import Direction, Solution, better, informative

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
