"""Ctrl-C: the first keeps the best, the second ends the program. With real signals."""

import json
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.waiting import GUARD

from shoal.cli.interrupts import interrupts
from shoal.cli.progress import watched
from shoal.runtime import Budget, Control
from shoal.runtime.interrupt import keep_best_on_interrupt
from shoal.runtime.linear_programmes import best_values, whole_numbers
from shoal.runtime.observer import CHECKING, Progress, Witness

SEARCH = """
import json, sys, time
from shoal.runtime import Budget, Control
from shoal.runtime.interrupt import keep_best_on_interrupt

def tell():
    print("stopping", file=sys.stderr, flush=True)

with keep_best_on_interrupt(Control(), tell) as control:
    run = Budget(seconds=600.0, control=control).start()
    print("running", flush=True)
    while {going_on}:
        time.sleep(0.005)
        run.spend()
        run.report(1000 - run.work)
closing = run.closing()
print(json.dumps([closing["stopped_by"], run.value, run.work]), flush=True)
print("after", flush=True)
time.sleep({after})
"""


@contextmanager
def _started(going_on="run.chunk(1)", after=0):
    # A shell that starts the tests in the background lets its children ignore Ctrl-C; the search must not inherit that.
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code = listening + SEARCH.format(going_on=going_on, after=after)
    program = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert program.stdout.readline() == "running\n"
        yield program
    finally:
        program.kill()
        program.communicate()


def test_the_first_ctrl_c_keeps_the_best():
    with _started() as program:
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=GUARD)
    assert program.returncode == 0
    stopped_by, value, work = json.loads(out.splitlines()[0])
    assert stopped_by == "interrupt"
    assert value in (1000 - work, None)
    assert err == "stopping\n"


def test_the_second_ctrl_c_ends_a_search_that_does_not_listen():
    with _started(going_on="True") as program:
        program.send_signal(signal.SIGINT)
        assert program.stderr.readline() == "stopping\n"
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=GUARD)
    assert program.returncode not in (0, None)
    assert "KeyboardInterrupt" in err


def test_afterwards_ctrl_c_is_what_it_was():
    with _started(after=600) as program:
        program.send_signal(signal.SIGINT)
        while program.stdout.readline() != "after\n":
            pass
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=GUARD)
    assert "KeyboardInterrupt" in err


def test_the_handler_is_put_back_whatever_happens():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RuntimeError), keep_best_on_interrupt(Control()):
        assert signal.getsignal(signal.SIGINT) is not before
        raise RuntimeError
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_the_main_thread_nothing_changes():
    before, seen = signal.getsignal(signal.SIGINT), []

    def search():
        with keep_best_on_interrupt(Control()) as control:
            seen.append(signal.getsignal(signal.SIGINT))
            run = Budget(iterations=3, control=control).start()
            while run.chunk(1):
                run.spend()
            seen.append(run.work)

    thread = threading.Thread(target=search)
    thread.start()
    thread.join()
    assert seen == [before, 3]


def test_when_the_search_is_over_the_first_ctrl_c_gives_up():
    with keep_best_on_interrupt(Control(), over=lambda: True) as control, pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert not control.cancelled


def test_a_command_says_what_follows_a_search_that_was_ended(capsys, monkeypatch):
    monkeypatch.setattr(interrupts, "pressed", False)
    monkeypatch.setattr(interrupts, "announced", False)
    control = Control()
    with watched("rounding", Budget(control=control), quiet=False) as observe:
        witness = Witness(observe)
        witness(Progress(1, 1.0, phase=CHECKING))
        witness(Progress(2, 3.0))
        signal.raise_signal(signal.SIGINT)
        assert control.cancelled
        witness.verification(checks=2)
    told = capsys.readouterr().err
    follows = "its result is verified, which takes about 4 s, and written, which no time limit ends"
    assert f"{follows} (Ctrl-C gives it up)" in told
    # What is quick needs no word, and then the first Ctrl-C gives up.
    with pytest.raises(KeyboardInterrupt), watched("rounding", Budget(), quiet=False) as observe:
        Witness(observe).verification()
        assert capsys.readouterr().err == ""
        signal.raise_signal(signal.SIGINT)


def test_a_solver_hears_ctrl_c():
    """Signals are heard at every look of the library, so that they end it, and not only what comes after it."""
    draw = np.random.default_rng(0)
    weights = draw.integers(1, 100, (5, 60)).astype(float)
    half, every = np.floor(weights.sum(axis=1) / 2), np.ones(60)

    def press() -> bool:
        signal.raise_signal(signal.SIGINT)
        return False

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            whole_numbers(np.zeros(60), np.zeros(60), every, (csr_matrix(weights), half, half), stop=press)
    finally:
        signal.signal(signal.SIGINT, before)
    stopped = whole_numbers(
        np.zeros(60), np.zeros(60), every, (csr_matrix(weights), half, half), stop=lambda: True
    )
    assert best_values(stopped) is None
