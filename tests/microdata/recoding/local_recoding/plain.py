"""Small recoding problems, what a group loses counted by hand, and the best grouping by trying all."""

from collections.abc import Iterator

import numpy as np

from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.recoding.problem import Problem


def tree(rng: np.random.Generator, leaves: int, levels: int, name: str) -> Hierarchy:
    """A random tree over so many leaves."""
    rows, group = [[f"{name}{leaf}"] for leaf in range(leaves)], list(range(leaves))
    for level in range(1, levels + 1):
        parents = {old: int(rng.integers(0, max(1, len(set(group)) - 1))) for old in sorted(set(group))}
        group = [parents[old] for old in group]
        for row, own in zip(rows, group, strict=True):
            row.append(f"{name}{level}.{own}")
    return Hierarchy([tuple(row) for row in rows])


def problem(
    seed: int,
    *,
    records: tuple[int, int] = (2, 7),
    measures: tuple[str, ...] = ("loss", "cells"),
    units: bool = True,
) -> Problem:
    """A random problem with k alone; now and then people have several records, or levels are limited."""
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(1, 4)), int(rng.integers(*records))
    trees = [
        tree(rng, int(rng.integers(1, 6)), int(rng.integers(0, 4)), "abc"[column]) for column in range(d)
    ]
    columns = [rng.integers(0, len(one.rows), n).astype(np.int32) for one in trees]
    owners = rng.integers(0, max(2, n // 2), n) if units and rng.random() < 0.3 else None
    people = n if owners is None else np.unique(owners).size
    lowest, highest = [], []
    for one in trees:
        limited = rng.random() < 0.2
        lowest.append(int(rng.integers(0, one.height + 1)) if limited else 0)
        highest.append(int(rng.integers(lowest[-1], one.height + 1)) if limited else one.height)
    return Problem.of(
        columns,
        trees,
        k=int(rng.integers(1, min(4, people) + 1)),
        units=owners,
        limit=int(rng.choice([0, 0, people // 4, people])),
        measure=str(rng.choice(measures)),
        weights=np.ones(d) if rng.random() < 0.5 else rng.uniform(0.2, 3.0, d),
        lowest=tuple(lowest),
        highest=tuple(highest),
    )


def rate(problem: Problem, column: int, leaves: list[int]) -> float:
    """What a record loses in a column when these values get the label of the lowest node over all of them."""
    tree, weight = problem.hierarchies[column], float(problem.weights[column])
    for level in range(problem.lowest[column], problem.highest[column] + 1):
        labels = {tree.rows[leaf][level] for leaf in leaves}
        if len(labels) > 1:
            continue
        under = [row[0] for row in tree.rows if row[level] in labels]
        if problem.measure == "cells":
            return 0.0 if under == list(labels) else weight
        share = 1.0 if level == tree.height else (len(under) - 1) / max(1, len(tree.rows) - 1)
        return weight * share / float(problem.weights.sum())
    return np.inf


def least_loss(problem: Problem) -> float:
    """The least loss of any grouping of single records, or of whole tuples where people have several records."""
    alone = problem.spread is None and (problem.people == problem.records).all()
    elements = [
        ([item], 1 if alone else int(problem.records[item]))
        for item in range(problem.records.size)
        for _ in range(int(problem.records[item]) if alone else 1)
    ]
    full = float(problem.weights.sum()) if problem.measure == "cells" else 1.0
    best = np.inf
    # The block of the last element, which is nobody, is what is left out.
    for blocks in partitions(len(elements) + 1):
        total = 0.0
        for block in blocks:
            out = len(elements) in block
            members = [elements[one] for one in block if one < len(elements)]
            if not members:
                continue
            tuples, records = [one for own, _ in members for one in own], sum(count for _, count in members)
            people = records if alone else distinct_people(problem, tuples)
            if (people > problem.limit) if out else (people < problem.k):
                total = np.inf
                break
            columns = range(len(problem.hierarchies))
            total += records * (
                full
                if out
                else sum(rate(problem, j, [int(problem.keys[one, j]) for one in tuples]) for j in columns)
            )
        if len(blocks) > 1:
            best = min(best, total)
    return best / problem.size if problem.measure == "loss" else best


def distinct_people(problem: Problem, tuples: list[int]) -> int:
    """How many people have a record of one of these tuples."""
    found = sum(int(problem.people[one]) for one in set(tuples))
    if problem.spread is not None:
        starts = problem.spread.starts
        for person in range(starts.size - 1):
            own = problem.spread.tuples[starts[person] : starts[person + 1]].tolist()
            found += bool(set(own) & set(tuples))
    return found


def partitions(n: int) -> Iterator[list[list[int]]]:
    """All ways to part 0 … n − 1 into blocks."""
    if n == 0:
        yield []
        return
    for blocks in partitions(n - 1):
        for number, block in enumerate(blocks):
            yield [*blocks[:number], [*block, n - 1], *blocks[number + 1 :]]
        yield [*blocks, [n - 1]]
