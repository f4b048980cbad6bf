"""Evolution of Python objects: counts, budget, best, streams and parallel evaluation."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.runtime import Budget, Control, Seeds, StopReason
from shoal.runtime.evolution import (
    AnyParents,
    Evolution,
    MergeAndTruncate,
    Operator,
    ReplaceSimilar,
    Strategy,
    SwitchOff,
    evolve,
)
from shoal.runtime.randomness import below

KEEP_FITTEST = Strategy(AnyParents(), MergeAndTruncate())


def _nudge(state, number):
    return [number + int(below(state, 21)) - 10]


def _blend(state, one, other):
    return [(one + other) // 2, one + other - (one + other) // 2]


NUDGE, BLEND = Operator("nudge", _nudge, times=4), Operator("blend", _blend, parents=2, times=3)


def _search(
    *, seed=0, founders=(900, 500, 700, 800, 600), operators=(NUDGE, BLEND), strategy=KEEP_FITTEST, **options
):
    return Evolution(founders, abs, operators, strategy, Seeds(seed), **options)


def test_counts_and_order():
    search, called = _search(), []
    for expected in range(1, 31):
        search.step()
        called.append(search.best)
        assert search.generation == expected
        assert search.evaluations == 5 + expected * (4 + 2 * 3)
        assert search.population.keys[:, 0].tolist() == sorted(search.population.keys[:, 0].tolist())
        assert [abs(member) for member in search.population.members] == search.population.keys[:, 0].tolist()
    assert [abs(best) for best in called] == sorted((abs(best) for best in called), reverse=True)
    assert abs(search.best) < 500
    assert search.best_key.tolist() == [abs(search.best)]
    made = search.statistics.made
    assert made.tolist() == [[4] * 30, [6] * 30]


def test_children_of_the_last_generation_are_unused_and_the_discarded_live_not_at_all():
    search = _search()
    for _ in range(12):
        search.step()
    statistics = search.statistics
    assert (statistics.unused[:, -1] == statistics.made[:, -1]).all()
    assert (statistics.unused[:, :6] < statistics.made[:, :6]).any()
    discarded = statistics.survived == 0
    assert (statistics.lifetime[discarded] == 0).all()
    assert (statistics.lifetime[~discarded] > 0).all()
    alive = search.population.numbers
    born = alive[alive >= 5] - 5
    # Children are numbered as they are born, ten in each generation.
    assert np.bincount(born // 10, minlength=12)[-1] == statistics.survived[:, -1].sum()


def test_the_same_seed_gives_the_same_course():
    one, other, different = _search(seed=3), _search(seed=3), _search(seed=4)
    for search in (one, other, different):
        for _ in range(10):
            search.step()
    assert one.population.members == other.population.members
    assert one.population.members != different.population.members


def test_evaluation_in_parallel_changes_nothing():
    def slow(number):
        time.sleep(0.002 * (number % 3))
        threads.add(threading.get_ident())
        return abs(number)

    threads, plain = set(), _search(seed=5)
    with ThreadPoolExecutor(3) as pool:
        parallel = Evolution(
            (900, 500, 700, 800, 600), slow, [NUDGE, BLEND], KEEP_FITTEST, Seeds(5), mapping=pool.map
        )
        for search in (plain, parallel):
            for _ in range(8):
                search.step()
    assert len(threads) > 1
    assert plain.population.members == parallel.population.members
    assert plain.population.keys.tolist() == parallel.population.keys.tolist()


def test_the_budget_is_spent_in_generations_and_the_history_kept():
    search, heard = _search(), []
    run = Budget(iterations=25).start(heard.append)
    generations = list(evolve(search, run))
    assert generations == list(range(1, 26))
    closing = run.closing()
    assert (closing["stopped_by"], closing["work"]) == (StopReason.ITERATIONS, 25)
    assert len(heard) == 26
    values = [point.value for point in closing["history"]]
    assert values[0] == 500
    assert values == sorted(values, reverse=True)
    assert values[-1] == abs(search.best) == run.value


def test_no_budget_no_generation_but_still_the_best_founder():
    search, run = _search(), Budget(iterations=0).start()
    assert list(evolve(search, run)) == []
    assert (search.best, run.value) == (500, 500)


def test_target_and_cancellation_end_it():
    search, run = _search(), Budget(iterations=10**6, target=50).start()
    for _ in evolve(search, run):
        assert run.value > 50 or run.stopped
    assert run.closing()["stopped_by"] is StopReason.TARGET
    control = Control()
    run = Budget(iterations=10**6, control=control).start()
    for generation in evolve(_search(), run):
        if generation == 7:
            control.cancel()
    assert (run.work, run.closing()["stopped_by"]) == (7, StopReason.INTERRUPT)


def test_patience_counts_generations_without_improvement():
    clone = Operator("clone", lambda state, number: [number])
    search = _search(operators=[clone])
    assert list(evolve(search, Budget(iterations=500).start(), patience=20)) == list(range(1, 21))
    search = _search()
    done = list(evolve(search, Budget(iterations=5000).start(), patience=30))
    assert search.stalled == 30
    assert len(done) == search.improved_at + 30


def test_the_generation_of_the_last_improvement():
    late = Operator("late", lambda state, number: [400 if search.generation == 6 else number])
    search = _search(operators=[late])
    for _ in range(10):
        search.step()
    # The seventh generation brought it, and three came after.
    assert (search.best, search.improved_at, search.stalled) == (400, 7, 3)


def test_a_key_of_several_columns_is_reported_as_a_tuple_or_as_told():
    search = Evolution([3, 1, 2], lambda n: (n % 2, -n), [NUDGE], KEEP_FITTEST, Seeds(0))
    run = Budget(iterations=0).start()
    list(evolve(search, run))
    assert run.value == (0, -2)
    run = Budget(iterations=0).start()
    list(evolve(search, run, value=lambda key: -int(key[1])))
    assert run.value == 2


def test_the_best_is_remembered_even_when_the_population_loses_it():
    away = Operator("away", lambda state, number: [number + 100])
    strategy = Strategy(AnyParents(), ReplaceSimilar(lambda one, other: abs(one - other)))
    search = _search(founders=(1, 2, 3), operators=[away], strategy=strategy)
    for _ in range(60):
        search.step()
    assert 1 not in search.population.members
    assert (search.best, search.best_key.tolist(), search.improved_at) == (1, [1], 0)


def test_a_generation_may_make_no_children():
    search = _search(operators=[Operator("barren", lambda state, number: [])], switch_off_after=5)
    for _ in range(9):
        search.step()
    assert search.evaluations == 5
    assert search.population.members == [500, 600, 700, 800, 900]
    assert search.statistics.to_records() == []
    assert not search.over


def test_whole_keys_stay_whole():
    with pytest.raises(TypeError):
        _search(operators=[Operator("half", lambda state, number: [number / 2])]).step()


def test_each_operator_draws_from_its_own_stream():
    def log(name):
        def make(state, number):
            drawn[name].append(int(below(state, 10**6)))
            return [10**9] if name == "useless" else [number + 1]

        return make

    logs = []
    for names in (["useful", "useless"], ["useful"]):
        drawn = {name: [] for name in names}
        operators = [Operator(name, log(name), times=3) for name in names]
        search = _search(operators=operators)
        for _ in range(6):
            search.step()
        logs.append(drawn)
    assert logs[0]["useful"] == logs[1]["useful"]
    assert logs[0]["useful"] != logs[0]["useless"]


@given(
    st.integers(1, 4),
    st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=3), max_size=40),
)
def test_switch_off_after_exactly_so_many_barren_generations(after, course):
    control = SwitchOff(3, after)
    made_so_far = [[], [], []]
    for generation in course:
        counts = [(made, min(made, survived)) for made, survived in generation]
        was_active = control.active.tolist()
        counts = [pair if active else (0, 0) for pair, active in zip(counts, was_active, strict=True)]
        control.update([made for made, _ in counts], [survived for _, survived in counts])
        for operator, (made, survived) in enumerate(counts):
            if made:
                made_so_far[operator].append(survived)
            last = made_so_far[operator][-after:]
            barren = len(last) == after and not any(last)
            assert control.active[operator] == (was_active[operator] and not barren)


def test_without_a_limit_nothing_is_ever_switched_off():
    control = SwitchOff(1, None)
    for _ in range(1000):
        control.update([1], [0])
    assert control.active.all()
