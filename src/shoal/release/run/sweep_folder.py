"""The hidden folder of a sweep: in the hands of one sweep at a time, and rid of the records that a killed one left."""

import multiprocessing
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from shoal.release.folder import ReleaseFolder
from shoal.release.lock import alone
from shoal.release.plan.plan import Plan
from shoal.sources.atomic import UNFINISHED


def sweep_folder(plan: Plan) -> Path:
    """Where the sweeps over a plan keep what they measured."""
    return plan.folder / f".{plan.about.name.replace(' ', '-')}.sweep"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Have the folder for this sweep alone; records on their way are removed before and after."""
    folder.mkdir(mode=0o700, exist_ok=True)
    with alone(folder, "another sweep over this plan is running; wait until it has ended, or end it"):
        try:
            _clear(folder, ".*.unfinished", f".*{UNFINISHED}*")
            yield
        finally:
            # A process of this sweep that was ended from outside may have left something.
            _clear(folder, ".*.unfinished")


def run_folder(path: Path) -> ReleaseFolder:
    """Where this process runs a variant whose figures go to ``path``: no other process works in a folder of that name."""
    return ReleaseFolder(path.with_name(f"{path.stem}.{os.getpid()}.run"))


def end_with_parent(folder: Path) -> None:
    """Begin a process of a sweep: what it writes is for its owner alone, and it ends with the sweep, whatever ends that.

    Whoever is killed cannot tell the processes that work for it. Each of them watches it, and removes its own records before
    it ends; kernels and solvers let the watching thread run beside them.
    """
    os.umask(0o077)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        _clear(folder, f".*.{os.getpid()}.run.unfinished")
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _clear(folder: Path, *patterns: str) -> None:
    for pattern in patterns:
        for left in folder.glob(pattern):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)
