"""Progress of a search on standard error, for people only: nothing when it is redirected or ``--quiet``."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shoal.cli.interrupts import interrupts
from shoal.cli.output import remark
from shoal.runtime.budget import Budget
from shoal.runtime.compilation import on_first_compilation
from shoal.runtime.control import Control
from shoal.runtime.interrupt import keep_best_on_interrupt
from shoal.runtime.observer import VERIFICATION, Observer, Progress, silent
from shoal.runtime.stages import stage_of

# A search of so many seconds was waited for.
_LONG = 5.0


@contextmanager
def watched(
    title: str,
    budget: Budget,
    *,
    quiet: bool,
    show: Callable[[Progress], str] = lambda progress: "",
    announce: str | None = None,
) -> Iterator[Observer]:
    """Within this block Ctrl-C ends the search with the best found, and a bar shows how far it is.

    ``announce`` is said once the search is under way: not before its input is known to be sound.
    """
    if not quiet:
        on_first_compilation(_say_compiling)

    def tell() -> None:
        interrupts.pressed = interrupts.announced = True
        sys.stderr.write("\nstopping; the best found is kept (Ctrl-C again to give up)\n")

    checked = _Checked(budget.control, quiet=quiet)
    with _abandoned(), keep_best_on_interrupt(budget.control, tell, over=lambda: checked.begun):
        if quiet:
            yield checked
        elif not sys.stderr.isatty():
            yield _announcing(announce, checked)
        else:
            with _bar(title, budget.control, show) as checked.observe:
                yield _announcing(announce, checked)


class _Checked:
    """An observer who notes when the search is over and its result is being checked, which no limit ends, and says so."""

    def __init__(self, control: Control, *, quiet: bool) -> None:
        self.begun = False
        self.observe: Observer = silent
        self._control, self._quiet = control, quiet

    def __call__(self, progress: Progress) -> None:
        """Pass a glimpse on."""
        checking = stage_of(progress.phase) == VERIFICATION
        if checking and not self.begun:
            self._say(progress)
        self.begun = checking
        self.observe(progress)

    def _say(self, progress: Progress) -> None:
        """What follows is announced where the search was ended, or took long enough to be waited for."""
        if self._control.cancelled or progress.seconds >= _LONG:
            known = progress.expected is not None and progress.expected >= 1.0
            about = f", which takes about {progress.expected:.0f} s," if known else ""
            remark(
                f"the search is over; its result is verified{about} and written, which no time limit ends (Ctrl-C gives it up)",
                quiet=self._quiet,
            )


@contextmanager
def shown(title: str, *, quiet: bool, announce: str | None = None) -> Iterator[Observer]:
    """Within this block a bar shows how far a search is; nothing ends it early, since what is cut off cannot be repeated.

    ``announce`` is said once there is something to look at.
    """
    if not quiet:
        on_first_compilation(_say_compiling)
    if quiet or not sys.stderr.isatty():
        yield silent if quiet else _announcing(announce, silent)
        return
    with _bar(title, Control(), lambda progress: "") as observe:
        yield _announcing(announce, observe)


@contextmanager
def _abandoned() -> Iterator[None]:
    """After a second Ctrl-C nothing is kept, so what was said after the first is no longer true."""
    try:
        yield
    except KeyboardInterrupt:
        interrupts.announced = False
        raise


def _announcing(text: str | None, observe: Observer) -> Observer:
    left = [] if text is None else [text]

    def first(progress: Progress) -> None:
        while left:
            remark(left.pop())
        observe(progress)

    return first


def _say_compiling() -> None:
    sys.stderr.write("compiling, first run only …\n")


@contextmanager
def _bar(title: str, control: Control, show: Callable[[Progress], str]) -> Iterator[Observer]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[detail]}"),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True, refresh_per_second=5) as bars:
        task = bars.add_task(title, total=None, detail="")

        def observe(progress: Progress) -> None:
            description = f"{title}: {progress.phase}" if progress.phase else title
            total = 1.0 if progress.share is not None else None
            bars.update(
                task,
                description=description,
                completed=progress.share or 0.0,
                total=total,
                detail=show(progress),
            )

        yield observe
