"""Microaggregation and recoding as scikit-learn transformers; needs the extra ``sklearn``."""

from hashlib import sha256
from typing import Any

import numpy as np

from shoal.errors import InputError, needs_extra
from shoal.runtime import Budget

try:
    from joblib import effective_n_jobs  # type: ignore[import-untyped]
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:  # pragma: no cover - depends on what is installed
    raise needs_extra("shoal.sklearn", "sklearn") from None


class Microaggregator(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replaces each record by the mean of its group of at least k.

    ``fit_transform`` is the protected release: the groups are those of the data it was given, and ``transform`` of that
    same data gives the same. ``transform`` of other records gives each the mean of the nearest group, which is no
    k-anonymous release by itself. ``method`` and ``method_options`` are those of ``shoal.microaggregate``; ``iterations``
    and ``seconds`` limit the search. A fitted transformer holds the groups and their means, but not the records themselves;
    ``n_jobs=-1`` uses all cores.

    >>> import numpy as np
    >>> from shoal.sklearn import Microaggregator
    >>> Microaggregator(k=2, method="mdav").fit_transform([[1.0], [2.0], [9.0], [11.0]]).ravel().tolist()
    [1.5, 1.5, 10.0, 10.0]
    """

    def __init__(
        self,
        k: int = 5,
        *,
        method: str = "auto",
        method_options: dict[str, Any] | None = None,
        iterations: int | None = None,
        seconds: float | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.method = method
        self.method_options = method_options
        self.iterations = iterations
        self.seconds = seconds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> "Microaggregator":
        """Find the groups."""
        self._learn(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **ignored: Any) -> np.ndarray:
        """Find the groups and give every record the mean of its own."""
        table = self._learn(X)
        return self._release(table, self.labels_)

    def transform(self, X: Any) -> np.ndarray:
        """The release for the data of ``fit``; for other records the mean of the nearest group."""
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, dtype=np.float64)
        if _fingerprint(table) == self._fitted:
            return self._release(table, self.labels_)
        from scipy.spatial import cKDTree

        nearest = cKDTree(self._scaled(self.means_)).query(self._scaled(table))[1]
        return self._release(table, nearest)

    def _learn(self, X: Any) -> np.ndarray:
        from shoal.microdata.microaggregation.methods import METHODS
        from shoal.microdata.microaggregation.problem import Problem
        from shoal.microdata.microaggregation.solution import group_means
        from shoal.microdata.microaggregation.verify import verify
        from shoal.runtime import Seeds

        table: np.ndarray = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if not isinstance(self.k, int | np.integer) or self.k < 2:
            raise InputError(f"k must be a whole number of at least 2, not {self.k}")
        k = min(int(self.k), table.shape[0])
        if k < self.k:
            raise InputError(f"k is {self.k}, but there are only {table.shape[0]} records")
        problem = Problem.standardised(table, k)
        partition = METHODS[self.method].solve(
            problem,
            self.method_options,
            budget=Budget(iterations=self.iterations, seconds=self.seconds),
            seeds=Seeds(self.random_state),
            threads=effective_n_jobs(self.n_jobs),
        )
        verify(problem, partition)
        self._fitted = _fingerprint(table)
        self._centre = table.mean(axis=0)
        deviation = table.std(axis=0)
        self._spread = np.where(deviation > 0, deviation, 1.0)
        self.labels_ = partition.labels
        self.means_ = group_means(table, partition.labels)
        self.loss_percent_ = partition.loss_percent
        return table

    def _scaled(self, table: np.ndarray) -> np.ndarray:
        scaled: np.ndarray = (table - self._centre) / self._spread
        return scaled

    def _release(self, table: np.ndarray, labels: np.ndarray) -> np.ndarray:
        released: np.ndarray = self.means_[labels]
        return released


def _fingerprint(table: np.ndarray) -> str:
    """By what the data of ``fit`` are known again: a transformer that is saved must not carry confidential records."""
    plain = np.ascontiguousarray(table) + 0.0  # one zero for both signs
    return sha256(repr(plain.shape).encode() + plain.tobytes()).hexdigest()


class Recoder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Makes columns coarser until every combination of their values is shared by at least k records.

    ``fit_transform`` is the protected release, of as many records as came in. ``transform`` of other records gives each value
    its label at the levels that were found, which is no k-anonymous release by itself; only ``method="lattice"`` has such levels.
    ``hierarchies`` are those of ``shoal.recode``, by name or number of the column. A fitted transformer holds hierarchies, which
    may hold values of the data: it is internal.

    >>> from shoal.sklearn import Recoder
    >>> Recoder(k=2, hierarchies={0: "intervals(10)"}).fit_transform([[31], [38], [44], [47]]).ravel().tolist()
    ['30-39', '30-39', '40-49', '40-49']
    """

    def __init__(
        self,
        k: int = 5,
        *,
        method: str = "lattice",
        method_options: dict[str, Any] | None = None,
        hierarchies: dict[Any, Any] | None = None,
        measure: str = "loss",
        iterations: int | None = None,
        seconds: float | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.method = method
        self.method_options = method_options
        self.hierarchies = hierarchies
        self.measure = measure
        self.iterations = iterations
        self.seconds = seconds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> "Recoder":
        """Find the recoding."""
        self._learn(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **ignored: Any) -> np.ndarray:
        """Find the recoding and release the records."""
        return self._learn(X)

    def transform(self, X: Any) -> np.ndarray:
        """Every value at the level that was found."""
        check_is_fitted(self)
        frame = _named(validate_data(self, X, reset=False, dtype=None, ensure_all_finite=False))
        if self._mapping is None:
            raise InputError(
                f"records recoded by method='{self.method}' have no levels in common; "
                "method='lattice' can be applied to other records"
            )
        from shoal.microdata.recoding.api import recode

        applied = recode(frame, frame.columns, 1, apply=self._mapping)
        return _labels(applied.frame)

    def _learn(self, X: Any) -> np.ndarray:
        from shoal.microdata.recoding.api import recode

        frame = _named(validate_data(self, X, dtype=None, ensure_all_finite=False, ensure_min_samples=2))
        known = [str(name) for name in getattr(self, "feature_names_in_", range(frame.width))]
        given = {}
        for name, hierarchy in (self.hierarchies or {}).items():
            if str(name) not in known:
                raise InputError(f"there is a hierarchy of column '{name}', but no such column")
            given[str(known.index(str(name)))] = hierarchy
        found = recode(
            frame,
            frame.columns,
            self.k,
            hierarchies=given,
            method=self.method,
            options=self.method_options,
            measure=self.measure,  # type: ignore[arg-type]
            budget=Budget(iterations=self.iterations, seconds=self.seconds),
            seed=self.random_state,
            threads=effective_n_jobs(self.n_jobs),
        )
        self._mapping = found.mapping
        self.levels_ = tuple(found.levels.values())
        self.loss_ = found.loss
        self.bound_ = found.bound
        return _labels(found.frame)


def _named(table: np.ndarray) -> Any:
    """The table as a frame whose columns are named by their numbers."""
    import polars as pl

    columns = {}
    for place in range(table.shape[1]):
        values = table[:, place]
        columns[str(place)] = pl.Series(values.tolist() if values.dtype == object else values)
    return pl.DataFrame(columns)


def _labels(frame: Any) -> np.ndarray:
    released = np.empty((frame.height, frame.width), dtype=object)
    for place, column in enumerate(frame.iter_columns()):
        released[:, place] = column.to_list()
    return released
