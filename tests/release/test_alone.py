"""Two runs do not work in one folder, and nobody forgets a release because another one ended at the same moment."""

from pathlib import Path

import pytest
from tests.release.plans import survey
from tests.release.test_register import PLAIN

import shoal
from shoal.release.folder import ReleaseFolder
from shoal.release.lock import alone
from shoal.release.register import register
from shoal.release.register.register import REGISTER, Register
from shoal.release.run import running as run


@pytest.mark.parametrize("how", ["resume", "force"])
def test_a_run_that_is_going_on_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str):
    plan = survey(tmp_path, PLAIN)
    monkeypatch.setattr(run, "run_step", _broken_off)
    with pytest.raises(KeyboardInterrupt):
        shoal.release(plan, tmp_path / "out")
    monkeypatch.undo()
    folder = ReleaseFolder(tmp_path / "out")
    before = (folder.internal / "secret.txt").read_bytes()
    with folder.held(), pytest.raises(shoal.InputError, match="another run for 'out' is going on"):
        shoal.release(plan, tmp_path / "out", **{how: True})
    assert (folder.internal / "secret.txt").read_bytes() == before
    assert shoal.release(plan, tmp_path / "out", **{how: True}).folder.is_dir()


def _broken_off(*given: object) -> None:
    raise KeyboardInterrupt


def test_releases_are_remembered_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write = register.write_private
    taken = []

    def writing(place: Path, text: str) -> None:
        with pytest.raises(shoal.InputError, match="busy"), alone(place.parent, "busy"):
            pass
        taken.append(place.name)
        write(place, text)

    monkeypatch.setattr(register, "write_private", writing)
    shoal.release(survey(tmp_path, PLAIN), tmp_path / "out")
    assert taken == [REGISTER] and len(Register(tmp_path / REGISTER).entries()) == 1
