"""The ``jj`` format of τ-ARGUS: a general table with its sensitive cells, levels, costs and bounds in one text file.

Layout as in the τ-ARGUS manual (version 4.1, section 5.5): a line ``0``, the number of cells, per cell ``index value cost
status lower-bound upper-bound LPL UPL SPL`` (status s safe, u sensitive, m hidden, z may not be hidden), the number of
relations, and per relation ``rhs count : cell (coefficient) …``.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shoal.errors import InputError
from shoal.sources.compressed import read_gz
from shoal.tables.problem import Problem
from shoal.tables.table import Table

_MEMBER = re.compile(r"(\d+)\s*\(\s*([-+0-9.eE]+)\s*\)")


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
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    return parse(text, path.name)


def parse(text: str, source: str = "the jj file") -> Contents:
    """The problem a ``jj`` text describes."""
    lines = [line for line in text.splitlines() if line.strip()]
    place = 0
    try:
        if lines[0].split() == ["0"]:
            place = 1
        count = int(lines[place].split()[0])
        place += 1
        rows = [line.split() for line in lines[place : place + count]]
        place += count
        relations = int(lines[place].split()[0])
        place += 1
        bodies = lines[place : place + relations]
        if len(rows) < count or len(bodies) < relations:
            raise InputError(f"{source} ends before its {count} cells and {relations} relations are complete")
        numbers = np.array([[float(row[i]) for i in (0, 1, 2, 4, 5, 6, 7, 8)] for row in rows])
        status = np.array([row[3] for row in rows])
    except (IndexError, ValueError):
        raise InputError(
            f"{source} is not a jj file: line {min(place + 1, len(lines))} cannot be read"
        ) from None
    indices = numbers[:, 0].astype(np.int64)
    where = {int(index): row for row, index in enumerate(indices)}
    if len(where) != count:
        raise InputError(f"{source} has two cells with the same number")
    unknown_status = sorted(set(status) - set("sumzw"))
    if unknown_status:
        raise InputError(f"{source} has the cell status '{unknown_status[0]}'; known are s, u, m and z")
    members, rhs = _relations(bodies, where, source)
    table = Table.from_relations(numbers[:, 1], members, {"cell": indices.astype(object)}, rhs=rhs)
    sensitive = np.flatnonzero(status == "u")
    problem = Problem(
        table,
        sensitive,
        lower=numbers[sensitive, 5],
        upper=numbers[sensitive, 6],
        sliding=numbers[sensitive, 7],
        cost=numbers[:, 2],
        candidates=(status == "s") | (status == "m"),
        low=numbers[:, 3],
        high=numbers[:, 4],
    )
    return Contents(problem, np.flatnonzero((status == "m") | (status == "u")))


def _relations(
    bodies: list[str], where: dict[int, int], source: str
) -> tuple[list[list[tuple[int, float]]], list[float]]:
    found: list[list[tuple[int, float]]] = []
    rhs: list[float] = []
    for body in bodies:
        head, _, tail = body.partition(":")
        parts = head.split()
        members = [(int(cell), float(sign)) for cell, sign in _MEMBER.findall(tail)]
        if len(parts) < 2 or len(members) != int(parts[1]):
            raise InputError(
                f"{source}: the relation '{body.strip()[:40]}' does not have the cells it announces"
            )
        for cell, _ in members:
            if cell not in where:
                raise InputError(f"{source}: a relation names cell {cell}, which is not in the file")
        rhs.append(float(parts[0]))
        found.append([(where[cell], sign) for cell, sign in members])
    return found, rhs


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
        cells = table.relation(place)
        signs = table.signs[table.starts[place] : table.starts[place + 1]]
        body = " ".join(f"{number[cell]} ({_number(sign)})" for cell, sign in zip(cells, signs, strict=True))
        rhs = 0.0 if table.rhs is None else float(table.rhs[place])
        lines.append(f"{_number(rhs)} {cells.size} : {body}")
    return "\n".join(lines) + "\n"


def numbers(table: Table) -> np.ndarray:
    """The number of each cell in a ``jj`` file."""
    return table.keys["cell"] if table.dimensions == ("cell",) else np.arange(table.cells)


def _number(value: float) -> str:
    return f"{int(value)}" if float(value).is_integer() and abs(value) < 1e16 else repr(float(value))
