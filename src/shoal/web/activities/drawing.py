"""A table as the page draws it: any number of dimensions with their subtotals, or relations between numbered cells."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.tables.model.table import TOTAL

if TYPE_CHECKING:
    import numpy as np

    from shoal.tables.model.tabulated import Tabulation
    from shoal.tables.model.trees import Tree
    from shoal.tables.problem import Problem
    from shoal.web.jobs.context import Context

FILE = "drawing.json"
# A table of more cells is not drawn; its files hold all of it.
LARGEST = 200_000
# Linked tables fill little of the space that all their dimensions span.
_WIDEST = 2_000_000


def draw(
    problem: "Problem",
    hidden: "np.ndarray",
    trees: "Mapping[str, Tree]",
    context: "Context",
    tabulation: "Tabulation | None" = None,
) -> bool:
    """Keep the drawing beside the run, with who contributes if the ``tabulation`` knows it; false if it is too large."""
    if problem.table.cells > LARGEST or _size(problem) > _WIDEST:
        return False
    content = {**drawing(problem, hidden, trees), **contributions(tabulation)}
    context.keep(FILE).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return True


def contributions(tabulation: "Tabulation | None") -> dict[str, Any]:
    """How many contribute to each cell, the shares of the two largest in percent, and the cells at which each rule fires."""
    import numpy as np

    known = None if tabulation is None else tabulation.contributions
    if tabulation is None or known is None:
        return {}
    total = np.where(known.total > 0, known.total, np.nan)
    first = known.largest(1)
    second = np.where(known.counts > 1, known.largest(2) - first, np.nan)
    shares = np.round(100.0 * np.column_stack([first, second]) / total[:, None], 4)
    sensitive = tabulation.status == "u"
    fired = {
        str(rule): np.flatnonzero(~np.isnan(rule.level(known)) & sensitive).tolist()
        for rule in tabulation.rules
    }
    return {
        "contributors": known.counts.tolist(),
        # Of counts everybody has one; that says nothing.
        "shares": []
        if tabulation.counts
        else [[None if np.isnan(x) else float(x) for x in pair] for pair in shares],
        "fired": fired,
    }


def drawing(problem: "Problem", hidden: "np.ndarray", trees: "Mapping[str, Tree]") -> dict[str, Any]:
    """Codes in the order in which they are shown, subtotals after their parts; the cells under them; kinds and values."""
    table = problem.table
    kinds = [
        "p" if sensitive else "c" if gone else "" if may else "z"
        for sensitive, gone, may in zip(problem.is_sensitive, hidden, problem.candidates, strict=True)
    ]
    drawn: dict[str, Any] = {"values": table.values.tolist(), "kinds": kinds}
    if table.dimensions == ("cell",):
        return {
            **drawn,
            "names": [str(key) for key in table.keys["cell"]],
            "relations": [table.relation(place).tolist() for place in range(table.relations)],
        }
    dimensions = []
    for name in table.dimensions:
        if name in trees:
            codes = _outline(trees[name])
        else:
            found = list(dict.fromkeys(str(key) for key in table.keys[name]))
            parts = [(code, 1, False) for code in found if code != TOTAL]
            codes = [*parts, (TOTAL, 0, True)] if TOTAL in found else parts
        dimensions.append(
            {
                "name": name,
                "codes": [code for code, _, _ in codes],
                "depth": [depth for _, depth, _ in codes],
                "sums": [flag for _, _, flag in codes],
            }
        )
    return {**drawn, "dimensions": dimensions, "cells": _places(problem, dimensions)}


def _size(problem: "Problem") -> int:
    """How many combinations of codes there are, with a cell or without."""
    size = 1
    for name, keys in problem.table.keys.items():
        size *= 1 if name == "cell" else len(set(keys))
    return size


def _outline(tree: "Tree") -> list[tuple[str, int, bool]]:
    """Every code with its depth and whether it is a sum, the parts before their subtotal and the total last."""

    def below(code: int, depth: int) -> list[tuple[str, int, bool]]:
        found = [item for child in tree.children.get(code, ()) for item in below(child, depth + 1)]
        return [*found, (tree.codes[code], depth, bool(found))]

    return below(0, 0)


def _places(problem: "Problem", dimensions: list[dict[str, Any]]) -> list[int]:
    """The cell at each combination of codes, the last dimension fastest; −1 where there is none."""
    import numpy as np

    table = problem.table
    size = 1
    for dimension in dimensions:
        size *= len(dimension["codes"])
    at = np.zeros(table.cells, dtype=np.int64)
    for dimension in dimensions:
        place = {code: number for number, code in enumerate(dimension["codes"])}
        own = np.array([place[str(key)] for key in table.keys[dimension["name"]]], dtype=np.int64)
        at = at * len(place) + own
    places = np.full(size, -1, dtype=np.int64)
    places[at] = np.arange(table.cells)
    found: list[int] = places.tolist()
    return found
