"""Every method against all assignments there are: exact ones find the best, others never claim more."""

import numpy as np
import pytest
from tests.appointments.oracle import best_of_all, random_general, random_plain

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.methods import METHODS
from shoal.appointments.verify import verify
from shoal.errors import Infeasible
from shoal.runtime import Budget, Seeds

QUICK = {"genetic": ({"population": 20}, 300), "annealing": ({"schedule": 500}, 2000)}


def compare(method, problem, seed):
    best = best_of_all(problem)
    options, iterations = QUICK.get(method.name, (None, 3000))

    def solve():
        return method.solve(
            problem, options, budget=Budget(iterations=iterations), seeds=Seeds(seed), threads=1
        )

    if best is None:
        with pytest.raises(Infeasible):
            solve()
        return False
    assignment = solve()
    verify(problem, assignment)
    k, cells = best
    value = k if problem.objective == "k" else AnonymityVector.from_sizes(cells)
    if problem.objective == "k":
        assert assignment.value <= value <= assignment.bound
    else:
        assert assignment.bound <= value <= assignment.value
        assert assignment.k_bound >= k
    if method.exact:
        assert assignment.optimal, f"{method.name} did not finish on {problem.sizes} {problem.capacities}"
    if assignment.optimal:
        assert assignment.value == value
    return assignment.value == value


def every():
    for method in METHODS.values():
        for objective in method.objectives:
            yield pytest.param(method.name, objective, id=f"{method.name}-{objective}")


CASES = list(every())


def run(name, objective, seeds):
    method = METHODS[name]
    makers = [random_plain] if "plain" in method.traits else [random_plain, random_general]
    for seed in seeds:
        generator = np.random.default_rng(seed)
        for make in makers:
            compare(method, make(generator, objective=objective), seed)
        if "diverse" in method.traits and seed % 2 == 0:
            compare(method, random_general(generator, objective=objective, diverse=True), seed)


@pytest.mark.parametrize(("name", "objective"), CASES)
def test_against_every_assignment(name, objective):
    run(name, objective, range(100))


@pytest.mark.long
@pytest.mark.parametrize(("name", "objective"), CASES)
def test_against_every_assignment_thousands(name, objective):
    run(name, objective, range(1000, 2500))


def test_exact_methods_agree_on_a_permuted_problem():
    from shoal.appointments.problem import Problem

    generator = np.random.default_rng(5)
    for seed in range(30):
        problem = random_plain(generator, most_people=30, most_groups=5, most_slots=5)
        turned = Problem(generator.permutation(problem.sizes), generator.permutation(problem.capacities))
        found = {
            METHODS[name].solve(each, budget=Budget(iterations=200_000), seeds=Seeds(seed)).value
            for name in ("branch-and-bound", "constraint", "auto")
            for each in (problem, turned)
        }
        assert len(found) == 1
