"""The ``jj`` format of τ-ARGUS: a general table with its sensitive cells, levels, costs and bounds in one text file.

Layout as in the τ-ARGUS manual (version 4.1, section 5.5): a line ``0``, the number of cells, per cell ``index value cost
status lower-bound upper-bound LPL UPL SPL`` (status s safe, u sensitive, m hidden, z may not be hidden), the number of
relations, and per relation ``rhs count : cell (coefficient) …``.
"""

import gzip
import math
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shoal.errors import InputError, unreadable
from shoal.numbers import LARGEST
from shoal.sources.compressed import read_gz
from shoal.sources.internal import marked_text
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem

_MEMBER = re.compile(r"([0-9]{1,18})\s*\(\s*([^\s()]+)\s*\)")
_STATUS = frozenset("sumzw")


@dataclass(frozen=True)
class Contents:
    """What a ``jj`` file holds: the problem, and which cells it already marks as hidden: sensitive ones (u) and m."""

    problem: Problem
    hidden: np.ndarray


def read(path: Path) -> Contents:
    """Read a ``.jj`` or ``.jj.gz`` file."""
    try:
        raw = read_gz(path) if path.suffix == ".gz" else path.read_bytes()
        text = raw.decode("utf-8", errors="replace")
    except OSError as error:
        raise unreadable("file", path, error) from None
    return parse(text, path.name)


def parse(text: str, source: str = "the jj file") -> Contents:
    """The problem a ``jj`` text describes; an ``InputError`` names the line that cannot be used, never what it says."""
    lines = _Lines(text, source)
    if lines.next_is("0"):
        lines.take("its cells")
    cells = _cells(lines, lines.count("cells"))
    members, rhs = _relations(lines, lines.count("relations"), cells.position)
    lines.end()
    status = cells.status
    sensitive = np.flatnonzero(status == "u")
    table = Table.from_relations(
        cells.figures[:, 0], members, {"cell": cells.names}, rhs=rhs, numbers=cells.names
    )
    problem = Problem(
        table,
        sensitive,
        lower=cells.figures[sensitive, 4],
        upper=cells.figures[sensitive, 5],
        sliding=cells.figures[sensitive, 6],
        cost=cells.figures[:, 1],
        candidates=(status == "s") | (status == "m"),
        low=cells.figures[:, 2],
        high=cells.figures[:, 3],
    )
    return Contents(problem, np.flatnonzero((status == "m") | (status == "u")))


class _Lines:
    """The lines of a text that are neither empty nor comments (#), one after the other, with their numbers."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.number = 0
        self._rest = deque(
            (n, line)
            for n, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.lstrip().startswith("#")
        )

    def next_is(self, word: str) -> bool:
        """Whether the next line is this word alone."""
        return bool(self._rest) and self._rest[0][1].split() == [word]

    def take(self, what: str) -> str:
        """The next line; ``what`` is missing if there is none."""
        if not self._rest:
            raise InputError(f"{self.source} ends after line {self.number}, before {what} are complete")
        self.number, line = self._rest.popleft()
        return line

    def count(self, what: str) -> int:
        """The number of ``what`` follows, from a line of its own."""
        parts = self.take(f"its {what}").split()
        if len(parts) != 1 or not parts[0].isdecimal() or len(parts[0]) > 12:
            raise self.wrong(f"the number of {what} must stand here")
        return int(parts[0])

    def end(self) -> None:
        """Refuse what is left over: a relation that is not counted would not be known to the attacker."""
        if self._rest:
            self.number, _ = self._rest.popleft()
            raise self.wrong("the file goes on after all the cells and relations it announced")

    def wrong(self, why: str) -> InputError:
        """The error for the line that was taken last."""
        return InputError(f"{self.source}, line {self.number}: {why}")


@dataclass(frozen=True)
class _Cells:
    """The cells of a file: their numbers, status, and value, cost, bounds and levels."""

    names: np.ndarray
    status: np.ndarray
    figures: np.ndarray
    position: dict[int, int]


_FIGURES = ("value", "cost", "lower bound", "upper bound", "LPL", "UPL", "SPL")
_AT_LEAST_0 = frozenset({"cost", "LPL", "UPL", "SPL"})


def _cells(lines: _Lines, count: int) -> _Cells:
    place: dict[int, int] = {}
    status: list[str] = []
    figures: list[list[float]] = []
    for row in range(count):
        parts = lines.take(f"its {count} cells").split()
        if len(parts) != 9:
            raise lines.wrong(f"a cell has 9 entries, this line has {len(parts)}")
        if not parts[0].isdecimal() or len(parts[0]) > 18:
            raise lines.wrong("the first entry of a cell must be its number")
        if place.setdefault(int(parts[0]), row) != row:
            raise lines.wrong("another cell has the same number")
        if parts[3] not in _STATUS:
            raise lines.wrong("the status of a cell must be s, u, m or z")
        status.append(parts[3])
        figures.append(
            [_figure(lines, name, text) for name, text in zip(_FIGURES, parts[1:3] + parts[4:], strict=True)]
        )
    names = np.empty(count, dtype=object)
    names[:] = list(place)
    return _Cells(names, np.array(status, dtype=object), np.array(figures).reshape(count, 7), place)


def _figure(lines: _Lines, name: str, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        raise lines.wrong(f"the {name} must be a number") from None
    bound = name.endswith("bound")
    if not abs(found) <= LARGEST and not (bound and math.isinf(found)):
        raise lines.wrong(f"the {name} must be a finite number of a usual size")
    if found < 0 and name in _AT_LEAST_0:
        raise lines.wrong(f"the {name} must be at least 0")
    return found


def _relations(
    lines: _Lines, count: int, position: dict[int, int]
) -> tuple[list[list[tuple[int, float]]], list[float]]:
    found: list[list[tuple[int, float]]] = []
    rhs: list[float] = []
    for _ in range(count):
        head, colon, tail = lines.take(f"its {count} relations").partition(":")
        parts = head.split()
        if not colon or len(parts) != 2 or not parts[1].isdecimal():
            raise lines.wrong(
                "a relation must begin with its right-hand side, the number of its cells and a colon"
            )
        rhs.append(_figure(lines, "right-hand side", parts[0]))
        members: dict[int, float] = {}
        for cell, coefficient in _members(lines, tail):
            if cell not in position:
                raise lines.wrong("the relation names a cell that is not in the file")
            if position[cell] in members:
                raise lines.wrong("the relation names a cell twice")
            members[position[cell]] = coefficient
        if len(members) != int(parts[1]) or not members:
            raise lines.wrong("the relation does not have the number of cells it announces")
        found.append(list(members.items()))
    return found, rhs


def _members(lines: _Lines, text: str) -> Iterator[tuple[int, float]]:
    at = 0
    for match in _MEMBER.finditer(text):
        if text[at : match.start()].strip():
            break
        at = match.end()
        coefficient = _figure(lines, "coefficient", match.group(2))
        if coefficient == 0.0:
            raise lines.wrong("a coefficient of the relation is 0")
        yield int(match.group(1)), coefficient
    if text[at:].strip():
        raise lines.wrong("the cells of a relation must be written as: number (coefficient)")


def write(problem: Problem, hidden: np.ndarray | None = None) -> str:
    """The problem as ``jj`` text; ``hidden`` are the hidden cells, of which complementary ones are marked ``m``.

    Cells that came from a ``jj`` file keep their numbers; others are numbered from 0 in the order of the table.
    """
    table = problem.table
    number = numbers(table)
    status = np.where(problem.candidates, "s", "z").astype(object)
    if hidden is not None:
        status[hidden] = "m"
    status[problem.sensitive] = "u"
    levels = np.zeros((3, table.cells))
    levels[:, problem.sensitive] = [problem.lower, problem.upper, problem.sliding]
    lines = ["0", str(table.cells)]
    for cell in range(table.cells):
        figures = (problem.low[cell], min(problem.high[cell], 1e15), *levels[:, cell])
        shown = " ".join(_number(value) for value in figures)
        lines.append(
            f"{number[cell]} {_number(table.values[cell])} {_number(problem.cost[cell])} {status[cell]} {shown}"
        )
    lines.append(str(table.relations))
    for place in range(table.relations):
        cells, signs = table.relation(place), table.signs_of(place)
        body = " ".join(f"{number[cell]} ({_number(sign)})" for cell, sign in zip(cells, signs, strict=True))
        rhs = 0.0 if table.rhs is None else float(table.rhs[place])
        lines.append(f"{_number(rhs)} {cells.size} : {body}")
    return "\n".join(lines) + "\n"


def numbers(table: Table) -> np.ndarray:
    """The number of each cell in a ``jj`` file."""
    return table.keys["cell"] if table.dimensions == ("cell",) else np.arange(table.cells)


def _number(value: float) -> str:
    return f"{int(value)}" if float(value).is_integer() and abs(value) < 1e16 else repr(float(value))


def encoded(problem: Problem, hidden: np.ndarray, name: str) -> bytes:
    """The same as a file of this name, which says that it is internal; compressed if the name ends in ``.gz``."""
    # Readers stop after the relations that the file announces, so a last line is theirs to skip.
    text = marked_text(write(problem, hidden)).encode("utf-8")
    return gzip.compress(text, mtime=0) if name.endswith(".gz") else text
