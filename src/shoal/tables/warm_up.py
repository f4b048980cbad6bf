"""Compiles the kernels of cell suppression on tiny tables."""

import numpy as np

from shoal.runtime import Budget, Seeds, silent
from shoal.tables.exact.combining import Combination
from shoal.tables.exact.cut_rows import Record
from shoal.tables.exact.mending import KnownRows
from shoal.tables.exact.network_cuts import NetworkCuts
from shoal.tables.exact.relaxation import Relaxation
from shoal.tables.heuristic.networks import NetworkHeuristic
from shoal.tables.methods import METHODS
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import audit


def warm_up() -> None:
    """Run every method once on a plane that is audited too, and whatever works in other ways on other tables."""
    rng = np.random.default_rng(0)
    plane = _plane(rng.uniform(1.0, 100.0, (6, 6)), [0, 8, 16, 23])
    for name in METHODS:
        audit(plane, _solve(name, plane, {"patience": 3} if name in ("gensup", "heurgene") else None))
    _solve("exact", _cube(rng.integers(1, 100, (3, 3, 3)).astype(float), [4, 13]))
    # Parents that differ, so that they exchange something.
    crowd = _plane(np.round(rng.lognormal(3.0, 1.5, (20, 20))) + 1.0, list(range(0, 400, 13)), 0.3)
    _solve("heurgene", crowd, {"patience": 50, "rectangles": "joint"})
    _price(plane)
    KnownRows(plane, np.flatnonzero(plane.candidates)).covered(np.empty(0, dtype=np.int64), plane.cost)
    _protect_in_pieces(plane)


def _solve(name: str, problem: Problem, options: dict[str, int | str] | None = None) -> np.ndarray:
    budget = Budget(iterations=40)
    found = METHODS[name].solve(problem, options, budget=budget, seeds=Seeds(0), observer=silent)
    hidden: np.ndarray = found.complementary
    return hidden


def _plane(values: np.ndarray, sensitive: list[int], protection: float = 0.1) -> Problem:
    table = Table.from_matrix(values)
    return Problem.of(table, np.flatnonzero(table.internal)[sensitive], protection=protection)


def _cube(inner: np.ndarray, sensitive: list[int]) -> Problem:
    """A table of three dimensions, which is no network."""
    full = inner
    for axis in range(3):
        full = np.concatenate([full, full.sum(axis=axis, keepdims=True)], axis=axis)
    index = np.arange(full.size).reshape(full.shape)
    lines = [line for axis in range(3) for line in np.moveaxis(index, axis, -1).reshape(-1, full.shape[axis])]
    relations = [[*((int(cell), 1.0) for cell in line[:-1]), (int(line[-1]), -1.0)] for line in lines]
    table = Table.from_relations(full.ravel(), relations, {"cell": np.arange(full.size).astype(object)})
    return Problem.of(table, np.flatnonzero(table.internal)[sensitive], protection=0.15)


def _price(plane: Problem) -> None:
    """Bound a pattern by some of the cells, as for tables that are too large for all at once."""
    network = plane.table.network
    assert network is not None
    cells = np.flatnonzero(plane.candidates)
    cheapest = cells[np.argsort(plane.cost[cells])[: cells.size * 3 // 5]]
    cuts = NetworkCuts(plane, network)
    relaxation = Relaxation(plane, cuts, cheapest)
    relaxation.tighten(Budget().start(), patience=8, gain=1e-6)
    relaxation.tighten(Budget().start(), patience=8, gain=1e-6, sums=True)
    # So small a table may need no sums; one of a single row is written all the same.
    plain = next(
        n for n, record in enumerate(cuts.records) if isinstance(record, Record) and not record.bridge
    )
    alone = Combination((plain,), np.empty(0, dtype=np.int64), 1.0, 0.7, 1.0)
    cuts.write([cuts.number(alone, "alone")], cells)


def _protect_in_pieces(plane: Problem) -> None:
    """Meet requirements as where there are very many."""
    network = plane.table.network
    assert network is not None
    heuristic = NetworkHeuristic(plane, network)
    heuristic.protect_in_pieces(heuristic.state(), Seeds(0).state(), 0.2)
