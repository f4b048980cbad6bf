"""The progress of several searches in a row as that of one."""

from dataclasses import replace

from shoal.runtime.observer import Observer, Progress


class Overall:
    """Passes on work and time of all searches together; their values are of different problems and make no curve.

    >>> seen = []
    >>> overall = Overall(seen.append)
    >>> for work, seconds in ((5, 1.0), (9, 2.0), (3, 0.5)):
    ...     overall(Progress(work, seconds, value=1.0))
    >>> [(progress.work, progress.seconds, progress.value) for progress in seen]
    [(5, 1.0, None), (9, 2.0, None), (12, 2.5, None)]
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._work, self._seconds = 0, 0.0
        self._last = Progress(0, 0.0)

    def __call__(self, progress: Progress) -> None:
        """Take in a glimpse of the search that runs now; one that goes back is of the next."""
        if progress.work < self._last.work or progress.seconds < self._last.seconds:
            self._work += self._last.work
            self._seconds += self._last.seconds
        self._last = progress
        self._observer(
            replace(
                progress,
                work=self._work + progress.work,
                seconds=self._seconds + progress.seconds,
                total=None,
                share=None,
                value=None,
                bound=None,
            )
        )
