"""A published table and nothing else: whoever has only that may ask what it gives away, alone or beside others."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, parameter
from shoal.remarks import Remark, warning
from shoal.sources.address import sheet_in
from shoal.sources.files import check_readable
from shoal.tables.as_problem import NO_PATTERN, check_low
from shoal.tables.files.crosstabs_read import crosstabs_in
from shoal.tables.files.frames import as_frame, with_row_names
from shoal.tables.files.loading import is_list_of_cells
from shoal.tables.files.public_files import is_published, read_public
from shoal.tables.model.total_codes import sums_of_others
from shoal.tables.model.trees import as_it_fits
from shoal.tables.published_together import named_frames, problem_of_public, refuse_needless
from shoal.tables.table_arguments import remark

if TYPE_CHECKING:
    import polars as pl

    from shoal.tables.problem import PublishedProblem
    from shoal.tables.public_table import Key, PublicTable

#: What can and what cannot be judged then.
ONLY_EXACT = warning(
    "only-exact", "what is sensitive is not known of a published table: only what is known exactly is told"
)


def published_file(name: str | Path) -> "pl.DataFrame | None":
    """The cells of crosstabs in a workbook or a page that Shoal published; ``None`` for any other file."""
    path, sheet = sheet_in(str(name))
    if not path.lower().endswith((".xlsx", ".html")) or "://" in path:
        return None
    check_readable(Path(path))
    return crosstabs_in(Path(path), sheet)


def as_published(
    data: Any,
    beside: Any,
    *,
    options: Mapping[str, Any],
    hierarchies: Mapping[str, Any],
    total: Any,
    slack: float,
    low: float | None = None,
    whole: bool = False,
) -> "tuple[Any, list[tuple[str, ...]] | None]":
    """A published table, given as a frame or a path, as a problem with its hidden cells; anything else as it is, without them.

    With others ``beside`` it, a table that hides nothing counts as published, too. Refused are ``options`` that only
    figures of hidden cells could tell.
    """
    own = _frame_of(data, beside=beside is not None)
    if own is None:
        return data, None
    refuse_unknowable(options)
    others = [] if beside is None else [frame for _, frame in named_frames(beside)]
    name = Path(str(data)).name if isinstance(data, str | Path) else "the table"
    problem, hidden, doubts = published_alone(
        own, name, others, hierarchies=hierarchies, total=total, slack=slack, low=low, whole=whole
    )
    refuse_nothing_hidden(hidden, others)
    remark((ONLY_EXACT, *doubts))
    return problem, hidden


def _frame_of(data: Any, *, beside: bool) -> "pl.DataFrame | None":
    if isinstance(data, str | Path):
        if str(data).endswith((".jj", ".jj.gz")):
            return None
        if (cells := published_file(data)) is not None:
            return cells
    frame: pl.DataFrame = as_frame(with_row_names(data), "the table").to_polars()
    if beside:
        refuse_internal(frame)
        return frame
    return frame if is_published(frame) and not is_list_of_cells(frame) else None


def refuse_nothing_hidden(hidden: Collection[Any], beside: Collection[Any]) -> None:
    """A table that shows everything gives nothing away but with others."""
    if not hidden and not beside:
        raise InputError(f"{NO_PATTERN}; the table itself hides none")


def refuse_internal(frame: "pl.DataFrame") -> None:
    """A table with its states is not what was published of it."""
    if is_list_of_cells(frame):
        raise InputError(f"{NO_PATTERN}; this is a table with its sensitive cells, not a published one")


def published_alone(
    frame: "pl.DataFrame",
    name: str,
    beside: Iterable["pl.DataFrame"] = (),
    *,
    hierarchies: Mapping[str, Mapping[str, str]],
    total: Any,
    slack: float,
    low: float | None = None,
    whole: bool = False,
) -> "tuple[PublishedProblem, list[tuple[str, ...]], tuple[Remark, ...]]":
    """A published table as a problem without sensitive cells, the names of its hidden cells, and what is doubtful of it.

    What stands ``beside`` it names dimensions that its columns do not; its figures may be known to be ``whole`` numbers.
    """
    if low is not None:
        check_low(low)
    known_beside = list(beside)
    known = _known(known_beside, hierarchies)
    public = as_it_fits(
        lambda trees: read_public(frame, name, hierarchies=trees, total=total, slack=slack, known=known),
        hierarchies,
    )
    if not known_beside:
        refuse_needless(hierarchies, [public])
    _refuse_unnamed_totals(public)
    problem, hidden = problem_of_public(public, low, whole=whole, alone=not known_beside)
    return problem, [tuple(problem.table.key(int(cell)).values()) for cell in hidden], of_no_totals(public)


def of_no_totals(public: "PublicTable") -> tuple[Remark, ...]:
    """What is said of dimensions without a code that is known as their total: one of an unknown name would be overlooked."""
    return tuple(
        warning(
            "unknown-total",
            f"no code of dimension '{name}' is known as its total, so it is taken to have none; if one is the total, say "
            f"{parameter('total')} {name}=CODE",
            name,
        )
        for name in public.without_total
    )


def _refuse_unnamed_totals(public: "PublicTable") -> None:
    """Refuse totals that are called otherwise: what they give away would be overlooked."""
    for name in public.without_total:
        place = public.dimensions.index(name)
        whole: dict[Key, list[tuple[Key, float | None]]] = {}
        for key, value in public.cells.items():
            whole.setdefault(key[:place] + key[place + 1 :], []).append((key, value))
        shown = [
            (key, value) for own in whole.values() if all(v is not None for _, v in own) for key, value in own
        ]
        figures = np.array([value for _, value in shown], dtype=float)
        found = sums_of_others([key for key, _ in shown], public.dimensions, figures) if shown else {}
        if name in found:
            raise InputError(
                f"dimension '{name}' has a code that is the sum of all others wherever all are shown; if it is the total, say "
                f"{parameter('total')} {name}={found[name]}, and else leave it out"
            )


def refuse_unknowable(options: Mapping[str, Any]) -> None:
    """Levels are shares of figures, and those of hidden cells are in no published table."""
    for name, value in options.items():
        if value is not None:
            raise InputError(
                f"{parameter(name)} is about figures of hidden cells, which a published table does not have; give the table "
                "itself and its pattern, or leave it out"
            )


def _known(
    frames: Iterable["pl.DataFrame"], hierarchies: Mapping[str, Mapping[str, str]]
) -> dict[str, Collection[str]]:
    found: dict[str, set[str]] = {name: set(tree) for name, tree in hierarchies.items()}
    for frame in frames:
        if "value" in frame.columns:
            for column in frame.columns:
                if column != "value":
                    found.setdefault(column, set()).update(str(code) for code in frame[column].to_list())
    return dict(found)
