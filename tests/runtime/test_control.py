"""Pause, resume and cancel, within a process and between processes."""

import json
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.waiting import GUARD, naps, until

from shoal.runtime import Budget, Control, StopReason


@pytest.fixture(params=["own", "shared"])
def control(request, tmp_path):
    with Control() if request.param == "own" else Control.shared(tmp_path) as made:
        yield made


def test_states(control):
    assert (control.paused, control.cancelled) == (False, False)
    control.pause()
    assert (control.paused, control.cancelled) == (True, False)
    control.resume()
    assert (control.paused, control.cancelled) == (False, False)
    control.pause()
    control.cancel()
    assert (control.paused, control.cancelled) == (False, True)


@given(st.lists(st.sampled_from(["pause", "resume", "cancel"]), max_size=12))
def test_cancelled_is_for_good(deeds):
    control = Control()
    for deed in deeds:
        getattr(control, deed)()
    waits = [deed for deed in deeds if deed != "cancel"]
    assert control.cancelled == ("cancel" in deeds)
    assert control.paused == (waits[-1:] == ["pause"] and "cancel" not in deeds)


def test_a_pause_that_comes_with_a_cancellation_does_not_undo_it(tmp_path):
    # Two processes at once: each looks first, then writes.
    with Control.shared(tmp_path) as one, Control.at(one.path) as other:
        one._memory[0] = 1
        other.cancel()
        one.resume()
        assert one.cancelled
        assert other.cancelled


def test_the_maker_removes_the_file_and_keeps_the_state(tmp_path):
    control = Control.shared(tmp_path)
    path = control.path
    assert path.parent == tmp_path
    with Control.at(path) as other:
        other.cancel()
    assert path.exists()
    control.close()
    control.close()
    assert not path.exists()
    assert control.cancelled


def test_only_a_shared_control_travels(tmp_path):
    with Control.shared(tmp_path) as control:
        with pickle.loads(pickle.dumps(control)) as copy:
            copy.pause()
            assert control.paused
        assert control.path.exists()
        budget = pickle.loads(pickle.dumps(Budget(iterations=3, control=control)))
        assert budget == Budget(iterations=3)
        control.cancel()
        assert budget.start().closing()["stopped_by"] is StopReason.INTERRUPT
        budget.control.close()
    with pytest.raises(TypeError, match=r"Control\.shared"):
        pickle.dumps(Control())


def _count(path: Path) -> int:
    return int(path.read_text()) if path.exists() else 0


def test_a_search_in_another_process_is_paused_resumed_and_cancelled(tmp_path):
    count = tmp_path / "count"
    with Control.shared(tmp_path) as control:
        command = [sys.executable, "-m", "tests.runtime.searching", str(control.path), str(count)]
        search = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            began = time.monotonic()
            until(lambda: _count(count) > 5)
            control.pause()
            halted, slept = _count(count), naps(search.pid)
            # Every step sleeps once, and so does every look at the switches during a pause.
            until(lambda: naps(search.pid) > slept + 3)
            paused = time.monotonic()
            until(lambda: naps(search.pid) > slept + 20)
            # The step that was under way when the pause came may still have been finished.
            assert _count(count) <= halted + 1
            assert search.poll() is None
            paused = time.monotonic() - paused
            control.resume()
            until(lambda: _count(count) > halted + 5)
            control.cancel()
            out, _ = search.communicate(timeout=GUARD)
        finally:
            search.kill()
            search.wait()
        lasted = time.monotonic() - began
    ended = json.loads(out)
    assert ended["stopped_by"] == "interrupt"
    assert ended["work"] == _count(count)
    assert ended["seconds"] <= lasted - paused


@pytest.mark.parametrize("deed", ["pause", "cancel"])
def test_another_process_reaches_the_search_of_this_one(deed, tmp_path):
    with Control.shared(tmp_path) as control:
        code = f"from shoal.runtime import Control; Control.at({str(control.path)!r}).{deed}()"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=GUARD)
        assert (control.paused, control.cancelled) == (deed == "pause", deed == "cancel")
