"""A search that does nothing but go on, run as a process of its own: ``python -m tests.runtime.searching PATH COUNT``.

It obeys the control at PATH, writes how far it is into the file COUNT, and prints how it ended.
"""

import json
import sys
import time
from pathlib import Path

from shoal.runtime import Budget, Control


def main(path: str, count: str) -> None:
    with Control.at(Path(path)) as control:
        run = Budget(control=control).start()
        while chunk := run.chunk(1):
            time.sleep(0.002)
            run.spend(chunk)
            Path(f"{count}.new").write_text(str(run.work))
            Path(f"{count}.new").replace(count)
        closing = run.closing()
        print(
            json.dumps(
                {"stopped_by": closing["stopped_by"], "work": closing["work"], "seconds": closing["seconds"]}
            )
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
