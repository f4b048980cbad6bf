"""The result of ``shoal.recode``: a recoded frame with everything that is known of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shoal.microdata.anonymity.result import Anonymity
from shoal.microdata.columns.hierarchies.proposal import Proposal
from shoal.microdata.columns.record_links import RecordLinks
from shoal.microdata.models.outcome import ModelOutcome
from shoal.microdata.recoding.margins import Margin
from shoal.microdata.recoding.problem import Measure
from shoal.microdata.recoding.release_check import ReleaseCheck
from shoal.microdata.recoding.solution import Scope
from shoal.remarks import Remark, Remarked
from shoal.report.glance import Glance
from shoal.runtime import StopReason
from shoal.runtime.budget import decisive
from shoal.runtime.secrets import Secret

if TYPE_CHECKING:
    from shoal.microdata.recoding.averages import Averages
    from shoal.microdata.recoding.explanation import Explanation
    from shoal.microdata.recoding.mapping import AppliedMapping
    from shoal.microdata.recoding.strata import Part


@dataclass(frozen=True)
class Homogeneous:
    """Classes that share one value of a column: who is in such a class has no secret there, whatever k is."""

    column: str
    classes: int
    people: int


@dataclass(frozen=True, eq=False, repr=False)
class Recoded(Remarked, Glance):
    """A recoded frame with everything that is known of it.

    ``frame`` is of the kind that came in. ``levels`` says at which level each key is released, ``None`` where records differ
    by more than blanks, which ``suppressed_cells`` counts; ``blank_records`` are released with every key blank;
    ``blank_people`` are units of whom no record shows a key, who count against the ``limit`` with ``suppressed_people``, and
    ``keyless_records`` came without any key.
    ``k_release`` is what the released frame has over the keys as ``null`` says, ``k_strict`` what it has where a blank is a value
    of its own, ``k_households`` how many households there are at least of the same composition. ``loss`` and ``bound`` are in the
    ``measure`` that was minimised, ``losses`` by all measures; ``averages`` tells what became of numbers. ``method`` is the one
    asked for, ``chosen`` what it came to. ``mapping`` (where one recoding holds for all) and ``record_links`` are internal, and
    so is ``secret``, from which it was drawn which of several records with the same keys loses a value.
    """

    frame: Any
    quasi: tuple[str, ...]
    k: int
    k_release: int
    k_strict: int
    null: str
    anonymity: Anonymity
    proposals: tuple[Proposal, ...]
    levels: Mapping[str, int | None]
    method: str
    chosen: str
    measure: Measure
    loss: float
    bound: float | None
    optimal: bool
    losses: Mapping[str, float]
    parts: "tuple[Part, ...]"
    records: int
    suppressed_records: int
    suppressed_people: int
    limit: int
    suppressed_cells: Mapping[str, int]
    blank_records: int
    blank_people: int
    keyless_records: int
    models: tuple[ModelOutcome, ...]
    homogeneous: tuple[Homogeneous, ...]
    k_households: int | None
    averages: "Averages | None"
    margins: Mapping[str, tuple[Margin, ...]]
    remarks: tuple[Remark, ...]
    record_links: RecordLinks
    secret: Secret = field(repr=False)
    mapping: "AppliedMapping | None"
    explanation: "Explanation | None"
    _check: ReleaseCheck

    def glance(self) -> dict[str, Any]:
        """What was recoded, what holds and what it cost."""
        return {
            "records": self.records,
            "quasi": self.quasi,
            "k": self.k,
            "k_release": self.k_release,
            **({} if self.null == "own" else {"k_strict": self.k_strict, "null": self.null}),
            "loss": self.loss,
            "bound": self.bound,
            "optimal": self.optimal,
            "suppressed_records": self.suppressed_records,
            "suppressed_cells": sum(self.suppressed_cells.values()),
            "method": self.chosen,
        }

    @property
    def recoding(self) -> Mapping[str, int | None]:
        """The same as ``levels``."""
        return self.levels

    @property
    def settings(self) -> tuple[tuple[str, Any], ...]:
        """What was chosen in the call that made it, by the names of its parameters."""
        return () if self.made_by is None else self.made_by.settings

    @property
    def stopped_by(self) -> StopReason:
        """What ended the search: the most telling reason over all strata."""
        return decisive(part.solution.stopped_by for part in self.parts)

    @property
    def scope(self) -> Scope:
        """Of which recodings the bound holds: of whole columns, of blanks, or of single records."""
        return self.parts[0].solution.scope

    @property
    def drawn(self) -> bool:
        """Whether it was drawn from the secret which of several records with the same keys loses a value."""
        return any(part.solution.parted for part in self.parts)

    @property
    def seconds(self) -> float:
        """How long the search took."""
        return float(sum(part.solution.seconds for part in self.parts))

    @property
    def nodes(self) -> int:
        """How much was looked at: boxes of levels, or iterations."""
        return int(sum(part.solution.work for part in self.parts))

    def verify(self, released: Any = None) -> None:
        """Recompute classes, models, loss and limit from a frame (by default the one held here); raise if they differ."""
        self._check(self, self.frame if released is None else released)

    def report(self) -> Any:
        """The report as a page; ``.write(path)`` writes it."""
        from shoal.microdata.recoding.report import DEFINITIONS, assurances, page
        from shoal.report.python_call import completed

        return completed(page(self), self, assurances(self), DEFINITIONS)
