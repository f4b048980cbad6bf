"""All measures of one recoding side by side, whatever it was found by."""

import numpy as np

from shoal.microdata.recoding.class_kernels import added, numbered_rows
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.release import piece_keys
from shoal.microdata.recoding.solution import Recoding


def measured_losses(problem: Problem, solution: Recoding) -> dict[str, float]:
    """What is lost by each measure (see ``shoal.microdata.recoding.loss_tables``)."""
    n, kept, records = problem.size, solution.released, solution.records
    sizes = _class_sizes(problem, solution)
    out = int(records[~kept].sum())
    weights = problem.weights
    loss = cells = 0.0
    for column, hierarchy in enumerate(problem.hierarchies):
        leaves, levels = problem.keys[solution.tuples, column], solution.levels[:, column]
        nodes = hierarchy.nodes[levels, leaves]
        rates = _looked_up(hierarchy.loss, levels, nodes)
        loss += weights[column] * float((records * np.where(kept, rates, 1.0)).sum())
        single = _looked_up(hierarchy.sizes, levels, nodes) == 1
        labels = [np.array(own, dtype=object) for own in hierarchy.labels]
        unchanged = single & (_looked_up(labels, levels, nodes) == labels[0][leaves])
        cells += weights[column] * float(records[~(kept & unchanged)].sum())
    return {
        "loss": loss / (n * float(weights.sum())),
        "entropy": _bits(problem, solution),
        "discernibility": float((sizes.astype(float) ** 2).sum() + n * out),
        "class-size": n / max(1, sizes.size + bool(out)),
        "cells": cells,
    }


def _class_sizes(problem: Problem, solution: Recoding) -> np.ndarray:
    keys, cards = piece_keys(problem, solution)
    if not solution.released.any():
        return np.zeros(0, dtype=np.int64)
    groups, first = numbered_rows(np.ascontiguousarray(keys[solution.released]), cards)
    sizes: np.ndarray = added(groups, solution.records[solution.released], first.size)
    return sizes


def _looked_up(by_level: list[np.ndarray], levels: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    starts = np.cumsum([0, *[own.size for own in by_level[:-1]]])
    found: np.ndarray = np.concatenate(by_level)[starts[levels] + nodes]
    return found


def _bits(problem: Problem, solution: Recoding) -> float:
    total = 0.0
    records, kept = solution.records, solution.released
    for column, hierarchy in enumerate(problem.hierarchies):
        own = problem.keys[:, column]
        frequencies = [
            np.bincount(hierarchy.nodes[level][own], weights=problem.records, minlength=len(labels))
            for level, labels in enumerate(hierarchy.labels)
        ]
        leaves, levels = own[solution.tuples], solution.levels[:, column]
        nodes = hierarchy.nodes[levels, leaves]
        released = _looked_up(frequencies, levels, nodes)
        bits = float((records * np.log2(released / frequencies[0][leaves])).sum())
        starts = np.cumsum([0, *[len(labels) for labels in hierarchy.labels[:-1]]])
        out = np.bincount(starts[levels[~kept]] + nodes[~kept], weights=records[~kept])
        out = out[out > 0]
        bits -= float((out * np.log2(out / max(1.0, out.sum()))).sum())
        total += float(problem.weights[column]) * bits
    return total
