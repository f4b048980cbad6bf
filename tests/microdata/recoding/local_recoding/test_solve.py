from dataclasses import replace

import numpy as np
import pytest
from tests.microdata.recoding.instances import sample
from tests.microdata.recoding.local_recoding import plain

from shoal.errors import Infeasible, InputError
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.models.model import (
    AverageRisk,
    Closeness,
    ConfidentialColumn,
    DistinctDiversity,
    EntropyDiversity,
    KMap,
)
from shoal.microdata.recoding import lattice
from shoal.microdata.recoding.local_recoding.solve import solve
from shoal.microdata.recoding.methods import METHODS
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.solution import Recoding
from shoal.microdata.recoding.verify import verify
from shoal.runtime import Budget, Seeds


def classes(problem: Problem, found: Recoding) -> dict[tuple, list[tuple[int, int]]]:
    """The tuples of each class of the release with their records, by labels."""
    by_labels: dict[tuple, list[tuple[int, int]]] = {}
    for item, records, levels, kept in zip(
        found.tuples.tolist(),
        found.records.tolist(),
        found.levels.tolist(),
        found.released.tolist(),
        strict=True,
    ):
        labels = tuple(
            tree.rows[leaf][level]
            for tree, leaf, level in zip(
                problem.hierarchies, problem.keys[item].tolist(), levels, strict=True
            )
        )
        by_labels.setdefault(labels if kept else (), []).append((item, records))
    return by_labels


def loss_by_hand(problem: Problem, found: Recoding) -> float:
    """What the pieces lose, from their labels."""
    total = 0.0
    for item, records, levels, kept in zip(
        found.tuples.tolist(),
        found.records.tolist(),
        found.levels.tolist(),
        found.released.tolist(),
        strict=True,
    ):
        for column, tree in enumerate(problem.hierarchies):
            row, level = tree.rows[problem.keys[item, column]], levels[column]
            under = [other[0] for other in tree.rows if other[level] == row[level]]
            if problem.measure == "cells":
                lost = 0.0 if kept and under == [row[level]] else 1.0
            else:
                coarse = not kept or level == tree.height
                lost = 1.0 if coarse else (len(under) - 1) / max(1, len(tree.rows) - 1)
            total += float(problem.weights[column]) * records * lost
    return total if problem.measure == "cells" else total / (problem.size * float(problem.weights.sum()))


def expect_sound(problem: Problem, found: Recoding) -> None:
    """Every record once, levels as allowed, k people in every class, no more left out than allowed, the loss as stated."""
    counted = np.bincount(found.tuples, weights=found.records, minlength=problem.records.size)
    assert counted.tolist() == problem.records.tolist()
    assert (found.levels >= np.array(problem.lowest)).all()
    assert (found.levels <= np.array(problem.highest)).all()
    alone = problem.spread is None and (problem.people == problem.records).all()
    for labels, members in classes(problem, found).items():
        tuples, records = [item for item, _ in members], sum(count for _, count in members)
        people = records if alone else plain.distinct_people(problem, tuples)
        assert people >= problem.k if labels else people <= problem.limit
    assert found.released.any()
    assert found.value == pytest.approx(loss_by_hand(problem, found), abs=1e-9)


def test_lies_between_the_best_of_all_groupings_and_its_own_bound_on_either_side():
    proved, missed, cases = 0, 0, 0
    for seed in range(400):
        problem = plain.problem(seed)
        best = plain.least_loss(problem)
        if not np.isfinite(best):
            with pytest.raises(Infeasible):
                solve(problem)
            continue
        found = solve(problem)
        expect_sound(problem, found)
        assert found.bound is not None
        assert found.bound <= best + 1e-9
        assert found.value >= best - 1e-9
        cases += 1
        proved += found.optimal
        missed += found.value > best + 1e-9
        if problem.spread is None and problem.limit == 0:
            assert found.value <= best + 1e-9
    assert proved > cases / 4
    assert missed < cases / 20


def test_larger_problems_are_sound_too():
    for seed in range(1000, 1060):
        problem = plain.problem(seed, records=(20, 120))
        try:
            found = solve(problem)
        except Infeasible:
            continue
        expect_sound(problem, found)


def test_is_never_worse_than_the_recoding_it_starts_from():
    for seed in range(200):
        problem = plain.problem(seed, records=(5, 40), measures=("loss", "cells", "entropy"))
        try:
            start = lattice.solve(problem)
        except Infeasible:
            continue
        assert solve(problem, budget=Budget(iterations=1), start=start).value <= start.value + 1e-9
        assert start.uniform is not None
        assert solve(problem, budget=Budget(iterations=1), start=start.uniform).value <= start.value + 1e-9


def with_values(seed: int, **settings: object) -> Problem:
    """A problem with a confidential column."""
    rng = np.random.default_rng(seed)
    trees = [plain.tree(rng, 8, 3, "a"), plain.tree(rng, 5, 2, "b")]
    columns = [rng.integers(0, len(one.rows), 150).astype(np.int32) for one in trees]
    codes = rng.choice(4, 150, p=[0.55, 0.25, 0.15, 0.05]).astype(np.int32)
    column = ConfidentialColumn("ill", np.bincount(codes) / 150)
    return Problem.of(columns, trees, k=3, confidential={"ill": (codes, column)}, **settings)


@pytest.mark.parametrize(
    "model",
    [DistinctDiversity("ill", 3), EntropyDiversity("ill", 2.2), Closeness("ill", 0.3), AverageRisk(0.1)],
    ids=lambda model: model.text,
)
def test_classes_hold_under_models(model):
    for seed in range(8):
        problem = with_values(seed, models=(model,))
        found = solve(problem)
        expect_sound(problem, found)
        every = classes(problem, found)
        if isinstance(model, AverageRisk):
            assert len(every) <= 0.1 * 150 * (1 + 1e-9)
            continue
        shares = problem.confidential["ill"].shares
        for members in every.values():
            counts = np.zeros(4)
            for item, _ in members:
                own = problem.histograms["ill"]
                run = slice(own.starts[item], own.starts[item + 1])
                counts[own.values[run]] += own.counts[run]
            part = counts / counts.sum()
            there = part[part > 0]
            if isinstance(model, DistinctDiversity):
                assert there.size >= 3
            elif isinstance(model, EntropyDiversity):
                assert -(there * np.log(there)).sum() >= np.log(2.2) - 1e-9
            else:
                assert np.abs(part - shares).sum() / 2 <= 0.3 + 1e-9


def test_the_search_gains_where_models_are_asked_for_too():
    gained = 0
    for seed in range(6):
        problem = with_values(seed, models=(DistinctDiversity("ill", 2),))
        first = solve(problem, budget=Budget(iterations=1))
        gained += solve(problem).value < first.value - 1e-9
    assert gained >= 2


def test_more_values_than_there_are_is_infeasible():
    with pytest.raises(Infeasible, match="no local recoding was found"):
        solve(with_values(1, models=(DistinctDiversity("ill", 5),)))


def test_those_kept_without_keys_are_enough_people():
    rng = np.random.default_rng(5)
    tree = plain.tree(rng, 6, 2, "a")
    columns = [np.array([0] * 9 + [1] * 9 + [2, 3, 4, 5]), rng.integers(0, 6, 22)]
    problem = Problem.of(columns, [tree, tree], k=4, limit=22, keep_suppressed=True)
    found = solve(problem)
    out = int(found.records[~found.released].sum())
    assert out == 0 or out >= 4


@pytest.mark.parametrize("measure", ["discernibility", "class-size"])
def test_measures_without_a_price_of_levels_are_refused(measure):
    ages = Hierarchy([("31", "30-39"), ("38", "30-39")])
    with pytest.raises(InputError, match="does not say what they cost"):
        solve(Problem.of([np.array([0, 1])], [ages], k=2, measure=measure))


def test_models_of_a_population_are_refused():
    ages = Hierarchy([("31", "30-39"), ("38", "30-39")])
    keys = [np.array([0, 1])]
    with pytest.raises(InputError, match="one recoding of all"):
        solve(Problem.of(keys, [ages], k=2, population=keys, models=(KMap(2),)))


def test_a_label_with_two_meanings_is_refused_unless_one_of_them_cannot_occur():
    rows = [("1", "low", "low", "*"), ("2", "low", "low", "*"), ("3", "mid", "low", "*")]
    unclear = Hierarchy(rows)
    keys = [np.array([0, 1, 2])]
    with pytest.raises(InputError, match="the hierarchy of key 1 has a label") as error:
        solve(Problem.of(keys, [unclear], k=2))
    assert "low" not in str(error.value)
    assert solve(Problem.of(keys, [unclear], k=2, lowest=(2,))).optimal


def test_the_same_seed_gives_the_same_groups_with_any_number_of_threads():
    problem = plain.problem(77, records=(300, 301), units=False)
    one = solve(problem, seeds=Seeds(3), threads=1, budget=Budget(iterations=3000))
    two = solve(problem, seeds=Seeds(3), threads=2, budget=Budget(iterations=3000))
    assert one.levels.tolist() == two.levels.tolist()
    assert one.records.tolist() == two.records.tolist()


def test_is_registered():
    assert METHODS["local"].solver.endswith("local_recoding.solve:solve")


@pytest.mark.parametrize("seed", range(60))
def test_who_may_leave_out_records_never_loses_more(seed: int) -> None:
    problem = sample(seed, measures=("loss", "cells")).problem
    problem = replace(problem, lowest=(0,) * len(problem.hierarchies), highest=problem.heights)
    if problem.population is not None:
        return
    for budget in (None, Budget(iterations=0), Budget(iterations=30)):
        try:
            strict = solve(replace(problem, limit=0), budget=budget)
        except (Infeasible, InputError):
            return
        for limit in (1, problem.units // 3, problem.units):
            free = replace(problem, limit=limit)
            recoding = solve(free, budget=budget)
            verify(free, recoding)
            assert recoding.value <= strict.value + 1e-9 * max(1.0, strict.value)
