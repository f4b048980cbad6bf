"""A sweep whose only process has written records and works on for ever: a program of its own, which the tests kill."""

import sys
from pathlib import Path
from threading import Event
from typing import Any

from shoal import sources
from shoal.operation_release import RecordsRelease
from shoal.release.run import sweep as sweeping
from shoal.release.run.sweep_folder import held, run_folder
from shoal.runtime.secrets import Secret


def work(place: Path) -> None:
    """What stands in for a variant."""
    import polars as pl

    folder = run_folder(place)
    folder.open(resume=False, force=True)
    sources.write(pl.DataFrame({"name": ["Ode"]}), folder.path / RecordsRelease.passes_on, force=True)
    print("working", flush=True)
    Event().wait()


def _instead(values: Any, plan: Any, place: Path, secret: Secret) -> Any:
    return work(place)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    sweeping.measure = _instead
    with held(folder):
        nothing: Any = None
        waiting = [(0, {}, nothing, folder / "one.json")]
        sweeping._side_by_side(1, folder, waiting, Secret.of_seed(0), lambda number, variant: None)
