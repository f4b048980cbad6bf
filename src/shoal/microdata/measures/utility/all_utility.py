"""What a release is still good for, by every measure that is asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import comb
from typing import Any

from shoal.microdata.measures.mixed import MixedTables
from shoal.microdata.measures.time_limited import TimeLimit
from shoal.microdata.measures.utility.classification import COLUMNS, Classification, classify
from shoal.microdata.measures.utility.coefficients import TERMS, Coefficients, coefficients
from shoal.microdata.measures.utility.eigenvalues import Eigenvalues, eigenvalues
from shoal.microdata.measures.utility.marginals import TABLES, Marginals, marginals
from shoal.microdata.measures.utility.propensity import Distinguished, Made, distinguish
from shoal.remarks import Remark, note
from shoal.runtime import Budget, Seeds

UTILITY = ("pmse", "marginals", "coefficients", "eigenvalues", "classification")
_LISTED = 10
_REGRESSIONS = "intervals of coefficients"


@dataclass(frozen=True)
class Utility:
    """What was measured; ``None`` (or nothing) for what was not asked for, or cannot be told of these columns."""

    pmse: Distinguished | None = None
    marginals: tuple[Marginals, ...] = ()
    coefficients: Coefficients | None = None
    eigenvalues: Eigenvalues | None = None
    classification: Classification | None = None
    left_out: tuple[str, ...] = ()

    def remarks(self, records: int) -> Iterator[Remark]:
        """What was left out, and what is that of a sample."""
        for text in self.left_out:
            yield note("left-out-measure", text)
        samples = {
            "pMSE": self.pmse,
            **{f"marginals of {_NUMBERS[one.ways]}": one for one in self.marginals},
            _REGRESSIONS: self.coefficients,
            "classification": self.classification,
        }
        sizes: dict[int, list[str]] = {}
        for name, one in samples.items():
            if one is not None and one.records < records:
                sizes.setdefault(one.records, []).append(name)
        for size, names in sizes.items():
            yield note("sample", f"{', '.join(names)}: that of a sample of {size:,} records")
        if self.pmse is not None:
            for text in self.pmse.left_out:
                yield note("left-out-measure", f"pMSE is not computed with {text}")
            if unsettled := [one.model for one in self.pmse.models if not one.converged]:
                yield note(
                    "unsettled-model",
                    f"the model of pMSE with {' and '.join(unsettled)} did not settle: it tells some records apart without error",
                )
        if self.coefficients is not None and self.coefficients.dropped:
            yield note(
                "dropped-column",
                "dropped from the regressions, since other columns say the same: "
                + ", ".join(self.coefficients.dropped),
                *self.coefficients.dropped,
            )

    def to_dict(self) -> dict[str, Any]:
        """Every figure, ready for JSON."""
        return {
            "pmse": None if self.pmse is None else _of_pmse(self.pmse),
            "marginals": [_of_marginals(one) for one in self.marginals],
            "coefficients": None if self.coefficients is None else _of_coefficients(self.coefficients),
            "eigenvalues": None if self.eigenvalues is None else asdict(self.eigenvalues),
            "classification": None if self.classification is None else _of_classes(self.classification),
        }


_NUMBERS = {1: "one column", 2: "two columns", 3: "three columns", 4: "four columns"}


def measured_utility(
    tables: MixedTables,
    names: Sequence[str],
    *,
    made: Made,
    ways: int,
    seeds: Seeds,
    left: TimeLimit | None = None,
) -> Utility:
    """Every measure named, as long as there is time ``left``.

    >>> import numpy as np
    >>> table = MixedTables.of_numbers(np.eye(3), np.eye(3))
    >>> measured_utility(table, ["eigenvalues"], made="paired", ways=2, seeds=Seeds(0)).eigenvalues.mean_change
    0.0
    """
    left = left or TimeLimit(Budget().start())
    columns = len(tables.columns)
    counted: list[Marginals] = []
    left_out = []
    for size in range(1, min(ways, columns) + 1) if "marginals" in names else ():
        title = f"marginals of {_NUMBERS[size]}"
        one = left.measured(title, partial(marginals, tables, size, seeds=seeds))
        if title in left.missed:
            continue
        if one is not None:
            counted.append(one)
        else:
            left_out.append(
                f"tables of {size} columns are not counted: there would be {comb(columns, size):,}, more than {TABLES:,}"
            )
    told_apart = explained = changed = classified = None
    if "pmse" in names:
        told_apart = left.measured("pMSE", lambda: distinguish(tables, made, seeds=seeds))
    if "coefficients" in names:
        explained = left.measured(_REGRESSIONS, lambda: coefficients(tables, seeds=seeds))
    if "eigenvalues" in names:
        changed = left.measured("eigenvalues", lambda: eigenvalues(tables.before, tables.after))
    if "classification" in names:
        classified = left.measured("classification", lambda: classify(tables, seeds=seeds))
    if (
        "coefficients" in names
        and _REGRESSIONS not in left.missed
        and explained is None
        and tables.names
        and columns > 1
    ):
        left_out.append(
            f"no regressions: they need more records than columns, columns that vary, and at most {TERMS} terms"
        )
    return Utility(told_apart, tuple(counted), explained, changed, classified, tuple(left_out))


def _of_pmse(distinguished: Distinguished) -> dict[str, Any]:
    return {
        "made": distinguished.made,
        "records": distinguished.records,
        "models": [asdict(model) for model in distinguished.models],
        "tree": {"pmse": distinguished.tree_pmse, "auc": distinguished.tree_auc},
        "by_column": dict(distinguished.by_column),
        "left_out": list(distinguished.left_out),
    }


def _of_marginals(marginals: Marginals) -> dict[str, Any]:
    return {
        "ways": marginals.ways,
        "records": marginals.records,
        "tables": len(marginals.every),
        "mean_total_variation": marginals.mean,
        "mean_hellinger": marginals.mean_hellinger,
        "worst": [{**asdict(table), "columns": list(table.columns)} for table in marginals.every[:_LISTED]],
    }


def _of_coefficients(coefficients: Coefficients) -> dict[str, Any]:
    worst = coefficients.worst
    return {
        "records": coefficients.records,
        "mean": coefficients.mean,
        "minimum": worst.minimum,
        "worst": {"response": worst.response, "column": worst.worst},
        "dropped": list(coefficients.dropped),
        "regressions": [asdict(regression) for regression in coefficients.regressions],
    }


def _of_classes(classification: Classification) -> dict[str, Any]:
    return {
        "records": classification.records,
        "mean_lost": classification.mean_lost,
        "predictions": [{**asdict(one), "lost": one.lost} for one in classification.predictions[:COLUMNS]],
    }
