"""The distance between what an intruder knows of a person and a released record, over numbers and categories together.

Like that of Gower (Biometrics 27, 1971) every column counts alike: two records drawn at random are 2 apart in each, on
average. In a column of numbers that is the squared difference in standard deviations; in a column of categories a share of
it: nothing if the label is the value, everything if it is another, and for a coarser label or a blank the chance that a
record behind it has another value.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shoal.microdata.measures.attacks.batches import Look, go_on, turns
from shoal.microdata.measures.mixed import MixedTables
from shoal.runtime.kernels import kernel

# Distances that differ by less than this share count as equal: the order of adding up must not decide a tie.
TIE = 1e-10
TINY = 1e-20


class Known(NamedTuple):
    """What is known of people: numbers (standardised) and codes of values."""

    numbers: np.ndarray
    codes: np.ndarray

    def take(self, rows: np.ndarray | slice) -> "Known":
        """What is known of some of them."""
        return Known(np.ascontiguousarray(self.numbers[rows]), np.ascontiguousarray(self.codes[rows]))


class Fit(NamedTuple):
    """How values and labels fit, over all columns of categories.

    A label below ``values[c]`` is a value; that of a new one and value ``v`` fit as ``misfit[begins[c] + v·new[c] + label −
    values[c]]`` says. ``weights`` are what a full misfit costs.
    """

    values: np.ndarray
    new: np.ndarray
    begins: np.ndarray
    misfit: np.ndarray
    weights: np.ndarray


def posed(tables: MixedTables) -> tuple[Known, Known, Fit]:
    """What an intruder knows of everybody, what was released, and how the two fit.

    >>> known, released, fit = posed(MixedTables.of_numbers(np.array([[1.0], [3.0]]), np.array([[2.0], [2.0]])))
    >>> known.numbers.round(3).ravel().tolist(), released.numbers.ravel().tolist()
    ([-0.707, 0.707], [0.0, 0.0])
    """
    before, after = tables.standardised()
    pairs = tables.categories
    codes = [np.empty((tables.records, len(pairs)), dtype=np.int64) for _ in range(2)]
    for place, pair in enumerate(pairs):
        codes[0][:, place], codes[1][:, place] = pair.before, pair.after
    sizes = [pair.misfit.size for pair in pairs]
    fit = Fit(
        np.array([pair.values for pair in pairs], dtype=np.int64),
        np.array([pair.labels - pair.values for pair in pairs], dtype=np.int64),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([np.zeros(0), *(pair.misfit.reshape(-1) for pair in pairs)]),
        np.array([2.0 / pair.evenness if pair.evenness > 0 else 0.0 for pair in pairs], dtype=np.float64),
    )
    return Known(before, codes[0]), Known(after, codes[1]), fit


@kernel
def distance(known, i, released, j, fit, but, most):  # type: ignore[no-untyped-def]
    """How far record ``j`` is from person ``i``, without column ``but`` (numbers first); it stops adding above ``most``."""
    total = 0.0
    numbers = known.numbers.shape[1]
    for column in range(numbers):
        if column != but:
            apart = known.numbers[i, column] - released.numbers[j, column]
            total += apart * apart
            if total > most:
                return total
    for column in range(known.codes.shape[1]):
        if column + numbers != but:
            value, label = known.codes[i, column], released.codes[j, column]
            if label >= fit.values[column]:
                cell = fit.begins[column] + value * fit.new[column] + label - fit.values[column]
                total += fit.weights[column] * fit.misfit[cell]
            elif value != label:
                total += fit.weights[column]
            if total > most:
                return total
    return total


def each_once(released: Known, first: Sequence[int] = ()) -> tuple[Known, np.ndarray, np.ndarray]:
    """Equal records once, in the order of some columns of numbers: where each record went, and how many are there.

    >>> once, place, counts = each_once(Known(np.array([[2.0], [1.0], [2.0]]), np.zeros((3, 1), dtype=np.int64)))
    >>> once.numbers.ravel().tolist(), place.tolist(), counts.tolist()
    ([1.0, 2.0], [1, 0, 1], [1, 2])
    """
    width, skip = released.numbers.shape[1], len(first)
    rows = np.hstack([released.numbers[:, list(first)], released.numbers, released.codes])
    different, place, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    once = Known(
        np.ascontiguousarray(different[:, skip : skip + width]),
        np.ascontiguousarray(different[:, skip + width :]).astype(np.int64),
    )
    return once, place.reshape(-1), counts


def links(known: Known, released: Known, own: np.ndarray, fit: Fit, look: Look = go_on) -> np.ndarray:
    """The chance to hit each person's own record: 0 if another is nearer, 1/t if it is one of t nearest.

    Equal records are looked at once, and in the order of one column of numbers, of which only those within reach are.
    """
    width = released.numbers.shape[1]
    columns = sorted(range(width), key=lambda column: -np.unique(released.numbers[:, column]).size)
    once, place, counts = each_once(released, columns[:1])
    leading = columns[0] if columns else -1
    chance = np.zeros(own.size)
    for part in turns(own.size, look):
        chance[part] = _links(known.take(part), once, counts, place[own[part]], fit, leading)
    return chance


@kernel
def _links(known, released, counts, own, fit, leading):  # type: ignore[no-untyped-def]
    chance = np.zeros(own.shape[0])
    records = released.codes.shape[0]
    for i in range(own.shape[0]):
        mine = distance(known, i, released, own[i], fit, -1, np.inf)
        slack = mine * TIE + TINY
        begin, reach = 0, np.inf
        if leading >= 0:
            reach = np.sqrt(mine + slack) * (1.0 + TIE)
            begin = np.searchsorted(released.numbers[:, leading], known.numbers[i, leading] - reach)
        tied = 0
        for j in range(begin, records):
            if leading >= 0 and released.numbers[j, leading] - known.numbers[i, leading] > reach:
                break
            apart = distance(known, i, released, j, fit, -1, mine + slack)
            if apart < mine - slack:
                tied = 0
                break
            if apart <= mine + slack:
                tied += counts[j]
        chance[i] = 1.0 / tied if tied else 0.0
    return chance


@kernel
def nearest(known, released, fit, but, right):  # type: ignore[no-untyped-def]
    """The distance of the nearest record of each person, without column ``but``, and how often the nearest show a true value.

    ``right`` says by how much a released number may miss a true one of column ``but``; of categories the label must be the
    value. Several nearest count by their share.
    """
    people, numbers = known.numbers.shape[0], known.numbers.shape[1]
    least, hits = np.empty(people), np.zeros(people)
    for i in range(people):
        best, tied, hit = np.inf, 0, 0
        for j in range(released.codes.shape[0]):
            slack = best * TIE + TINY if tied else 0.0
            apart = distance(known, i, released, j, fit, but, best + slack if tied else np.inf)
            if tied and apart > best + slack:
                continue
            if not tied or apart < best - slack:
                best, tied, hit = apart, 0, 0
            tied += 1
            if 0 <= but < numbers:
                hit += abs(known.numbers[i, but] - released.numbers[j, but]) <= right
            elif but >= numbers:
                hit += known.codes[i, but - numbers] == released.codes[j, but - numbers]
        least[i] = best
        hits[i] = hit / tied if tied else 0.0
    return least, hits


def warm_up() -> None:
    """Compile the kernels."""
    known, released, fit = posed(MixedTables.of_numbers(np.eye(3), np.eye(3)))
    links(known, released, np.arange(3), fit)
    nearest(known, released, fit, 0, 0.1)
