"""A table with its pattern in the files of τ-ARGUS: a ``.tab`` with one cell a line, the ``.rda`` that describes it, ``.hrc``,
and the ``.hst`` with what is said of single cells.
"""

import csv
import io
import re
from collections.abc import Mapping

import numpy as np

from shoal.errors import InputError
from shoal.tables.files.argus_history import write_history
from shoal.tables.model.contributions import Known
from shoal.tables.model.table import TOTAL
from shoal.tables.model.trees import Tree
from shoal.tables.problem import Problem

_SEPARATOR = ";"


def argus_files(
    problem: Problem,
    complementary: np.ndarray,
    trees: Mapping[str, Tree],
    known: Known | None = None,
    contributors: np.ndarray | None = None,
) -> dict[str, bytes]:
    """The files by name; the states are S (safe), U (sensitive), M (hidden besides) and P (always published)."""
    table = problem.table
    if table.dimensions == ("cell",):
        raise InputError(
            "a jj file has no dimensions, so there is no table of τ-ARGUS to write; write a .jj file"
        )
    tops = _tops(known)
    figures: dict[str, np.ndarray] = {"Value": table.values}
    if contributors is not None:
        figures["Freq"] = contributors
    figures["Cost"] = problem.cost
    figures |= {f"Top{place}": row for place, row in enumerate(tops, 1)}
    levels = np.zeros((2, table.cells))
    levels[:, problem.sensitive] = [problem.lower, problem.upper]
    hidden = problem.hidden_mask(complementary)
    states = np.where(
        problem.is_sensitive, "U", np.where(hidden, "M", np.where(problem.candidates, "S", "P"))
    )
    text = io.StringIO()
    writer = csv.writer(text, delimiter=_SEPARATOR, lineterminator="\n")
    coordinates = table.coordinates()
    for cell in range(table.cells):
        writer.writerow(
            [
                *(coordinates[name][cell] for name in table.dimensions),
                *(_shown(row[cell]) for row in figures.values()),
                states[cell],
                *(_shown(row[cell]) for row in levels),
            ]
        )
    names = {
        name: _file(name, place) for place, name in enumerate(table.dimensions) if _is_deep(trees.get(name))
    }
    found = {"table.tab": text.getvalue().encode()}
    found["table.hst"] = write_history(problem).encode()
    signs = {name: _lead(trees[name]) for name in names}
    found["table.rda"] = _described(table.dimensions, table.totals, names, signs, figures).encode()
    found |= {file: _hierarchy(trees[name], signs[name]).encode() for name, file in names.items()}
    return found


def _tops(known: Known | None) -> list[np.ndarray]:
    """The two largest contributions, as far as they are known."""
    if known is None:
        return []
    first = known.largest(1)
    second = known.largest(2) - first
    return [row for row in (first, second) if row.any()]


def _shown(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def _is_deep(tree: Tree | None) -> bool:
    return tree is not None and tree.depth > 1


def _file(name: str, position: int) -> str:
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    return f"{plain or 'dimension'}_{position + 1}.hrc"


def _described(
    dimensions: tuple[str, ...],
    totals: Mapping[str, str],
    files: Mapping[str, str],
    signs: Mapping[str, str],
    figures: Mapping[str, object],
) -> str:
    lines = [f'<SEPARATOR> "{_SEPARATOR}"', '<SAFE> "S"', '<UNSAFE> "U"', '<PROTECT> "P"']
    for name in dimensions:
        lines += [_name(name), "  <RECODEABLE>", f'  <TOTCODE> "{totals.get(name, TOTAL)}"']
        if name in files:
            lines += ["  <HIERARCHICAL>", f'  <HIERCODELIST> "{files[name]}"']
            lines += [f'  <HIERLEADSTRING> "{signs[name]}"']
    words = {"Value": "<NUMERIC>", "Freq": "<FREQUENCY>", "Cost": "<NUMERIC> <COSTVAR>"}
    for name in figures:
        lines += [name, f"  {words.get(name, '<MAXSCORE>')}"]
    lines += [
        "Status",
        "  <STATUS>",
        "LowerLevel",
        "  <NUMERIC> <LOWERPL>",
        "UpperLevel",
        "  <NUMERIC> <UPPERPL>",
    ]
    return "\n".join(lines) + "\n"


def _name(name: str) -> str:
    if any(sign in name for sign in '<>"') or not name.strip():
        raise InputError('a dimension whose name has one of < > " cannot be written for τ-ARGUS; rename it')
    return f'"{name}"' if re.search(r"\s", name) else name


def _lead(tree: Tree) -> str:
    """The sign that says how deep a code is: one that no code begins with."""
    for sign in "@#%~^$!":
        if not any(code.startswith(sign) for code in tree.codes):
            return sign
    raise InputError(
        "codes of a hierarchy begin with every sign that could say how deep they are; rename some"
    )


def _hierarchy(tree: Tree, sign: str) -> str:
    lines: list[str] = []

    def add(code: int, depth: int) -> None:
        lines.append(sign * depth + tree.codes[code])
        for child in tree.children.get(code, ()):
            add(child, depth + 1)

    for child in tree.children[0]:
        add(child, 0)
    return "\n".join(lines) + "\n"
