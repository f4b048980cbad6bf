"""Local suppression: blank single values, at the least cost, so that everybody who is released is one of k people.

A blank counts as a value of its own. So a *pattern*, the keys that are blanked with the values of the others, is not used at
all or by at least k people, and a record that uses it costs what its blanks cost: a facility location problem with lower
limits.
"""

from shoal.microdata.recoding.local_suppression.bound import least_costs
from shoal.microdata.recoding.local_suppression.greedy import greedy
from shoal.microdata.recoding.local_suppression.instance import Instance
from shoal.microdata.recoding.local_suppression.masks import Masks
from shoal.microdata.recoding.local_suppression.patterns import MOST_PAIRS, patterns_of
from shoal.microdata.recoding.local_suppression.pieces import pieces, value_of
from shoal.microdata.recoding.local_suppression.search import Improvement
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.solution import Recoding
from shoal.search import Budget, Observer, Seeds, StopReason, silent
from shoal.search.options import NoOptions

# Losses are sums of rounded numbers.
_EQUAL = 1e-9


def solve(
    problem: Problem,
    options: NoOptions | None = None,
    *,
    budget: Budget | None = None,
    seeds: Seeds | None = None,
    threads: int = 1,
    observer: Observer = silent,
    start: Recoding | None = None,
) -> Recoding:
    """Blank values until everybody is one of k people; keys that are not blanked stay at the lowest levels.

    >>> from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
    >>> sexes, ages = Hierarchy([("f",), ("m",)]), Hierarchy([("31",), ("38",), ("47",)])
    >>> columns = [np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 1, 2, 2, 2])]
    >>> found = solve(Problem.of(columns, [sexes, ages], k=2, measure="cells"))
    >>> found.value, found.bound, found.optimal
    (2.0, 2.0, True)
    """
    run = (budget or Budget()).or_iterations(20_000).start(observer)
    instance = Instance.of(problem)
    masks = Masks.of(instance)
    seeds = seeds or Seeds(0)
    if instance.size * masks.size <= MOST_PAIRS:
        improvement = Improvement(masks, patterns_of(masks), seeds.child("search").state())
        improvement.begin()
        while not improvement.idle and (chunk := run.chunk(200)):
            improvement.step(chunk)
            run.spend(chunk)
            run.report(instance.value(improvement.cost))
        best = improvement.assignment
    else:
        best = greedy(masks)
    least = float((least_costs(masks) * instance.records).sum())
    made = pieces(masks, best)
    value = value_of(masks, made)
    bound = min(value, instance.value(least))
    optimal = bool(value - bound <= _EQUAL * max(1.0, abs(value)))
    run.report(value, bound=bound)
    if optimal:
        run.finish(StopReason.OPTIMAL)
    return Recoding(value=value, bound=value if optimal else bound, optimal=optimal, **made, **run.closing())
