"""The check of a recoding: classes, models, loss and limit computed anew, in another way than any search does.

``verify`` looks at the pieces of a solution; ``ReleaseCheck`` at a released frame, beside the original one. Both name classes
by their labels, count them in plain dictionaries, and share nothing with the search, the models' kernels or the release code.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.models.model import (
    AverageRisk,
    Closeness,
    ConfidentialColumn,
    DistinctDiversity,
    EntropyDiversity,
    KMap,
    Likeness,
    Model,
    Presence,
    RecursiveDiversity,
)
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.solution import Recoding

# Losses are sums of many rounded numbers, added in another order here.
_CLOSE = 1e-7

Labels = tuple[str | None, ...]


@dataclass
class SeenClass:
    """What was counted of one class of the release: people by name, or without names where each has one record."""

    records: int = 0
    people: set[Hashable] = field(default_factory=set)
    unnamed: int = 0
    population: int = 0
    values: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))

    @property
    def size(self) -> int:
        """Distinct people."""
        return len(self.people) + self.unnamed


def verify(problem: Problem, solution: Recoding) -> None:
    """Raise an ``AssertionError`` unless the solution releases what it says, and all demands are met."""
    _expect_all_records(problem, solution)
    levels = np.asarray(solution.levels, dtype=int)
    assert (levels >= np.array(problem.lowest)).all(), "a key is released finer than allowed"
    assert (levels <= np.array(problem.highest)).all(), "a key is released coarser than allowed"
    if solution.uniform is not None:
        assert (levels[solution.released] == np.array(solution.uniform)).all(), (
            "levels differ from those stated"
        )
    if problem.uniform:
        _expect_one_level(problem, levels[solution.released])
    rows = [hierarchy.rows for hierarchy in problem.hierarchies]
    classes: dict[Labels, SeenClass] = defaultdict(SeenClass)
    left_out = SeenClass()
    labels_of: list[Labels] = []
    split = Counter(solution.tuples.tolist())
    persons = _persons(problem)
    for number, item in enumerate(solution.tuples.tolist()):
        labels = tuple(
            rows[column][problem.keys[item, column]][levels[number, column]] for column in range(len(rows))
        )
        labels_of.append(labels)
        target = classes[labels] if solution.released[number] else left_out
        records = int(solution.records[number])
        target.records += records
        whole = split[item] == 1
        assert whole or (
            not problem.histograms and problem.people[item] == problem.records[item] and item not in persons
        ), "a tuple is parted though its people, or their values, cannot be told apart"
        target.unnamed += int(problem.people[item]) if whole else records
        target.people.update(persons.get(item, ()))
        for name, histogram in problem.histograms.items():
            run = slice(histogram.starts[item], histogram.starts[item + 1])
            target.values[name].update(
                dict(zip(histogram.values[run].tolist(), histogram.counts[run].tolist(), strict=True))
            )
    if problem.show_keys and any(hierarchy.height for hierarchy in problem.hierarchies):
        _expect_shown(problem, solution, persons, left_out)
    if problem.population is not None:
        _add_population(problem, solution, classes)
    if problem.keep_suppressed and left_out.records:
        root = tuple(hierarchy.root for hierarchy in problem.hierarchies)
        _join(classes[root], left_out)
    expect_demands(
        problem.k, problem.models, problem.confidential, classes.values(), left_out.size, problem.limit
    )
    stated = _loss(problem, solution, labels_of)
    assert math.isclose(solution.value, stated, rel_tol=_CLOSE, abs_tol=_CLOSE), (
        f"the loss is {stated!r}, not {solution.value!r}"
    )
    if solution.optimal:
        assert solution.bound is not None and solution.bound >= solution.value * (1 - _CLOSE) - _CLOSE


def _expect_shown(
    problem: Problem, solution: Recoding, persons: Mapping[int, Sequence[Hashable]], left_out: SeenClass
) -> None:
    """No more units are left out, or show no key in any of their records, than may be."""
    tops = [hierarchy.height for hierarchy in problem.hierarchies]
    split = Counter(solution.tuples.tolist())
    blank, shown, unnamed = set[Hashable](), set[Hashable](), 0
    for item, records, levels, kept in zip(
        solution.tuples.tolist(),
        solution.records.tolist(),
        solution.levels.tolist(),
        solution.released.tolist(),
        strict=True,
    ):
        keys = [h.rows[leaf][0] for h, leaf in zip(problem.hierarchies, problem.keys[item], strict=True)]
        if kept and levels == tops and any(key is not None for key in keys):
            unnamed += int(problem.people[item]) if split[item] == 1 else records
            blank.update(persons.get(item, ()))
        elif kept:
            shown.update(persons.get(item, ()))
    # A unit of which a record is gone counts already.
    units = left_out.size + unnamed + len(blank - shown - left_out.people)
    assert units <= problem.limit, f"{units} units are left out or show no key, and {problem.limit} may be"


def _expect_one_level(problem: Problem, levels: np.ndarray) -> None:
    for own, hierarchy in zip(levels.T.tolist(), problem.hierarchies, strict=True):
        shown = {level for level in own if level < hierarchy.height}
        assert len(shown) <= 1, "a key is released at several levels"


def _expect_all_records(problem: Problem, solution: Recoding) -> None:
    counted = np.zeros(problem.records.size, dtype=np.int64)
    for item, records in zip(solution.tuples.tolist(), solution.records.tolist(), strict=True):
        assert records > 0, "a piece has no records"
        counted[item] += records
    assert (counted == problem.records).all(), "records are missing, or there are too many"


def _persons(problem: Problem) -> dict[int, list[Hashable]]:
    """Those with records of several tuples, by tuple."""
    found: dict[int, list[Hashable]] = defaultdict(list)
    if problem.spread is not None:
        starts = problem.spread.starts.tolist()
        for person, (begin, end) in enumerate(itertools.pairwise(starts)):
            for item in problem.spread.tuples[begin:end].tolist():
                found[item].append(person)
    return found


def _add_population(problem: Problem, solution: Recoding, classes: dict[Labels, SeenClass]) -> None:
    """Count everybody of the population into the class they would be in, at the levels of all."""
    assert problem.population is not None
    assert solution.uniform is not None, "the population can be counted for one recoding of all only"
    for item, people in enumerate(problem.population.tolist()):
        labels = tuple(
            hierarchy.rows[problem.keys[item, column]][level]
            for column, (hierarchy, level) in enumerate(
                zip(problem.hierarchies, solution.uniform, strict=True)
            )
        )
        if people and (labels in classes or not _left_out(problem, solution, labels)):
            classes[labels].population += people


def _left_out(problem: Problem, solution: Recoding, labels: Labels) -> bool:
    """Whether records with these labels were left out, so that the class is not there."""
    assert solution.uniform is not None
    return any(
        labels
        == tuple(
            hierarchy.rows[problem.keys[item, column]][level]
            for column, (hierarchy, level) in enumerate(
                zip(problem.hierarchies, solution.uniform, strict=True)
            )
        )
        for item in solution.tuples[~solution.released].tolist()
    )


def _join(target: SeenClass, other: SeenClass) -> None:
    target.records += other.records
    target.people |= other.people
    target.unnamed += other.unnamed
    for name, values in other.values.items():
        target.values[name].update(values)


def expect_demands(
    k: int,
    models: Sequence[Model],
    columns: Mapping[str, ConfidentialColumn],
    classes: Iterable[SeenClass],
    left_out: int,
    limit: int,
) -> None:
    """Raise unless all classes meet all demands and no more people are left out than may be."""
    every = list(classes)
    assert left_out <= limit, f"{left_out} people are left out, and {limit} may be"
    kept = [one for one in every if one.records]
    assert kept, "nothing is released"
    smallest = min(one.size for one in kept)
    assert smallest >= k, f"a class has {smallest} people, fewer than k = {k}"
    people = len(set().union(*[one.people for one in kept])) + sum(one.unnamed for one in kept)
    for model in models:
        if isinstance(model, AverageRisk):
            assert len(kept) <= model.limit * people * (1 + _CLOSE), f"{model.text} does not hold"
            continue
        for one in every:
            assert _holds(model, one, columns), f"{model.text} does not hold in a class of {one.size} people"


def _holds(model: Model, one: SeenClass, columns: Mapping[str, ConfidentialColumn]) -> bool:
    if isinstance(model, KMap):
        return one.records == 0 or one.population >= model.k
    if isinstance(model, Presence):
        share = one.size / max(1, one.population)
        return model.least - _CLOSE <= share <= model.most + _CLOSE
    if one.records == 0:
        return True
    column = columns[model.column]  # type: ignore[attr-defined]
    counts = one.values[column.name]
    known = sorted(
        (count for value, count in counts.items() if value != column.missing and count), reverse=True
    )
    total = sum(known)
    if isinstance(model, DistinctDiversity):
        return len(known) >= model.l
    if isinstance(model, EntropyDiversity):
        return (
            bool(known) and -sum(c / total * math.log(c / total) for c in known) >= math.log(model.l) - _CLOSE
        )
    if isinstance(model, RecursiveDiversity):
        return bool(known) and known[0] < model.c * sum(known[model.l - 1 :])
    shares = {value: count / sum(counts.values()) for value, count in counts.items() if count}
    whole = dict(enumerate(column.shares.tolist()))
    if isinstance(model, Likeness):
        gains = [(share - whole[value]) / whole[value] for value, share in shares.items()]
        allowed = [min(model.beta, -math.log(whole[v])) if model.enhanced else model.beta for v in shares]
        return all(gain <= most + _CLOSE for gain, most in zip(gains, allowed, strict=True))
    assert isinstance(model, Closeness)
    return _distance(model, shares, whole, column) <= model.t + _CLOSE


def _distance(
    model: Closeness, shares: Mapping[int, float], whole: Mapping[int, float], column: ConfidentialColumn
) -> float:
    difference = {value: shares.get(value, 0.0) - share for value, share in whole.items()}
    if model.distance == "ordered":
        carried = np.cumsum([difference[value] for value in sorted(difference)])
        return float(np.abs(carried).sum()) / max(1, len(difference) - 1)
    if model.distance == "equal":
        return sum(map(abs, difference.values())) / 2
    assert column.tree is not None
    total = 0.0
    for level in column.tree.tolist():
        by_node: dict[int, float] = defaultdict(float)
        for value, node in enumerate(level):
            by_node[node] += difference[value]
        total += sum(map(abs, by_node.values()))
    return total / (2 * len(column.tree))


def _loss(problem: Problem, solution: Recoding, labels: Sequence[Labels]) -> float:
    """The loss of the pieces in the problem's measure."""
    n = int(problem.records.sum())
    pieces = list(
        zip(
            solution.tuples.tolist(),
            solution.records.tolist(),
            solution.released.tolist(),
            labels,
            strict=True,
        )
    )
    if problem.measure in ("discernibility", "class-size"):
        sizes: Counter[Labels] = Counter()
        for _, records, kept, own in pieces:
            if kept:
                sizes[own] += records
        out = sum(records for _, records, kept, _ in pieces if not kept)
        if problem.measure == "class-size":
            return n / max(1, len(sizes) + bool(out))
        return float(sum(size * size for size in sizes.values()) + n * out)
    weights = problem.weights.tolist()
    if problem.measure == "entropy":
        return _bits(problem, solution, pieces, labels)
    total = 0.0
    for column, (hierarchy, weight) in enumerate(zip(problem.hierarchies, weights, strict=True)):
        under = leaves_under(hierarchy)
        for number, (item, records, kept, own) in enumerate(pieces):
            leaf = hierarchy.rows[problem.keys[item, column]][0]
            level = int(solution.levels[number, column])
            if problem.measure == "cells":
                lost = 0.0 if kept and own[column] == leaf and under[level][own[column]] == 1 else 1.0
            elif not kept or level == hierarchy.height:
                lost = 1.0
            else:
                lost = (under[level][own[column]] - 1) / max(1, len(hierarchy.rows) - 1)
            total += weight * records * lost
    return total if problem.measure == "cells" else total / (n * sum(weights))


def leaves_under(hierarchy: Hierarchy) -> list[Counter[str | None]]:
    """How many values each label stands for, by level."""
    return [Counter(row[level] for row in hierarchy.rows) for level in range(hierarchy.height + 1)]


def _bits(
    problem: Problem,
    solution: Recoding,
    pieces: Sequence[tuple[int, int, bool, Labels]],
    labels: Sequence[Labels],
) -> float:
    """Bits from released to original values by frequency, and bits that tell those left out from each other."""
    total = 0.0
    for column, hierarchy in enumerate(problem.hierarchies):
        frequency: list[Counter[str | None]] = [Counter() for _ in range(hierarchy.height + 1)]
        for item, records in enumerate(problem.records.tolist()):
            for level, label in enumerate(hierarchy.rows[problem.keys[item, column]]):
                frequency[level][label] += records
        out: Counter[str | None] = Counter()
        bits = 0.0
        for number, (item, records, kept, own) in enumerate(pieces):
            leaf = hierarchy.rows[problem.keys[item, column]][0]
            level = int(solution.levels[number, column])
            bits += records * math.log2(frequency[level][own[column]] / frequency[0][leaf])
            if not kept:
                out[own[column]] += records
        gone = sum(out.values())
        bits -= sum(count * math.log2(count / gone) for count in out.values())
        total += float(problem.weights[column]) * bits
    return total
