"""What can be learnt from a release: a tree grown on released records, tried on original records of other people.

Each column in turn is what is to be predicted from the others: whether a number is above the median of the original, or a
category the most frequent one. Beside it stands the same with trees grown on the original.
"""

from dataclasses import dataclass

import numpy as np

from shoal.microdata.measures.mixed import MixedTables
from shoal.microdata.measures.utility.auc import area
from shoal.microdata.measures.utility.tree import FOLDS, Binned, binned, folds_of, grown
from shoal.microdata.measures.utility.tree_kernels import read
from shoal.runtime import Seeds

#: Of larger files a sample is looked at; of more columns the first are predicted.
RECORDS = 5000
COLUMNS = 30


@dataclass(frozen=True)
class Prediction:
    """AUC of predicting one column: trained on the original, and on the release."""

    column: str
    original: float
    release: float

    @property
    def lost(self) -> float:
        """By how much the release is worse."""
        return self.original - self.release


@dataclass(frozen=True)
class Classification:
    """All predictions, the one that lost most first."""

    records: int
    predictions: tuple[Prediction, ...]

    @property
    def mean_lost(self) -> float:
        """The mean loss of AUC."""
        return float(np.mean([prediction.lost for prediction in self.predictions]))


def classify(
    tables: MixedTables, *, seeds: Seeds, records: int = RECORDS, columns: int = COLUMNS
) -> Classification | None:
    """Predict every column that is not the same for nearly all; ``None`` if none can be.

    >>> table = np.random.default_rng(0).normal(size=(200, 1)) + np.zeros((1, 2))
    >>> found = classify(MixedTables.of_numbers(table, table), seeds=Seeds(0))
    >>> found.predictions[0].lost, round(found.predictions[0].release, 1)
    (0.0, 1.0)
    """
    looked_at = tables.sample(records, seeds, "classification")
    if len(looked_at.columns) < 2:
        return None
    everything = binned(looked_at)
    fold = folds_of(looked_at.people_or_records(), seeds.child("classification"))
    found = []
    for place, name in enumerate(looked_at.columns[:columns]):
        outcome = _outcome(looked_at, place)
        if not 0 < int(outcome[: looked_at.records].sum()) < looked_at.records:
            continue
        scores = _scores(everything.without(place), outcome, fold)
        actual = outcome[: looked_at.records]
        found.append(Prediction(name, area(scores[0], actual), area(scores[1], actual)))
    if not found:
        return None
    return Classification(looked_at.records, tuple(sorted(found, key=lambda prediction: -prediction.lost)))


def _outcome(tables: MixedTables, column: int) -> np.ndarray:
    """What is to be predicted, for the original records and below them the released ones."""
    numbers = tables.before.shape[1]
    if column < numbers:
        middle = np.quantile(tables.before[:, column], 0.5, method="lower")
        both = np.concatenate([tables.before[:, column], tables.after[:, column]])
        return np.asarray(both > middle)
    pair = tables.categories[column - numbers]
    codes, counts = np.unique(pair.aligned, return_counts=True)
    return np.concatenate([pair.aligned, pair.after]) == codes[counts.argmax()]


def _scores(columns: Binned, outcome: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Predictions for the original records, by trees grown on the original and on the release of other people."""
    half = fold.size
    scores = np.full((2, half), 0.5)
    for number in range(FOLDS):
        inside, outside = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        if not inside.size or not outside.size:
            continue
        for side in (0, 1):
            tree = grown(columns, outcome, outside + side * half)
            scores[side, inside] = read(tree, columns.bins, inside)
    return scores
