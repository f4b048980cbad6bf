"""A matrix whose sensitive cells are marked by pressing them."""

from collections.abc import Callable
from typing import Any

from shoal.errors import InputError
from shoal.exact_names import only
from shoal.web.pages import parts
from shoal.web.pages.tables.drawn import Drawn, matrix
from shoal.web.pages.tables.slicer import Slicer
from shoal.web.workbench import Workbench

_LARGEST = 20_000


class Marking:
    """The cells that are marked; ``on_change`` is called when that changes."""

    def __init__(self, marked: list[list[str]], on_change: Callable[[], Any]) -> None:
        self.marked: set[tuple[str, str]] = {(cell[0], cell[1]) for cell in marked if len(cell) == 2}
        self._on_change = on_change

    @property
    def words(self) -> str:
        """How many there are, and the first few."""
        if not self.marked:
            return "No cell is marked as sensitive yet."
        some = "; ".join(f"{row}, {column}" for row, column in sorted(self.marked)[:4])
        return f"Sensitive ({len(self.marked)}): {some}{' …' if len(self.marked) > 4 else ''}"

    def show(self, workbench: Workbench, data: str) -> None:
        """Draw the matrix, to be pressed."""
        drawn = _read(workbench, data, self.marked)

        def press(cell: int) -> None:
            row, column = drawn.key(cell)
            self.marked ^= {(row, column)}
            drawn.kinds[cell] = "p" if (row, column) in self.marked else ""
            slicer.cells.refresh()
            self._on_change()

        with parts.card("Press the sensitive cells", quiet="Press again to unmark; Enter does the same."):
            slicer = Slicer(drawn, press, ("primary",))


def _read(workbench: Workbench, data: str, marked: set[tuple[str, str]]) -> Drawn:
    frame = workbench.datasets.frame(data)
    names = frame.columns
    if len(names) < 3:
        raise InputError("a table needs a column of row names and at least two columns of numbers")
    if frame.height * len(names) > _LARGEST:
        raise InputError("this table is too large to mark by hand; upload a list of its sensitive cells")
    rows = [str(value) for value in frame[names[0]].to_list()]
    values = [[_number(value) for value in row] for row in only(frame, names[1:]).iter_rows()]
    return matrix(rows, list(names[1:]), values, marked)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError("the table has a cell that is not a number") from None
