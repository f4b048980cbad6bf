"""Perturbation tables in files, as the R packages ptable and cellKey and τ-ARGUS have them.

A line says of a count ``i`` that it becomes ``j`` (it changes by ``v``) with the chance ``p``: where the key of a cell is above
``p_int_lb`` and at most ``p_int_ub``. Counts above the last ``i`` change like it.
"""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, unknown, unreadable
from shoal.sources.not_numbers import why_not_numeric
from shoal.tables.files.frames import as_frame
from shoal.tables.rounding.cell_keys.problem import MOST_DEVIATION, DesignProblem
from shoal.tables.rounding.cell_keys.solution import PerturbationTable

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

# Files round chances to eight decimals; what they add up to is off by as many of these as there are lines of a count.
_SUM, _BIAS = 1e-6, 1e-5
# What older versions call a column.
_NAMES = {"p": ("p", "p_ij"), "p_int_lb": ("p_int_lb", "p_ij_lb"), "p_int_ub": ("p_int_ub", "p_ij_ub")}


def read_text(path: Path) -> "pl.DataFrame":
    """The lines of a text file; semicolons, tabs or commas stand between the columns."""
    import polars as pl

    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise unreadable("perturbation table", path, error) from None
    except UnicodeDecodeError:
        raise InputError(f"{path.name} is not a text in UTF-8") from None
    head = lines[0] if lines else ""
    between = next((sign for sign in ";\t," if sign in head), ";")
    rows = [row for row in csv.reader(lines, delimiter=between) if any(item.strip() for item in row)]
    if len(rows) < 2 or any(len(row) != len(rows[0]) for row in rows):
        raise InputError(
            f"{path.name} is no perturbation table: its lines have no columns, or differ in their number"
        )
    body = {name.strip(): [row[place].strip() for row in rows[1:]] for place, name in enumerate(rows[0])}
    return pl.DataFrame(body)


def read_design(data: Any) -> tuple[DesignProblem, PerturbationTable]:
    """The perturbation table in a frame or a file, and what it asks of itself; refused where its chances are none.

    >>> import polars as pl
    >>> lines = pl.DataFrame({"i": [0, 1, 1, 1], "j": [0, 0, 1, 2], "p": [1.0, 0.25, 0.5, 0.25], "v": [0, -1, 0, 1]})
    >>> problem, design = read_design(lines)
    >>> problem.deviation, problem.variance, design.chances.tolist()
    (1, 0.5, [[0.0, 1.0, 0.0], [0.25, 0.5, 0.25]])
    """
    if isinstance(data, str | Path) and str(data).lower().endswith(".txt"):
        data = read_text(Path(data))
    frame = as_frame(data, "the perturbation table")
    counts, changes, chances, uppers = _columns(frame)
    wide = int(np.abs(changes).max())
    if wide == 0:
        raise InputError("the perturbation table changes no count")
    if wide > MOST_DEVIATION:
        raise InputError(f"the perturbation table changes counts by more than {MOST_DEVIATION}")
    rows = int(counts.max()) + 1
    if np.unique(counts).size != rows:
        lacking = int(np.setdiff1d(np.arange(rows), counts)[0])
        raise InputError(f"the perturbation table says nothing of the count {lacking}")
    grid = np.zeros((rows, 2 * wide + 1))
    intervals = []
    for count in range(rows):
        mine = np.flatnonzero(counts == count)
        mine = mine[np.argsort(uppers[mine], kind="stable")]
        _check_row(count, changes[mine], chances[mine], uppers[mine])
        grid[count, changes[mine] + wide] = chances[mine] / chances[mine].sum()
        there = mine[chances[mine] > 0]
        ends = uppers[there].copy()
        ends[-1] = 1.0
        intervals.append((changes[there], ends))
    known = grid[grid > 0]
    steps = np.arange(-wide, wide + 1)
    variances = grid @ steps**2
    if variances[-1] == 0.0:
        raise InputError(f"the perturbation table never changes counts of {rows - 1} and more")
    design = PerturbationTable(
        value=float(-(known * np.log2(known)).sum()),
        chances=grid,
        variances=variances,
        intervals=tuple(intervals),
    )
    return DesignProblem(wide, float(variances[-1]), _never_published(grid, wide)), design


def _columns(frame: "nw.DataFrame[Any]") -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Counts, changes, chances and the ends of intervals of all lines."""
    names = frame.columns
    if "i" not in names:
        raise unknown("column", "i", names, where="in the perturbation table")
    if "v" not in names and "j" not in names:
        raise unknown("column", "v", names, where="in the perturbation table")
    if "type" in names and {str(kind) for kind in frame["type"].to_list()} - {"all"}:
        raise InputError(
            "the perturbation table is one of several for sums (its column 'type'); for counts there is one, 'all'"
        )
    counts = _whole(frame, "i")
    if "v" not in names or "j" not in names:
        changes = _whole(frame, "v") if "v" in names else _whole(frame, "j") - counts
    else:
        changes = _whole(frame, "v")
        _refuse(changes != _whole(frame, "j") - counts, "j is not i + v")
    _refuse(counts < 0, "the count is negative")
    _refuse(counts + changes < 0, "a count would become negative")
    lower, upper, chance = (_named(frame, name) for name in ("p_int_lb", "p_int_ub", "p"))
    if chance is None and (lower is None or upper is None):
        raise unknown("column", "p", names, where="in the perturbation table")
    if chance is None:
        assert upper is not None and lower is not None
        chance = upper - lower
    _refuse((chance < 0) | (chance > 1 + _SUM), "a chance is not between 0 and 1")
    if upper is None:
        upper = np.empty(chance.size)
        for count in np.unique(counts):
            upper[counts == count] = np.cumsum(chance[counts == count])
    if lower is not None:
        _refuse(np.abs(upper - lower - chance) > _SUM, "the interval is not as wide as the chance")
    return counts, changes, chance, upper


def _check_row(count: int, changes: np.ndarray, chances: np.ndarray, uppers: np.ndarray) -> None:
    """Refuse what are no chances of the changes of one count."""
    what = f"the perturbation table is wrong at the count {count}: "
    if count == 0 and (chances[changes != 0] > 0).any():
        raise InputError(what + "empty cells must stay empty")
    if np.unique(changes).size < changes.size:
        raise InputError(what + "a change is listed twice")
    if abs(chances.sum() - 1.0) > _SUM:
        raise InputError(what + "its chances do not add up to 1")
    if abs(float(chances @ changes)) > _BIAS:
        raise InputError(what + "its changes have a bias, so that sums of many counts would drift")
    if np.abs(np.cumsum(chances) - uppers).max() > _SUM:
        raise InputError(what + "its intervals overlap or leave gaps")


def _never_published(grid: np.ndarray, wide: int) -> int:
    """The largest s such that no count becomes one of 1 … s."""
    small = 0
    while small + 1 < wide:
        rows = np.arange(1, grid.shape[0])
        change = small + 1 - rows
        within = np.abs(change) <= wide
        if (grid[rows[within], change[within] + wide] > 0).any():
            break
        small += 1
    return small


def _named(frame: "nw.DataFrame[Any]", name: str) -> np.ndarray | None:
    found = next((other for other in _NAMES[name] if other in frame.columns), None)
    return None if found is None else _numbers(frame, found)


def _whole(frame: "nw.DataFrame[Any]", name: str) -> np.ndarray:
    found = _numbers(frame, name)
    _refuse(
        found != np.rint(found),
        f"'{name}' is no whole number, as counts are; tables for sums are not for counts",
    )
    return found.astype(np.int64)


def _numbers(frame: "nw.DataFrame[Any]", name: str) -> np.ndarray:
    column = frame[name]
    try:
        found = np.array(column.to_list(), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"column '{name}' of the perturbation table is not numeric: {why_not_numeric(column)}"
        ) from None
    _refuse(~np.isfinite(found) | (np.abs(found) > 1e9), f"'{name}' is missing or no number")
    return found


def _refuse(wrong: np.ndarray, why: str) -> None:
    if wrong.any():
        raise InputError(f"row {int(np.flatnonzero(wrong)[0]) + 1} of the perturbation table is wrong: {why}")


def design_frame(design: PerturbationTable) -> "pl.DataFrame":
    """The perturbation table in that format."""
    import polars as pl

    lines = []
    for count in range(design.chances.shape[0]):
        below = 0.0
        for change, upper in zip(*design.row_intervals(count), strict=True):
            lines.append(
                (count, count + int(change), float(upper) - below, int(change), below, float(upper), "all")
            )
            below = float(upper)
    return pl.DataFrame(lines, schema=["i", "j", "p", "v", "p_int_lb", "p_int_ub", "type"], orient="row")
