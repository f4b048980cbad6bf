"""Compiling is no part of a search: clocks stand still meanwhile, in all threads, and never go back."""

from shoal.runtime import Budget, compilation
from shoal.runtime.compilation import ClockWithoutCompiling
from shoal.runtime.stages import Stopwatch


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_clock_stands_still_while_kernels_are_compiled() -> None:
    real = Clock()
    clock = ClockWithoutCompiling(real)
    real.now = 101.0
    assert clock.now() == 101.0
    clock.begin()
    real.now = 120.0
    assert clock.now() == 101.0 and clock.compiling() == 19.0
    clock.end()
    real.now = 121.0
    assert clock.now() == 102.0 and clock.compiling() == 19.0


def test_kernels_that_are_compiled_within_others_count_once() -> None:
    real = Clock()
    clock = ClockWithoutCompiling(real)
    clock.begin()
    real.now = 103.0
    clock.begin()
    real.now = 105.0
    clock.end()
    assert clock.now() == 100.0
    real.now = 106.0
    clock.end()
    assert clock.compiling() == 6.0 and clock.now() == 100.0


def test_a_run_that_begins_while_another_thread_compiles_has_no_negative_time() -> None:
    real = Clock()
    clock = ClockWithoutCompiling(real)
    clock.begin()
    real.now = 110.0
    run = Budget(seconds=5.0, clock=clock.now).start()
    real.now = 130.0
    assert run.seconds == 0.0 and not run.stopped
    clock.end()
    real.now = 134.0
    assert run.seconds == 4.0 and not run.stopped
    assert run.remaining().seconds == 1.0
    real.now = 135.0
    assert run.stopped


def test_cancelling_is_seen_while_kernels_are_compiled() -> None:
    real = Clock()
    clock = ClockWithoutCompiling(real)
    run = Budget(seconds=5.0, clock=clock.now).start()
    clock.begin()
    run.budget.control.cancel()
    assert run.out_of_time and run.stopped


def test_what_is_given_up_is_no_longer_compiled() -> None:
    before = compilation.seconds_of_compiling()
    try:
        with compilation.compiling():
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    spent = compilation.seconds_of_compiling()
    assert spent >= before
    assert compilation.seconds_of_compiling() == spent


def test_budgets_count_by_the_clock_without_compiling_unless_told() -> None:
    assert Budget().clock is compilation.working_time
    assert Budget().by_wall_clock
    assert not Budget(clock=compilation.working_cpu_time).by_wall_clock


def test_compiling_is_a_stage_of_its_own_where_it_took_time() -> None:
    real = Clock()
    clock = ClockWithoutCompiling(real)
    watch = Stopwatch("reading", clock=clock.now, compiling=clock.compiling)
    real.now = 101.0
    watch.begins("rounds")
    clock.begin()
    real.now = 107.0
    clock.end()
    real.now = 109.0
    assert watch.seconds() == {"reading": 1.0, "compiling": 6.0, "search": 2.0}
    assert list(watch.seconds()) == ["reading", "compiling", "search"]
    again = Stopwatch("reading", clock=clock.now, compiling=clock.compiling)
    assert again.seconds() == {"reading": 0.0}


def test_an_end_without_its_beginning_does_not_stop_a_clock() -> None:
    """Ctrl-C may come between the beginnings of two clocks; what is compiled then ends for both."""
    now = [1.0]
    clock = ClockWithoutCompiling(lambda: now[0])
    clock.end()
    now[0] = 5.0
    assert clock.now() == 5.0
    clock.begin()
    now[0] = 7.0
    assert clock.now() == 5.0
    clock.end()
    assert clock.now() == 5.0 and clock.compiling() == 2.0
