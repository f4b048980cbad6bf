"""The steps of a microaggregation of records in many places, told to who looks on."""

from time import monotonic

from shoal.runtime.observer import VERIFICATION, Observer, Progress
from shoal.runtime.stages import READING, SEARCH


class Steps:
    """What is being done now; ``began`` is when the work began.

    >>> seen = []
    >>> steps = Steps(seen.append, began=0.0)
    >>> steps.reading(); steps.search(); steps.verification()
    >>> [progress.phase for progress in seen]
    ['reading', 'search', 'verification']
    """

    def __init__(self, observer: Observer, began: float) -> None:
        self._observer = observer
        self.began = began

    def reading(self) -> None:
        """All records are looked at."""
        self._say(READING)

    def search(self) -> None:
        """Leaves are found and grouped."""
        self._say(SEARCH)

    def verification(self) -> None:
        """The release is counted."""
        self._say(VERIFICATION)

    def _say(self, phase: str) -> None:
        self._observer(Progress(0, monotonic() - self.began, phase=phase))
