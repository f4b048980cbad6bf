"""Budgets and runs: when a search stops, how its work is cut, what it tells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.clocks import Clock

from shoal.errors import InputError
from shoal.runtime import Budget, Control, Direction, Progress, Solution, StopReason


@pytest.mark.parametrize(
    "wrong", [{"iterations": -1}, {"seconds": 0.0}, {"seconds": -2.0}, {"seconds": float("nan")}]
)
def test_impossible_budgets_are_refused(wrong):
    with pytest.raises(InputError):
        Budget(**wrong)


@given(
    iterations=st.integers(0, 5000),
    preferred=st.integers(0, 700),
    pace=st.floats(0, 10, allow_subnormal=False),
)
def test_chunks_add_up_to_the_budget(iterations, preferred, pace):
    clock = Clock()
    run = Budget(iterations=iterations, clock=clock).start()
    while chunk := run.chunk(preferred):
        assert 1 <= chunk <= max(1, preferred)
        clock.forward(pace * chunk)
        run.spend(chunk)
    assert run.work == iterations
    assert run.closing()["stopped_by"] is StopReason.ITERATIONS


def test_a_chunk_takes_about_a_tenth_of_a_second():
    clock = Clock()
    run = Budget(seconds=60.0, clock=clock).start()
    pace = 1 / 2000
    chunks = []
    while chunk := run.chunk(1000):
        chunks.append(chunk)
        clock.forward(pace * chunk)
        run.spend(chunk)
    assert chunks[0] == 1000
    assert all(195 <= chunk <= 205 for chunk in chunks[1:])
    assert 60.0 <= run.seconds <= 60.0 + 0.11


def test_a_slow_beginning_does_not_make_chunks_small_for_long():
    # The first chunk often includes compilation.
    clock = Clock()
    run = Budget(iterations=10**6, clock=clock).start()
    clock.forward(20.0)
    run.spend(run.chunk(1000))
    sizes = []
    for _ in range(6):
        sizes.append(run.chunk(1000))
        clock.forward(1e-6 * sizes[-1])
        run.spend(sizes[-1])
    assert sizes[-1] == 1000


def test_time_over():
    clock = Clock()
    run = Budget(seconds=1.5, iterations=10, clock=clock).start()
    assert not run.stopped
    clock.forward(1.4)
    assert not run.stopped
    clock.forward(0.1)
    assert run.stopped
    assert run.chunk(5) == 0
    assert run.closing()["stopped_by"] is StopReason.TIME


@pytest.mark.parametrize(
    ("direction", "values", "target"),
    [(Direction.MINIMISE, [9, 7, 5], 5), (Direction.MAXIMISE, [(1, 0), (2, 9), (3, 1)], (3, 0))],
)
def test_target_reached(direction, values, target):
    run = Budget(target=target, iterations=100).start(direction=direction)
    for value in values[:-1]:
        run.report(value)
        assert not run.stopped
    run.report(values[-1])
    assert run.stopped
    assert run.closing()["stopped_by"] is StopReason.TARGET


def test_a_target_reached_with_the_last_iteration_counts_as_reached():
    run = Budget(target=3, iterations=1).start()
    run.spend(run.chunk(1))
    run.report(3)
    assert run.stopped
    assert run.closing()["stopped_by"] is StopReason.TARGET


def test_cancellation_stops_whatever_is_left():
    control = Control()
    run = Budget(iterations=100, control=control).start()
    run.spend(run.chunk(10))
    control.cancel()
    assert run.chunk(10) == 0
    assert run.closing()["stopped_by"] is StopReason.INTERRUPT
    assert run.work == 10


def test_the_first_reason_to_stop_stays():
    control = Control()
    run = Budget(iterations=5, control=control).start()
    run.finish()
    control.cancel()
    run.finish(StopReason.TIME)
    assert run.stopped
    assert run.closing()["stopped_by"] is StopReason.OPTIMAL


class Watched(Control):
    """A control that does something whenever a paused search looks at it."""

    def __init__(self, deed):
        super().__init__()
        self._deed, self._looks = deed, 0

    @property
    def paused(self):
        if super().paused:
            self._looks += 1
            self._deed(self._looks)
        return super().paused


def test_a_pause_is_waited_for_and_not_counted():
    clock = Clock()

    def while_paused(looks):
        if looks == 4:
            control.resume()
        elif looks > 1:  # the first look finds the pause, the others wait for its end
            clock.forward(10.0)

    control = Watched(while_paused)
    run = Budget(iterations=10, control=control, clock=clock).start()
    control.pause()
    assert run.chunk(5) == 5
    assert clock.now == 120.0
    assert run.seconds == 0.0


def test_a_paused_search_can_be_cancelled():
    control = Watched(lambda looks: control.cancel() if looks == 4 else None)
    run = Budget(iterations=10, control=control).start()
    control.pause()
    assert run.chunk(5) == 0
    assert run.closing()["stopped_by"] is StopReason.INTERRUPT


@given(st.lists(st.tuples(st.integers(-20, 20), st.none() | st.integers(-40, 20)), max_size=30))
def test_history_keeps_improvements_only_and_observers_hear_everything(reports):
    heard = []
    clock = Clock()
    run = Budget(iterations=1000, clock=clock).start(heard.append)
    best, bound, expected = None, None, []
    for value, limit in reports:
        run.spend(3)
        clock.forward(0.5)
        run.report(value, bound=limit)
        before = (best, bound)
        best = value if best is None else min(best, value)
        bound = limit if bound is None else bound if limit is None else max(bound, limit)
        if (best, bound) != before:
            expected.append((run.work, run.seconds, best, bound))
    assert [(p.work, p.seconds, p.value, p.bound) for p in run.closing()["history"]] == expected
    assert len(heard) == len(reports)
    assert all(isinstance(progress, Progress) and progress.total == 1000 for progress in heard)


def test_share_is_that_of_the_limit_that_is_nearer():
    clock, heard = Clock(), []
    run = Budget(iterations=100, seconds=10.0, clock=clock).start(heard.append)
    run.spend(20)
    run.report(1)
    clock.forward(9.0)
    run.report(1)
    clock.forward(9.0)
    run.report(1)
    assert [progress.share for progress in heard] == [pytest.approx(0.2), pytest.approx(0.9), 1.0]
    Budget().start(heard.append).report(1)
    assert heard[-1].share is None


def test_what_remains_for_an_inner_solver():
    clock, control = Clock(), Control()
    run = Budget(iterations=100, seconds=10.0, target=4, control=control, clock=clock).start()
    run.spend(30)
    clock.forward(4.0)
    left = run.remaining()
    assert (left.iterations, left.target) == (70, 4)
    assert left.seconds == pytest.approx(6.0)
    assert run.remaining(iterations=50, seconds=2.0) == Budget(iterations=50, seconds=2.0, target=4)
    assert run.remaining(iterations=500, seconds=20.0).iterations == 70
    clock.forward(7.0)
    overdue = run.remaining().start()
    clock.forward(1e-6)
    assert overdue.stopped
    control.cancel()
    assert left.start().closing()["stopped_by"] is StopReason.INTERRUPT


def test_an_inner_solver_reports_through_the_outer_run():
    heard = []
    outer = Budget(iterations=100).start(heard.append)
    outer.spend(10)
    inner = outer.remaining(iterations=20).start(outer.nested("inner", unit=2))
    inner.spend(5)
    inner.report(7, bound=3)
    assert (heard[-1].work, heard[-1].value, heard[-1].bound, heard[-1].phase) == (20, 7, 3, "inner")
    assert (outer.work, outer.value, outer.bound) == (10, 7, 3)


def test_an_observer_that_fails_does_not_spoil_the_count():
    def fail(progress):
        raise RuntimeError("cannot draw")

    outer = Budget(iterations=100).start(fail)
    inner = Budget().start(outer.nested("inner", unit=1))
    inner.spend(5)
    with pytest.raises(RuntimeError):
        inner.report(1)
    assert outer.work == 0


def test_closing_fills_a_solution():
    run = Budget(iterations=2).start(direction=Direction.MAXIMISE)
    while run.chunk(1):
        run.spend()
        run.report(run.work)
    solution = Solution(value=run.value, bound=5, **run.closing())
    assert (solution.value, solution.work, solution.stopped_by) == (2, 2, StopReason.ITERATIONS)
    assert solution.direction is Direction.MAXIMISE
    assert [point.value for point in solution.history] == [1, 2]


@pytest.mark.parametrize(
    ("direction", "value", "bound"), [(Direction.MINIMISE, 2, 3), (Direction.MAXIMISE, 3, 2)]
)
def test_a_solution_cannot_be_better_than_its_bound(direction, value, bound):
    with pytest.raises(AssertionError):
        Solution(value=value, bound=bound, direction=direction)
    Solution(value=bound, bound=value, direction=direction)
