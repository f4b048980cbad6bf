"""Linkage by likelihood: against categories that were changed by chance.

The intruder knows how often each value became each label, as everybody does once the matrices of PRAM are published, and takes
the record that most likely came from the person: a rare label that agrees tells more than a common one, and a change that is
frequent is hardly a contradiction. That is the weighing of I. P. Fellegi and A. B. Sunter, A theory for record linkage, JASA
64, 1969, value by value. Numbers count by their squared difference in units of the usual change.
"""

from typing import NamedTuple

import numpy as np

from shoal.microdata.measures.attacks.attack import Attack
from shoal.microdata.measures.attacks.batches import Look, go_on, turns
from shoal.microdata.measures.attacks.mixed_distance import Known, each_once
from shoal.microdata.measures.categories import CategoryPair
from shoal.microdata.measures.mixed import MixedTables, sampled
from shoal.runtime import Seeds
from shoal.runtime.kernels import kernel

TARGETS = 2000
# A column with more pairs of values and labels than this is left to the linkage by distance.
_LARGEST_TABLE = 4_000_000
# Few records of a value say little of what it becomes: so many are added that changed as the column does on the whole.
_BELIEF = 20.0
# Numbers that were not changed at all differ by their last digits.
_LEAST_CHANGE = 1e-9
_TIE = 1e-9


class Weights(NamedTuple):
    """What speaks for a record: ``scores[begins[c] + value·labels[c] + label]`` of categories, ``precisions`` of numbers."""

    scores: np.ndarray
    begins: np.ndarray
    labels: np.ndarray
    precisions: np.ndarray


def attack(tables: MixedTables, *, seeds: Seeds, targets: int = TARGETS, look: Look = go_on) -> Attack | None:
    """Expected links in percent; ``None`` without a column of categories, or with fewer than two people.

    How often values changed is learnt from one half of the people for the other, so that nobody is found by his own change.

    >>> from shoal.microdata.measures.categories import pair_categories
    >>> pair = pair_categories("sex", ["f", "m", "m", "f"], ["f", "m", "m", "f"])
    >>> attack(MixedTables((), np.zeros((4, 0)), np.zeros((4, 0)), (pair,)), seeds=Seeds(0)).percent
    50.0
    """
    pairs = [pair for pair in tables.categories if pair.values * pair.labels <= _LARGEST_TABLE]
    whose = tables.people_or_records()
    people = np.unique(whose)
    if not pairs or people.size < 2:
        return None
    drawn = seeds.child("likelihood").generator().permutation(people)
    first = np.isin(whose, drawn[: people.size // 2])
    before, after = tables.standardised()
    released, place, counts = each_once(Known(after, np.column_stack([pair.after for pair in pairs])))
    known = Known(before, np.column_stack([pair.before for pair in pairs]))
    chosen = sampled(tables.records, targets, seeds, "likelihood")
    chance = np.zeros(chosen.size)
    for half in (first, ~first):
        here = np.flatnonzero(half[chosen])
        weights = _weights(pairs, before, after, np.flatnonzero(~half))
        for part in turns(here.size, look):
            some = chosen[here[part]]
            chance[here[part]] = links(known.take(some), released, counts, place[some], weights)
    return Attack(
        "likelihood",
        "linkage by likelihood",
        "every value of a record, and how often each value became each label",
        100.0 * float(chance.mean()),
        int(chosen.size),
        tables.records,
    )


def _weights(pairs: list[CategoryPair], before: np.ndarray, after: np.ndarray, rows: np.ndarray) -> Weights:
    """How much more likely labels are for the values that they came from, as some records show it."""
    tables = [_log_ratios(pair, rows) for pair in pairs]
    change = np.square(after[rows] - before[rows]).mean(axis=0)
    return Weights(
        np.concatenate([table.reshape(-1) for table in tables]),
        np.concatenate([[0], np.cumsum([table.size for table in tables])]).astype(np.int64),
        np.array([pair.labels for pair in pairs], dtype=np.int64),
        0.5 / np.maximum(change, _LEAST_CHANGE),
    )


def _log_ratios(pair: CategoryPair, rows: np.ndarray) -> np.ndarray:
    """For each value and label the logarithm of how much likelier the label is for that value than for anybody."""
    old, new = pair.before[rows], pair.after[rows]
    seen = np.bincount(pair.after, minlength=pair.labels) / pair.after.size
    counted = np.bincount(old * pair.labels + new, minlength=pair.values * pair.labels)
    counted = counted.reshape(pair.values, pair.labels).astype(np.float64)
    kept = float((old == new).mean())
    usual = (1.0 - kept) * np.tile(seen, (pair.values, 1))
    own = np.arange(pair.values)
    usual[own, own] += kept
    chances = (counted + _BELIEF * usual) / (counted.sum(axis=1) + _BELIEF)[:, None]
    # Labels that nobody shows are never looked up, and what never happened is not ruled out.
    found: np.ndarray = np.log(np.maximum(chances, 1e-12) / np.where(seen > 0, seen, 1.0))
    return found


@kernel
def score(known, i, released, j, weights, rest, least):  # type: ignore[no-untyped-def]
    """How much speaks for record ``j`` being of person ``i``; it stops where not even all that is left could reach ``least``.

    ``rest[c]`` is the most that columns of categories from ``c`` on can add; numbers only take away.
    """
    total = 0.0
    for column in range(known.numbers.shape[1]):
        apart = known.numbers[i, column] - released.numbers[j, column]
        total -= weights.precisions[column] * apart * apart
        if total + rest[0] < least:
            return total + rest[0]
    for column in range(known.codes.shape[1]):
        row = weights.begins[column] + known.codes[i, column] * weights.labels[column]
        total += weights.scores[row + released.codes[j, column]]
        if total + rest[column + 1] < least:
            return total + rest[column + 1]
    return total


@kernel
def links(known, released, counts, own, weights):  # type: ignore[no-untyped-def]
    """The chance to hit each person's own record: 0 if more speaks for another, 1/t if as much speaks for t."""
    people, columns = known.codes.shape
    chance = np.zeros(people)
    rest = np.zeros(columns + 1)
    for i in range(people):
        for column in range(columns - 1, -1, -1):
            row = weights.begins[column] + known.codes[i, column] * weights.labels[column]
            rest[column] = rest[column + 1] + weights.scores[row : row + weights.labels[column]].max()
        mine = score(known, i, released, own[i], weights, rest, -np.inf)
        slack = _TIE * max(1.0, abs(mine))
        tied = 0
        for j in range(released.codes.shape[0]):
            speaks = score(known, i, released, j, weights, rest, mine - slack)
            if speaks > mine + slack:
                tied = 0
                break
            if speaks >= mine - slack:
                tied += counts[j]
        chance[i] = 1.0 / tied if tied else 0.0
    return chance


def warm_up() -> None:
    """Compile the kernels."""
    from shoal.microdata.measures.categories import pair_categories

    pair = pair_categories("any", ["a", "b"], ["a", "b"])
    attack(MixedTables(("number",), np.eye(2)[:, :1], np.eye(2)[:, :1], (pair,)), seeds=Seeds(0))
