"""Small files beside the records: tables, cells, patterns, labels, slots; mostly in order, sometimes damaged."""

import json
from pathlib import Path

from tests.fuzz.broken_files import damaged
from tests.fuzz.draw import Draw
from tests.fuzz.markers import Markers
from tests.fuzz.names import HOSTILE

# The rows of a matrix are named by their number in messages: one of these would be a category of somebody's first column.
ROWS, COLUMNS = ("zwickmuehle", "quorraxis", "vexhollow", "jubkwarz"), ("a", "b", "c", "d")


def _put(draw: Draw, folder: Path, name: str, text: str, chance: float = 0.15) -> str:
    (folder / name).write_bytes(damaged(draw, text.encode("utf-8", "replace"), chance))
    return name


def matrix_file(draw: Draw, folder: Path, markers: Markers) -> str:
    """A matrix, with or without its totals, right or wrong."""
    least = 1 if draw.bad(0.3) else 2
    rows, columns = ROWS[: draw.randint(least, 4)], COLUMNS[: draw.randint(least, 4)]
    if draw.bad(0.1):
        columns = (*columns, draw.choice(HOSTILE).replace(",", "").replace("\n", ""))
    values = [[draw.choice((draw.randint(0, 99), markers.whole(), 0)) for _ in columns] for _ in rows]
    cells = [[str(value) for value in row] for row in values]
    if draw.bad(0.1):
        cells[0][0] = draw.choice(("nan", "inf", "-5", "1e308", "", "x", markers.text()))
    header, body = [*columns], [[row, *line] for row, line in zip(rows, cells, strict=True)]
    if draw.random() < 0.5:
        header.append("total")
        for line, numbers in zip(body, values, strict=True):
            line.append(str(sum(numbers) + (1 if draw.bad(0.1) else 0)))
        body.append(
            ["total", *(str(sum(column)) for column in zip(*values, strict=True)), str(sum(map(sum, values)))]
        )
    text = "\n".join(",".join(line) for line in [["row", *header], *body]) + "\n"
    return _put(draw, folder, "table.csv", text)


def jj_file(draw: Draw, folder: Path, markers: Markers) -> str:
    """A general table with one relation, or something like it."""
    cells = draw.randint(2, 6)
    values = [draw.choice((draw.randint(1, 90), markers.whole())) for _ in range(cells - 1)]
    lines = ["0", str(cells)]
    for cell, value in enumerate([sum(values), *values]):
        status = draw.choice("usssz") if cell else "s"
        numbers = [
            value,
            value,
            status,
            0,
            draw.choice((2 * value, "1e308", "nan")) if draw.bad(0.1) else 2 * value,
            1,
            1,
            0,
        ]
        lines.append(" ".join(str(part) for part in (cell, *numbers)))
    lines.append("1")
    members = " ".join(f"{cell} (1)" for cell in range(1, cells))
    lines.append(f"0.0 {cells} : 0 (-1) {members}")
    return _put(draw, folder, "table.jj", "\n".join(lines) + "\n", 0.3)


def cells_file(draw: Draw, folder: Path) -> str:
    """Sensitive cells of a matrix."""
    if not draw.bad(0.7):
        return _put(
            draw, folder, "cells.csv", f"row,column\n{draw.choice(ROWS[:2])},{draw.choice(COLUMNS[:2])}\n"
        )
    chosen = [
        (draw.choice((*ROWS, "total")), draw.choice((*COLUMNS, "total"))) for _ in range(draw.randint(0, 3))
    ]
    levels = draw.random() < 0.4
    lines = ["row,column" + (",lower,upper" if levels else "")]
    for row, column in chosen:
        numbers = (
            [draw.choice(("1", "2", "5", "0", "nan", "-1", "1e308", "")) for _ in range(2)] if levels else []
        )
        lines.append(",".join([row, column, *numbers]))
    return _put(draw, folder, "cells.csv", "\n".join(lines) + "\n")


def pattern_file(draw: Draw, folder: Path) -> str:
    """Hidden cells of a matrix, or of a general table."""
    if draw.random() < 0.2:
        lines = ["cell,kind", *(f"{draw.randint(-1, 7)},primary" for _ in range(draw.randint(0, 4)))]
    else:
        kinds = ("primary", "complementary", "nothing")
        lines = ["row,column,kind"]
        lines += [
            f"{draw.choice(ROWS)},{draw.choice(COLUMNS)},{draw.choice(kinds)}"
            for _ in range(draw.randint(0, 6))
        ]
    return _put(draw, folder, "pattern.csv", "\n".join(lines) + "\n")


def labels_file(draw: Draw, folder: Path) -> str:
    """Groups of records, one number in a line."""
    numbers = [str(draw.choice((0, 0, 1, 1, 2, -1, 10**30))) for _ in range(draw.choice((0, 5, 10, 20)))]
    return _put(draw, folder, "labels.txt", "\n".join(numbers) + "\n")


def slots_file(draw: Draw, folder: Path) -> str:
    """Appointment slots with their capacities."""
    capacity = draw.choice(("CAPACITY", "room")) if draw.bad(0.3) else "capacity"
    lines = [f"slot,{capacity},centre,start"]
    for slot in range(draw.randint(0 if draw.bad(0.3) else 3, 5)):
        room = draw.choice((1, 5, 9, 20, 40, 0, -1, "nan", "1e30", "x") if draw.bad(0.15) else (9, 20, 40))
        lines.append(f"{slot},{room},{draw.choice(('north', 'south'))},2027-03-01T{9 + slot:02}:00")
    return _put(draw, folder, "slots.csv", "\n".join(lines) + "\n")


def some_json(draw: Draw, folder: Path) -> str:
    """An instance of sizes, or some other JSON."""
    content = draw.choice(
        ({"groups": [4, 4, 5, 2], "capacities": [4, 2, 4, 3, 2]}, {}, [], None, {"groups": "x"}, 3)
    )
    return _put(draw, folder, "instance.json", json.dumps(content))
