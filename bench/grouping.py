"""What reuse is worth when attribute groups are searched for, and how many evaluations D-GOMM spends.

The same chromosomes, in the same order, are scored twice: by the search as it is, and from scratch with the same kernels
but nothing kept (every group clustered anew, every record compared until one is nearer).
"""

import os
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl

from shoal.microdata.grouping.api import group_attributes
from shoal.microdata.grouping.evaluator import Evaluator
from shoal.microdata.grouping.genetic import DGommOptions, GommOptions, search
from shoal.microdata.grouping.problem import GroupingProblem
from shoal.runtime import Budget, Seeds

# A whole run may take as long as scoring so many groupings of all records (measured, and half as much again).
MOST_LARGE = 10.0


class Recorder(Evaluator):
    """Remembers what it was asked to score."""

    def __init__(self, problem):
        super().__init__(problem)
        self.batches = []

    def scores(self, partitions):
        self.batches.append(list(partitions))
        return super().scores(partitions)


def table():
    folder = os.environ.get("SHOAL_DATA")
    if folder and (Path(folder) / "casc/census.csv").exists():
        return np.genfromtxt(Path(folder) / "casc/census.csv", delimiter=",", skip_header=1)[:, :12], "Census"
    generator = np.random.default_rng(0)
    made = np.exp(
        generator.normal(size=(1080, 3)) @ generator.normal(size=(3, 12)) / 2
        + generator.normal(size=(1080, 12)) / 3
    )
    return made, "generated data"


def searched(evaluator, options):
    return search(evaluator, options, Budget(iterations=100).start(), Seeds(0))


def from_scratch(problem, batches):
    """Score every chromosome with the same kernels and nothing kept from one to the next."""
    evaluator = Evaluator(problem)
    for batch in batches:
        for partition in batch:
            evaluator._slots.clear()
            evaluator._known.clear()
            evaluator._killers[:] = np.arange(problem.m)
            evaluator.scores([partition])
    return evaluator


def large(n=20_000, columns=40):
    """A whole GOMM run on many records and attributes, beside scoring two groups of them once on all records."""
    generator = np.random.default_rng(0)
    values = np.exp(generator.normal(size=(n, 4))) @ generator.normal(size=(4, columns))
    values += 0.3 * generator.normal(size=values.shape)
    names = [f"c{column}" for column in range(columns)]
    frame = pl.DataFrame(values, schema=names)
    halves = [names[: columns // 2], names[columns // 2 :]]
    group_attributes(frame.head(500), k=25, groups=halves)
    began = process_time()
    group_attributes(frame, k=25, groups=halves, threads=1)
    once = process_time() - began
    began = process_time()
    found = group_attributes(frame, k=25, method="gomm", threads=1)
    ratio = (process_time() - began) / once
    done = found.to_dict()["generations"]
    return [
        {
            "name": f"a GOMM run on {n:,} × {columns}, CPU / scoring two groups once",
            "measured": ratio,
            "limit": MOST_LARGE,
            "unit": "ratio",
            "ok": ratio <= MOST_LARGE,
        },
        {
            "name": f"a GOMM run on {n:,} × {columns}, generations of 100",
            "measured": done,
            "limit": 100,
            "unit": "at least",
            "ok": done >= 100,
        },
    ]


def run():
    values, name = table()
    problem = GroupingProblem.of(values, 25)
    searched(Evaluator(problem), GommOptions(population=5))
    recorder = Recorder(problem)
    began = process_time()
    found = searched(recorder, GommOptions())
    reusing = process_time() - began
    # A tenth of the chromosomes, evenly spread over the run, tells what all of them would take.
    sample = [batch[::10] for batch in recorder.batches if len(batch) > 1]
    began = process_time()
    scratch = from_scratch(problem, sample)
    took = process_time() - began
    factor = sum(len(b) for b in recorder.batches) / sum(len(b) for b in sample)
    dynamic = searched(Evaluator(problem), DGommOptions())
    return [
        *large(),
        {
            "name": f"a GOMM run on {name}, k = 25, against scoring from scratch",
            "measured": reusing / (factor * took),
            "limit": 0.2,
            "unit": "of the time",
            "ok": reusing <= 0.2 * factor * took,
        },
        {
            "name": "clusterings made of those asked for",
            "measured": found.clustered / (found.clustered + found.saved),
            "limit": 0.2,
            "unit": "share",
            "ok": found.clustered <= 0.2 * (found.clustered + found.saved)
            and scratch.clustered == scratch.asked,
        },
        {
            "name": "evaluations of D-GOMM against GOMM",
            "measured": dynamic.evaluations / found.evaluations,
            "limit": 1.0,
            "unit": "share",
            "ok": dynamic.evaluations < found.evaluations,
        },
    ]
