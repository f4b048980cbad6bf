"""What a run of values costs: the lowest node over all of them, found from the first and the last.

Values are numbered in the order of a walk through their tree, so the lowest node over a set of them is the lowest over the
first and the last. A group of records is then a *box*, a first and a last value for each key, and all it needs to know.
"""

from typing import NamedTuple

import numpy as np

from shoal.microdata.recoding.classes import flattened
from shoal.microdata.recoding.loss_tables import Loss
from shoal.microdata.recoding.problem import Problem
from shoal.runtime.kernels import kernel

# Up to this many values the cost of every run is looked up; beyond, it is found by going up the tree.
_LOOKED_UP = 1024


class Spans(NamedTuple):
    """The trees of all keys between the lowest and the highest level, over the values at the lowest level.

    Key j has ``cards[j]`` values and ``heights[j]`` levels. ``nodes[trees[j] + level * cards[j] + value]`` is the node over a
    value, ``rates`` at the same place what a record loses there; ``table[tables[j] + first * cards[j] + last]`` what it loses
    in a run, if ``tables[j]`` is not negative.
    """

    cards: np.ndarray
    heights: np.ndarray
    trees: np.ndarray
    nodes: np.ndarray
    rates: np.ndarray
    tables: np.ndarray
    table: np.ndarray

    @classmethod
    def of(cls, problem: Problem, loss: Loss) -> "Spans":
        """The trees of a problem with its measure of loss."""
        nodes, rates, tables, at, cards, heights = [], [], [], [], [], []
        filled = 0
        for column, hierarchy in enumerate(problem.hierarchies):
            low, high = problem.lowest[column], problem.highest[column]
            own = np.stack([hierarchy.up(low, level) for level in range(low, high + 1)])
            lost = np.stack([loss.tables[column][level][own[level - low]] for level in range(low, high + 1)])
            card = own.shape[1]
            cards.append(card)
            heights.append(own.shape[0])
            nodes.append(own.astype(np.int32).ravel())
            rates.append(lost.ravel())
            at.append(-1)
            if card <= _LOOKED_UP:
                at[-1] = filled
                tables.append(_runs(own, lost).ravel())
                filled += card * card
        flat, trees = flattened(nodes)
        table = np.concatenate(tables) if tables else np.zeros(0)
        return cls(
            np.array(cards, dtype=np.int64),
            np.array(heights, dtype=np.int64),
            np.asarray(trees, dtype=np.int64),
            flat,
            np.concatenate(rates),
            np.array(at, dtype=np.int64),
            table,
        )


def _runs(nodes: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """What is lost in each run; infinitely much where even the highest level parts it."""
    card = nodes.shape[1]
    found = np.full((card, card), np.inf)
    for own, lost in zip(nodes[::-1], rates[::-1], strict=True):
        together = own[:, None] == own[None, :]
        found[together] = np.broadcast_to(lost[:, None], (card, card))[together]
    return found


# Kernels look up ``table`` themselves: a call in the innermost loop would cost more than all that is looked up.
@kernel
def walked_rate(spans: Spans, column: int, first: int, last: int) -> float:
    """What a record loses in one key when all values from the first to the last get the same label; by going up the tree."""
    tree = spans.trees[column]
    for _ in range(spans.heights[column]):
        if spans.nodes[tree + first] == spans.nodes[tree + last]:
            return spans.rates[tree + first]
        tree += spans.cards[column]
    return np.inf


@kernel
def box_rates(firsts: np.ndarray, lasts: np.ndarray, spans: Spans) -> np.ndarray:
    """What a record of each box loses."""
    cards, tables, table = spans.cards, spans.tables, spans.table
    size, d = firsts.shape
    rates = np.zeros(size)
    for box in range(size):
        for column in range(d):
            first, last = firsts[box, column], lasts[box, column]
            if first <= last:
                if tables[column] >= 0:
                    rates[box] += table[tables[column] + first * cards[column] + last]
                else:
                    rates[box] += walked_rate(spans, column, first, last)
    return rates


@kernel
def box_levels(firsts: np.ndarray, lasts: np.ndarray, spans: Spans) -> np.ndarray:
    """How many levels above the lowest allowed each key of a box is released; the highest if nothing joins it."""
    size, d = firsts.shape
    levels = np.zeros((size, d), dtype=np.int8)
    for box in range(size):
        for column in range(d):
            tree = spans.trees[column]
            level = 0
            while (
                level + 1 < spans.heights[column]
                and spans.nodes[tree + firsts[box, column]] != spans.nodes[tree + lasts[box, column]]
            ):
                tree += spans.cards[column]
                level += 1
            levels[box, column] = level
    return levels


def warm_up() -> None:
    """Compile the kernels."""
    one = np.ones(1, dtype=np.int64)
    zero = np.zeros(1, dtype=np.int64)
    spans = Spans(one, one, zero, np.zeros(1, dtype=np.int32), np.zeros(1), zero, np.zeros(1))
    box = np.zeros((1, 1), dtype=np.int32)
    box_rates(box, box, spans)
    box_levels(box, box, spans)
