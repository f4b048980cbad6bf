"""Why this recoding: what one level finer or coarser would cost, and what can be had for which number of people left out."""

from dataclasses import dataclass, replace

from shoal.microdata.recoding.classes import Classes, Levels
from shoal.microdata.recoding.loss_tables import Loss
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.release_of_levels import ReleaseOfLevels, release_at

# A lattice is walked as a whole up to so many levels times tuples; of a larger one the neighbourhood is shown.
_WALKED = 400_000_000


@dataclass(frozen=True)
class Neighbour:
    """A recoding of whole columns: its loss if what fails is left out, and who that is."""

    levels: Levels
    loss: float
    people_left_out: int
    records_left_out: int
    column: str | None = None
    step: int = 0


@dataclass(frozen=True)
class Explanation:
    """The recoding, those one step away, and the front of loss against people left out (``None`` if it was not walked)."""

    chosen: Neighbour
    neighbours: tuple[Neighbour, ...]
    front: tuple[Neighbour, ...] | None


def explain(problem: Problem, levels: Levels, names: tuple[str, ...]) -> Explanation:
    """Look at the neighbours of a recoding, and at all recodings where that is possible."""
    free = replace(problem, limit=problem.units, keep_suppressed=False)
    if free.lowest == free.highest:
        # Levels given by hand leave nothing to search; what lies beside them is looked at all the same.
        free = replace(free, lowest=(0,) * len(names), highest=free.heights)
    loss = Loss(free)
    tuples = Classes.of_tuples(free)

    def at(chosen: Levels, column: str | None = None, step: int = 0) -> Neighbour:
        return _neighbour(release_at(tuples.at(chosen), loss), loss, column, step)

    neighbours = []
    for place, name in enumerate(names):
        for step in (-1, 1):
            level = levels[place] + step
            if free.lowest[place] <= level <= free.highest[place]:
                neighbours.append(at((*levels[:place], level, *levels[place + 1 :]), name, step))
    front = _front(free, loss) if free.nodes * free.records.size <= _WALKED else None
    return Explanation(at(levels), tuple(neighbours), front)


def _neighbour(release: ReleaseOfLevels, loss: Loss, column: str | None = None, step: int = 0) -> Neighbour:
    return Neighbour(
        release.classes.levels,
        loss.of(release.classes, release.left_out),
        release.people_left_out,
        release.records_left_out,
        column,
        step,
    )


def walk(problem: Problem, loss: Loss) -> "list[Neighbour]":
    """Every recoding of whole columns, each counted from a finer one."""
    found: list[Neighbour] = []

    def rise(classes: Classes, column: int) -> None:
        found.append(_neighbour(release_at(classes, loss), loss))
        for raised in range(column, len(classes.levels)):
            level = classes.levels[raised]
            if level < problem.highest[raised]:
                rise(classes.at((*classes.levels[:raised], level + 1, *classes.levels[raised + 1 :])), raised)

    rise(Classes.finest(problem), 0)
    return found


def _front(problem: Problem, loss: Loss) -> tuple[Neighbour, ...]:
    """Recodings than which none loses less and leaves out fewer people, by rising number of people."""
    best: list[Neighbour] = []
    ordered = sorted(walk(problem, loss), key=lambda one: (one.people_left_out, one.loss, one.levels))
    for one in ordered:
        if one.people_left_out < problem.units and (not best or one.loss < best[-1].loss):
            best.append(one)
    return tuple(best)
