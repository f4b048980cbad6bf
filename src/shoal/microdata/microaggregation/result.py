"""The result of ``shoal.microaggregate``: a protected frame with everything that is known of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from shoal.microdata.anonymity.result import Anonymity
from shoal.microdata.columns.attributes import Attribute
from shoal.microdata.columns.record_links import RecordLinks
from shoal.microdata.measures.before_after import Changes
from shoal.microdata.microaggregation.categories import CategoryChanges
from shoal.microdata.microaggregation.verify import ReleaseCheck
from shoal.remarks import Remark, Remarked
from shoal.report.glance import Glance
from shoal.runtime import StopReason, informative
from shoal.runtime.budget import decisive

if TYPE_CHECKING:
    from shoal.microdata.grouping.result import AttributeGrouping
    from shoal.microdata.measures.fitness import Fitness


@dataclass(frozen=True, eq=False)
class Part:
    """The columns that were microaggregated together, and how that went.

    Squared errors are those of the released values, in the scaled space of the distances. ``bound`` is ``None`` where
    no lower bound holds (values were imputed) or none was computed.
    """

    columns: tuple[str, ...]
    labels: np.ndarray
    sse: float
    sst: float
    bound: float | None
    optimal: bool
    method: str
    iterations: int
    seconds: float
    stopped_by: StopReason
    histories: tuple[tuple[str, Any], ...]

    @property
    def sizes(self) -> np.ndarray:
        """Records in each group."""
        return np.bincount(self.labels)

    @property
    def loss_percent(self) -> float:
        """Information loss, 100·SSE/SST."""
        return 100.0 * self.sse / self.sst if self.sst > 0 else 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Microaggregation(Remarked, Glance):
    """A protected frame with everything that is known of it.

    ``frame`` is of the kind that came in. ``k`` is what was asked for, ``k_release`` what the released frame has over
    ``quasi``, all that an intruder could know of somebody (named, or else guessed: ``quasi_guessed``); it is the one that
    counts. ``k_protected`` is what it has over the protected columns alone. Where columns were protected in several
    groups, ``fitness`` says what the release itself loses and discloses, and ``grouping`` how the groups were found, if
    nobody named them. ``categories`` says what categories lost where some are nominal.
    ``record_links`` say which released record stands for which original one, for ``shoal.compare``; they are internal.
    """

    frame: Any
    parts: tuple[Part, ...]
    k: int
    k_release: int
    k_protected: int
    anonymity: Anonymity
    quasi: tuple[str, ...]
    quasi_guessed: bool
    method: str
    records: int
    set_aside: int
    changes: Changes
    remarks: tuple[Remark, ...]
    settings: tuple[tuple[str, Any], ...]
    record_links: RecordLinks
    _check: ReleaseCheck
    categories: CategoryChanges | None = None
    grouping: "AttributeGrouping | None" = None
    fitness: "Fitness | None" = None

    def glance(self) -> dict[str, Any]:
        """What was protected, what holds and what it cost."""
        return {
            "records": self.records,
            "columns": self.columns,
            "k": self.k,
            "k_release": self.k_release,
            "k_protected": self.k_protected,
            "loss": self.loss,
            "bound": self.bound,
            "optimal": self.optimal,
            "method": self.method,
        }

    @cached_property
    def expected_links(self) -> "list[tuple[str, float]]":
        """Links to expect by distance, by what an intruder knows; computed when somebody asks, and then kept."""
        from shoal.microdata.microaggregation.exposure import expected_links

        return expected_links(self)

    @property
    def columns(self) -> tuple[str, ...]:
        """The protected columns."""
        return tuple(name for part in self.parts for name in part.columns)

    @property
    def labels(self) -> np.ndarray:
        """The group of each released record, before any sorting; for several attribute groups those of the first."""
        return self.parts[0].labels

    @property
    def partition(self) -> np.ndarray:
        """The same as ``labels``."""
        return self.labels

    @property
    def sse(self) -> float:
        """Squared error over all protected columns."""
        return float(sum(part.sse for part in self.parts))

    @property
    def sst(self) -> float:
        """Squared error of a single group: what 100 % loss means."""
        return float(sum(part.sst for part in self.parts))

    @property
    def loss(self) -> float:
        """Information loss in percent."""
        return 100.0 * self.sse / self.sst if self.sst > 0 else 0.0

    @property
    def bound(self) -> float | None:
        """A proved lower bound on the loss of any such grouping, in percent; ``None`` if nothing above 0 is proved."""
        if any(part.bound is None for part in self.parts):
            return None
        total = sum(part.bound or 0.0 for part in self.parts)
        return informative(100.0 * total / self.sst if self.sst > 0 else 0.0, self.loss)

    @property
    def bound_share(self) -> float | None:
        """How much of the loss is proved to be unavoidable, in percent of it; ``None`` without a bound."""
        if self.bound is None:
            return None
        return 100.0 if self.loss <= self.bound else 100.0 * self.bound / self.loss

    @property
    def optimal(self) -> bool:
        """Whether no grouping can lose less."""
        return all(part.optimal for part in self.parts)

    @property
    def stopped_by(self) -> StopReason:
        """What ended the search: the most telling reason over all parts."""
        return decisive(part.stopped_by for part in self.parts)

    def verify(self, released: Any = None) -> None:
        """Recompute sizes, values, loss and K from a frame (by default the one held here); raise if they differ."""
        self._check(self, self.frame if released is None else released)

    def released_columns(self) -> "Iterator[tuple[Attribute, np.ndarray]]":
        """Each protected column with its original values, and the released ones in the original order. Confidential."""
        data = nw.from_native(self.frame, eager_only=True)
        for attribute in self._check.attributes:
            yield attribute, self._check.released_values(data, attribute)

    def report(self) -> Any:
        """The report as a page; ``.write(path)`` writes it."""
        from shoal.microdata.microaggregation.report import DEFINITIONS, assurances, page
        from shoal.report.python_call import completed

        return completed(page(self), self, assurances(self), DEFINITIONS)
