"""The stages that every run goes through as far as it has them, and how long each takes."""

from collections.abc import Callable

from shoal.runtime.compilation import seconds_of_compiling, working_time
from shoal.runtime.observer import VERIFICATION

READING, COMPILING, SEARCH, BOUND, WRITING = "reading", "compiling", "search", "bound", "writing"
#: In their order.
STAGES = (READING, COMPILING, SEARCH, BOUND, VERIFICATION, WRITING)

_READS = ("reading", "building", "looking", "inventing", "starting")
_BOUNDS = ("bound", "prices", "groups", "proving", "relaxation", "cuts", "branch")
_CHECKS = (VERIFICATION, "drawing a random plan")


def stage_of(phase: str) -> str:
    """Where a run is that says what it is doing.

    >>> stage_of("reading people"), stage_of("rounds"), stage_of("relaxation")
    ('reading', 'search', 'bound')
    """
    for stage, words in (
        (READING, _READS),
        (WRITING, ("writing",)),
        (VERIFICATION, _CHECKS),
        (BOUND, _BOUNDS),
    ):
        if phase.startswith(words):
            return stage
    return SEARCH


class Stopwatch:
    """Seconds by stage; a stage that comes again, as bounds between searches do, goes on.

    Compiling kernels, which happens in the midst of others, is a stage of its own where it took time.

    >>> ticks = iter([0.0, 2.0, 2.5, 9.0])
    >>> watch = Stopwatch("reading", clock=lambda: next(ticks))
    >>> watch.begins("rounds"); watch.begins("verification")
    >>> watch.seconds()
    {'reading': 2.0, 'search': 0.5, 'verification': 6.5}
    """

    def __init__(
        self,
        phase: str,
        *,
        clock: Callable[[], float] = working_time,
        compiling: Callable[[], float] = seconds_of_compiling,
    ) -> None:
        self._clock = clock
        self._compiling = compiling
        self._compiled = compiling()
        self._stage = stage_of(phase)
        self._began = clock()
        self._seconds: dict[str, float] = {}

    def begins(self, phase: str) -> None:
        """Something is done now; the stage before, if it was another, is over."""
        stage = stage_of(phase)
        if stage != self._stage:
            self._end()
            self._stage = stage

    def seconds(self) -> dict[str, float]:
        """How long each stage took until now, in their order."""
        self._end()
        compiled = self._compiling() - self._compiled
        seconds = self._seconds | ({COMPILING: compiled} if compiled > 0.0 else {})
        return {stage: round(seconds[stage], 3) for stage in STAGES if stage in seconds}

    def _end(self) -> None:
        now = self._clock()
        self._seconds[self._stage] = self._seconds.get(self._stage, 0.0) + now - self._began
        self._began = now
