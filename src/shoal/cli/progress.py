"""Progress of a search on standard error, for people only: nothing when it is redirected or ``--quiet``."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shoal.cli.interrupts import interrupts
from shoal.cli.output import remark
from shoal.search.budget import Budget
from shoal.search.compilation import on_first_compilation
from shoal.search.control import Control
from shoal.search.interrupt import keep_best_on_interrupt
from shoal.search.observer import Observer, Progress, silent


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
        interrupts.asked = interrupts.said = True
        sys.stderr.write("\nstopping; the best found is kept (Ctrl-C again to give up)\n")

    with _given_up(), keep_best_on_interrupt(budget.control, tell):
        if quiet:
            yield silent
        elif not sys.stderr.isatty():
            yield _announcing(announce, silent)
        else:
            with _bar(title, budget.control, show) as observe:
                yield _announcing(announce, observe)


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
def _given_up() -> Iterator[None]:
    """After a second Ctrl-C nothing is kept, so what was said after the first is no longer true."""
    try:
        yield
    except KeyboardInterrupt:
        interrupts.said = False
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
