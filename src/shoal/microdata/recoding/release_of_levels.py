"""One recoding for all: what is released at given levels, what is left out, and whether that is allowed."""

from dataclasses import dataclass

import numpy as np

from shoal.microdata.models.histogram import merged
from shoal.microdata.models.model import Evidence, Presence
from shoal.microdata.recoding.classes import Classes
from shoal.microdata.recoding.loss import Loss
from shoal.microdata.recoding.problem import Problem


@dataclass(frozen=True, eq=False)
class Release:
    """The classes at some levels, which of them are left out, and the loss; ``allowed`` if all demands are met."""

    classes: Classes
    left_out: np.ndarray
    people_left_out: int
    allowed: bool
    value: float

    @property
    def records_left_out(self) -> int:
        """How many records are not released."""
        return int(self.classes.records[self.left_out].sum())


def release_at(classes: Classes, loss: Loss) -> Release:
    """Leave out what fails, and see whether the rest may go."""
    problem, left_out = classes.problem, classes.failing
    people = classes.people_in(left_out)
    nobody = classes.records == 0
    kept = ~left_out & ~nobody
    allowed = (
        people <= problem.limit
        and bool(kept.any())
        and not bool((left_out & nobody).any())
        and _average_allowed(classes, kept, left_out)
        and (not problem.keep_suppressed or _may_be_kept(classes, left_out, people))
    )
    return Release(classes, left_out, people, allowed, loss.of(classes, left_out) if allowed else np.inf)


def _average_allowed(classes: Classes, kept: np.ndarray, left_out: np.ndarray) -> bool:
    risks = classes.problem.average_risks
    if not risks:
        return True
    number = int(kept.sum())
    if classes.problem.keep_suppressed and left_out.any():
        kept, number = kept | left_out, number + 1
    return all(risk.allows(number, classes.people_in(kept)) for risk in risks)


def _may_be_kept(classes: Classes, left_out: np.ndarray, people: int) -> bool:
    """Whether all that is left out could be released as one class without keys."""
    if people == 0:
        return True
    problem = classes.problem
    groups = np.where(left_out, 0, 1)
    kinds = problem.confidential
    histograms = {name: merged(one, groups, 2, kinds[name].kinds) for name, one in classes.histograms.items()}
    evidence = Evidence(np.array([people, problem.k]), None, histograms, kinds)
    return people >= problem.k and not any(bool(model.fails(evidence)[0]) for model in problem.models)


def may_be_allowed(classes: Classes) -> bool:
    """Whether these levels or finer ones could be allowed: what is doomed here is left out there, too."""
    if classes.people_in(doomed(classes)) > classes.problem.limit:
        return False
    nobody = np.zeros(classes.size, dtype=bool)
    return not _is_monotone(classes.problem) or _average_allowed(classes, classes.records > 0, nobody)


def doomed(classes: Classes) -> np.ndarray:
    """The classes of which something is left out at these and at all finer levels; all of it, if anybody may be left out."""
    return classes.failing if _is_monotone(classes.problem) else classes.hopeless


def _is_monotone(problem: Problem) -> bool:
    """Whether classes that all hold make larger ones that hold.

    Where nobody is left out that is so for every model; but people with several tuples do not add up, and so shares of the
    population do not either.
    """
    shares = any(isinstance(model, Presence) for model in problem.models)
    return problem.limit == 0 and not (shares and problem.spread is not None)
