"""The conformance battery: it passes a solver as it should be and catches one that breaks each promise."""

import pytest
from tests.runtime import toy

from shoal.runtime import conformance

BROKEN = [
    ("result-is-verified", "wrong_value", "sum of the chosen"),
    ("result-is-verified", "says_time", "under a budget of iterations alone"),
    ("result-is-verified", "says_stopped_by_optimum", "does not call its result optimal"),
    ("defaults-end-on-small-problems", "endless_without_a_limit", "did not stop"),
    ("defaults-end-on-small-problems", "says_interrupted_without_a_limit", "nothing but defaults"),
    ("bound-is-not-crossed", "bound_too_high", "cuts off the optimum"),
    ("bound-is-not-crossed", "too_good", "better than the optimum"),
    ("bound-is-not-crossed", "says_optimal", "says optimal"),
    ("same-seed-same-result", "unseeded", "gave two results"),
    ("same-seed-same-result", "depends_on_threads", "one thread and two"),
    ("speed-does-not-matter", "depends_on_chunks", "how fast the machine is"),
    ("iterations-are-obeyed", "ignores_iterations", "of 0 iterations"),
    ("time-is-obeyed", "ignores_clock", "after its time was over"),
    ("time-is-obeyed", "looks_at_clock_but_goes_on", "looked at the clock"),
    ("interrupt-keeps-the-best", "ignores_cancellation", "it went on to"),
    ("interrupt-keeps-the-best", "starts_in_spite_of_cancellation", "cancelled before it began"),
    ("interrupt-keeps-the-best", "loses_best_on_cancellation", "when it was cancelled"),
    ("interrupt-keeps-the-best", "tells_nothing", "tells its observer nothing"),
    ("history-is-monotone", "forgets_history", "history is empty"),
    ("history-is-monotone", "value_goes_up", "gets worse"),
    ("history-is-monotone", "work_goes_back", "work goes back"),
    ("history-is-monotone", "time_goes_back", "time goes back"),
    ("history-is-monotone", "bound_gets_looser", "looser"),
    ("history-is-monotone", "saw_better_than_it_returns", "the history saw"),
    ("input-is-not-modified", "sorts_the_input", "modified the problem"),
    ("bad-problems-are-refused", "takes_anything", "accepted bad problem"),
    ("bad-problems-are-refused", "refuses_at_length", "not one line"),
]


def _check(suite, name):
    (check,) = [check for check in conformance.checks(suite) if check.name == name]
    return check


@pytest.mark.parametrize("check", conformance.checks(toy.suite("honest")), ids=str)
def test_an_honest_solver_passes(check):
    check()


@pytest.mark.parametrize(("name", "solver", "message"), BROKEN)
def test_a_broken_promise_is_caught(name, solver, message):
    with pytest.raises(AssertionError, match=message):
        _check(toy.suite(solver), name)()


def test_a_method_without_a_problem_is_caught():
    suite = toy.suite("honest", accepts=False)
    with pytest.raises(AssertionError, match="no problem this method accepts"):
        _check(suite, "takes-some-problem")()


def test_options_that_can_be_changed_are_caught():
    with pytest.raises(AssertionError, match="can be changed"):
        _check(toy.suite("honest", options=toy.LooseOptions), "options-are-frozen")()


def test_a_crash_on_a_bad_problem_is_no_refusal():
    with pytest.raises(IndexError):
        _check(toy.suite("crashes"), "bad-problems-are-refused")()


def test_every_check_has_a_solver_that_it_catches():
    caught = {name for name, _, _ in BROKEN} | {"takes-some-problem", "options-are-frozen"}
    assert {check.name for check in conformance.checks(toy.suite("honest"))} == caught


def test_what_is_constructive_need_not_stop_early():
    suite = toy.suite("ignores_cancellation", traits=["constructive"])
    _check(suite, "interrupt-keeps-the-best")()
    _check(toy.suite("ignores_iterations", traits=["constructive"]), "iterations-are-obeyed")()


def test_checks_are_named_after_method_and_promise():
    assert "honest-time-is-obeyed" in [str(check) for check in conformance.checks(toy.suite("honest"))]
