"""Runs a plan again and again, is killed at each moment that matters, and goes on: a program of its own, started by the tests.

Each run is a fork of a process that has imported everything and done nothing, so that hundreds of them cost little.
"""

import contextlib
import importlib
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import shoal
from shoal import sources
from shoal.release.folder import ReleaseFolder
from shoal.release.register.register import Register
from shoal.release.run import running

#: Before and after each of these somebody may be killed.
MOMENTS: dict[str, Any] = {
    "run_step": running,
    "write": sources,
    "finish_step": ReleaseFolder,
    "keep_only": ReleaseFolder,
    "protect": ReleaseFolder,
    "remember": Register,
    "finish": ReleaseFolder,
}


def _counted(reached: Callable[[str], None]) -> None:
    for name, owner in MOMENTS.items():
        original = getattr(owner, name)

        def around(*given: Any, _original: Any = original, _name: str = name, **named: Any) -> Any:
            reached(f"before {_name}")
            found = _original(*given, **named)
            reached(f"after {_name}")
            return found

        setattr(owner, name, around)


def in_fork(work: Callable[[], None]) -> int:
    """Do something in a process of its own; how it ended, negative if it was killed."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as problem:
            print(repr(problem), file=sys.stderr)
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(plan: str, place: str, names: str) -> None:
    """Run the plan, then kill a repetition of it at every moment of these names, and go on with it."""
    whole = Path(place) / "whole"
    wanted = names.split(", ")
    counts = Path(place) / "counts.json"

    def undisturbed() -> None:
        seen: list[str] = []
        _counted(seen.append)
        shoal.release(plan, whole)
        counts.write_text(json.dumps([seen, sorted(sys.modules)]))

    assert in_fork(undisturbed) == 0
    seen, needed = json.loads(counts.read_text())
    # Most is imported only when it is needed: here once for all forks, rather than in each of them.
    for name in needed:
        with contextlib.suppress(ImportError):  # some modules are made, not found
            importlib.import_module(name)
    moments = [number for number, name in enumerate(seen) if name in wanted]
    for number in moments:
        folder = Path(place) / f"at-{number}"

        def killed(number: int = number, folder: Path = folder) -> None:
            left = [number]

            def reached(name: str) -> None:
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

            _counted(reached)
            shoal.release(plan, folder, repeat=whole)

        assert in_fork(killed) == -signal.SIGKILL
        # Whoever was killed after the last move has a whole release.
        if not folder.exists():
            left = [path.name for path in Path(place).iterdir() if path.name.startswith(f".at-{number}.")]
            assert left == [f".at-{number}.unfinished"], left
            assert (Path(place) / left[0]).stat().st_mode & 0o077 == 0
            assert (
                in_fork(lambda folder=folder: shoal.release(plan, folder, resume=True, repeat=whole) and None)
                == 0
            )
    print(json.dumps(moments))


if __name__ == "__main__":
    main(*sys.argv[1:])
