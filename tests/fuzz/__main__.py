"""Drives the command line with broken files, hostile names and wrong options, and recomputes what it wrote.

``python -m tests.fuzz --runs 10000 --seed 0`` (or ``make fuzz``). What went wrong is printed with the command that
repeats it; the files are kept below ``artefacts/fuzz``. ``--only NUMBER`` repeats a single case.
"""

import argparse
import itertools
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.fuzz.session import Failure, Tally, play

_KEPT = Path(__file__).parents[2] / "artefacts" / "fuzz"


def main() -> int:
    """Run it; 0 if all runs were clean."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument(
        "--seed", type=int, default=0, help="where randomness begins; the same seed gives the same runs"
    )
    parser.add_argument("--runs", type=int, default=10_000, help="how many runs")
    parser.add_argument("--seconds", type=float, help="stop after this time, however many runs there were")
    parser.add_argument("--first", type=int, default=0, help="the number of the first run")
    parser.add_argument("--only", type=int, help="repeat this run alone and keep its files")
    parser.add_argument("--workers", type=int, default=1, help="how many processes at once")
    parser.add_argument("--keep", type=Path, default=_KEPT, help="where the files of failures go")
    asked = parser.parse_args()
    if asked.only is not None:
        asked.first, asked.runs, asked.workers = asked.only, 1, 1
    numbers = range(asked.first, asked.first + asked.runs)
    began = time.monotonic()
    until = None if asked.seconds is None else began + asked.seconds
    # Threads are enough: the work is done by the processes that they start.
    with ThreadPoolExecutor(asked.workers) as pool:
        parts = [
            pool.submit(
                play, asked.seed, iter(numbers[place :: asked.workers]), asked.keep, until=until, tell=_tell
            )
            for place in range(asked.workers)
        ]
        tallies = [part.result() for part in parts]
    return _told(tallies, time.monotonic() - began)


def _tell(failure: Failure) -> None:
    print(failure, flush=True)


def _told(tallies: list[Tally], seconds: float) -> int:
    runs, failures = sum(tally.runs for tally in tallies), sum(len(tally.failures) for tally in tallies)
    codes: Counter[tuple[str, int]] = sum((tally.codes for tally in tallies), Counter())
    checked: Counter[str] = sum((tally.checked for tally in tallies), Counter())
    for name, group in itertools.groupby(sorted(codes), key=lambda key: key[0]):
        parts = ", ".join(f"{codes[key]} × exit {key[1]}" for key in group)
        print(f"{name:22} {parts}" + (f", {checked[name]} recomputed" if checked[name] else ""))
    print(f"{runs} runs in {seconds:.0f} s, {failures} with something wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
