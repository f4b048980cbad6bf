"""A number of cases, one after the other: made from a seed, run, judged, and kept if something is wrong."""

import shlex
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.fuzz.case import Case, Outcome
from tests.fuzz.draw import drawn
from tests.fuzz.hostile import hostile
from tests.fuzz.judging import Snapshot, defects
from tests.fuzz.recomputed import recomputed
from tests.fuzz.running import Runner, as_a_user

# One in so many runs is one whose figures are recomputed, and one in so many is started as a user would.
_RECOMPUTED, _AS_A_USER = 4, 60


Start = Callable[[tuple[str, ...], Path, Path], Outcome]
Found = tuple[Case, Outcome, list[str]]


@dataclass(frozen=True)
class Failure:
    """A run with something wrong, and how to repeat it."""

    number: int
    case: Case
    outcome: Outcome
    defects: tuple[str, ...]
    folder: Path

    def __str__(self) -> str:
        command = shlex.join(["shoal", *self.case.arguments])
        said = (self.outcome.err or self.outcome.out).strip().splitlines()
        lines = [f"case {self.number}: {'; '.join(self.defects)}", f"  cd {self.folder} && {command}"]
        return "\n".join([*lines, *(f"  | {line[:300]}" for line in said[-3:])])


@dataclass
class Tally:
    """What came of the cases so far."""

    runs: int = 0
    codes: Counter[tuple[str, int]] = field(default_factory=Counter)
    checked: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)


def made(seed: int, number: int, folder: Path) -> Case:
    """The case of a number: the same files and arguments whenever it is asked for."""
    return (recomputed if number % _RECOMPUTED == 0 else hostile)(drawn(seed, number), folder)


def play(
    seed: int,
    numbers: Iterator[int],
    kept: Path,
    *,
    until: float | None = None,
    tell: Callable[[Failure], None] = lambda failure: None,
) -> Tally:
    """Run cases until there are no more or the clock says so; ``kept`` holds the folders of those that went wrong."""
    tally, runner = Tally(), Runner()
    try:
        for number in numbers:
            if until is not None and time.monotonic() > until:
                break
            failure = attempt(seed, number, kept / f"{seed}-{number}", runner, tally)
            tally.runs += 1
            if failure is not None:
                tally.failures.append(failure)
                tell(failure)
    finally:
        runner.close()
    return tally


def attempt(seed: int, number: int, folder: Path, runner: Runner, tally: Tally) -> Failure | None:
    """Make, run and judge one case; its folder is removed if all is well, and its arguments are shortened if not."""
    case = made(seed, number, _empty(folder / "files"))
    start = as_a_user if number % _AS_A_USER == 1 else runner.run
    outcome, wrong = judged(case, folder, start)
    tally.codes[case.name, outcome.code] += 1
    tally.checked[case.name] += case.check is not None and not wrong
    if not wrong:
        shutil.rmtree(folder)
        return None
    if outcome.code >= 0:  # a run that does not end would be waited for again and again
        case, outcome, wrong = shortened(seed, number, (case, outcome, wrong), folder, runner)
    made(seed, number, _empty(folder / "files"))
    text = shlex.join(["shoal", *case.arguments])
    (folder / "arguments.txt").write_text(text + "\n", encoding="utf-8", errors="replace")
    return Failure(number, case, outcome, tuple(wrong), folder / "files")


def judged(case: Case, folder: Path, start: Start) -> tuple[Outcome, list[str]]:
    """Run a case whose files are there, and say what is wrong with what came of it."""
    place, temporary = folder / "files", _empty(folder / "temporary")
    before = Snapshot.of(place)
    outcome = start(case.arguments, place, temporary)
    wrong = defects(case, outcome, before, Snapshot.of(place), [path.name for path in temporary.iterdir()])
    if case.check is not None and outcome.code in (0, 3) and not wrong:
        try:
            case.check(place, outcome.figures)
        except (AssertionError, KeyError, ValueError, TypeError, IndexError) as error:
            wrong.append(f"recomputed otherwise: {type(error).__name__} {error}")
    return outcome, wrong


def shortened(seed: int, number: int, found: Found, folder: Path, runner: Runner) -> Found:
    """The same defect with as few arguments as can be: each option is left out in turn, with its value or without."""
    kind, place = found[2][0][:12], len(found[0].arguments)
    while place > 1:
        place -= 1
        for width in (2, 1):
            case = found[0]
            fewer = case.arguments[:place] + case.arguments[place + width :]
            if not case.arguments[place].startswith("-") or (
                width == 2 and "--json" in case.arguments[place:][:2]
            ):
                continue
            made(seed, number, _empty(folder / "files"))
            shorter = replace(case, arguments=fewer)
            outcome, wrong = judged(shorter, folder, runner.run)
            if any(defect.startswith(kind) for defect in wrong):
                found = shorter, outcome, wrong
                break
    return found


def _empty(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
