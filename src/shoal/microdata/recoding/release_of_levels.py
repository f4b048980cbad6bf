"""One recoding for all: what is released at given levels, what is left out, and whether that is allowed."""

from dataclasses import dataclass

import numpy as np

from shoal.microdata.models.histogram import merged
from shoal.microdata.models.model import Evidence, Presence
from shoal.microdata.recoding.classes import Classes
from shoal.microdata.recoding.loss_tables import Loss
from shoal.microdata.recoding.problem import Problem

# Further classes that are left out one after the other, beyond those that are needed for sure.
_TRIES = 64


@dataclass(frozen=True, eq=False)
class ReleaseOfLevels:
    """The classes at some levels, which of them are left out, and the loss, which is infinite if that is not allowed.

    ``least`` is what is lost at least at these levels, whoever is left out; infinite if no choice is allowed.
    """

    classes: Classes
    left_out: np.ndarray
    people_left_out: int
    value: float
    least: float

    @property
    def records_left_out(self) -> int:
        """How many records are not released."""
        return int(self.classes.records[self.left_out].sum())

    @property
    def allowed(self) -> bool:
        """Whether all demands are met."""
        return bool(np.isfinite(self.value))

    @property
    def settled(self) -> bool:
        """Whether no other choice of who is left out loses less."""
        return self.value <= self.least


def release_at(classes: Classes, loss: Loss) -> ReleaseOfLevels:
    """Leave out what fails, and see whether the rest may go; if not, leave out the smallest classes as well.

    Every measure loses no less with more left out, so what is allowed with the failing classes alone is the best.
    """
    problem, failing = classes.problem, classes.failing
    people = classes.people_in(failing)
    if people > problem.limit or bool((failing & (classes.records == 0)).any()):
        return ReleaseOfLevels(classes, failing, people, np.inf, np.inf)
    least = loss.of(classes, failing)
    if is_allowed(classes, failing):
        return ReleaseOfLevels(classes, failing, people, least, least)
    people = fewest_left_out(classes, failing)
    if people > problem.limit or not (problem.average_risks or problem.keep_suppressed):
        return ReleaseOfLevels(classes, failing, people, np.inf, np.inf)
    chosen = _with_smallest(classes, failing)
    if chosen is None:
        return ReleaseOfLevels(classes, failing, people, np.inf, least)
    return ReleaseOfLevels(classes, chosen, classes.people_in(chosen), loss.of(classes, chosen), least)


def is_allowed(classes: Classes, left_out: np.ndarray) -> bool:
    """Whether all may be released but these classes, which hold those that fail."""
    problem, kept = classes.problem, ~left_out & (classes.records > 0)
    people = classes.people_in(left_out)
    return (
        people <= problem.limit
        and bool(kept.any())
        and _shows_keys(classes)
        and _average_allowed(classes, kept, left_out)
        and (not problem.keep_suppressed or _may_form_class(classes, left_out, people))
    )


def _shows_keys(classes: Classes) -> bool:
    """Whether somebody shows a key, or all may be left out."""
    problem = classes.problem
    nothing = problem.show_keys and any(problem.heights) and classes.levels == problem.heights
    return not nothing or problem.limit >= problem.units


def fewest_left_out(classes: Classes, failing: np.ndarray) -> int:
    """How many people are left out at least here, and at all finer levels at which all of these are.

    The smallest classes count most for an average, and cost the fewest people. More than all people if nothing helps. Of people
    with several tuples only those are counted whom the failing classes touch.
    """
    problem, kept = classes.problem, ~failing & (classes.records > 0)
    touched = classes.people_in(failing)
    alone = np.sort(classes.alone[kept])
    out = np.concatenate([[0], np.cumsum(alone)])[:-1]
    number = kept.sum() - np.arange(out.size)
    people = problem.units - int(classes.alone[failing].sum()) - out
    if problem.keep_suppressed:
        number, people = number + (touched + out > 0), np.full(out.size, problem.units)
    fits = np.ones(out.size, dtype=bool)
    for risk in problem.average_risks:
        fits &= risk.allow(number, people)
    return touched + int(out[fits.argmax()]) if fits.any() else problem.units + 1


def _with_smallest(classes: Classes, failing: np.ndarray) -> np.ndarray | None:
    """The failing classes and the fewest of the smallest others with which the rest may go; ``None`` if none is found."""
    kept = np.flatnonzero(~failing & (classes.records > 0))
    kept = kept[np.argsort(classes.people[kept], kind="stable")]
    people, chosen = np.cumsum(classes.people[kept]), failing.copy()
    enough = fewest_left_out(classes, failing) - classes.people_in(failing)
    if classes.problem.keep_suppressed:
        enough = max(enough, classes.problem.k - classes.people_in(failing))
    first = int(np.searchsorted(people, enough)) + 1
    chosen[kept[: first - 1]] = True
    for one in kept[first - 1 : first + _TRIES]:
        chosen[one] = True
        if is_allowed(classes, chosen):
            return chosen
    return None


def _average_allowed(classes: Classes, released: np.ndarray, left_out: np.ndarray) -> bool:
    risks = classes.problem.average_risks
    if not risks:
        return True
    number = int(released.sum())
    if classes.problem.keep_suppressed and left_out.any():
        released, number = released | left_out, number + 1
    return all(risk.allows(number, classes.people_in(released)) for risk in risks)


def _may_form_class(classes: Classes, left_out: np.ndarray, people: int) -> bool:
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
    """Whether these levels or finer ones could be allowed: what is doomed here is left out there, too.

    Where a finer release is allowed, so is the average here: of what it keeps there are no more classes, and no fewer people.
    """
    return fewest_left_out(classes, doomed(classes)) <= classes.problem.limit


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
