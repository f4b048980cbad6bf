"""The result of a recoding of records in many places: the released frame stays where the records are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shoal.microdata.anonymity.result import Anonymity
from shoal.microdata.columns.hierarchies.proposal import Proposal
from shoal.microdata.recoding.mapping import AppliedMapping
from shoal.remarks import Remark, Remarked
from shoal.report.glance import Glance
from shoal.runtime import StopReason
from shoal.sources.staged import written_whole

if TYPE_CHECKING:
    from shoal.sources.staged import Staged


@dataclass(frozen=True, eq=False, repr=False)
class LargeRecoded(Remarked, Glance):
    """A recoded frame with all that is known of it; the same fields as that of ``shoal.recode`` with whole columns.

    ``suppressed_people`` lose a record; ``limit`` of them may. No value is blanked, and no model measured.
    """

    frame: Any
    quasi: tuple[str, ...]
    k: int
    k_release: int
    anonymity: Anonymity
    engine: str
    records: int
    suppressed_records: int
    suppressed_people: int
    limit: int
    levels: Mapping[str, int]
    proposals: tuple[Proposal, ...]
    measure: str
    loss: float
    bound: float | None
    optimal: bool
    losses: Mapping[str, float]
    mapping: AppliedMapping
    tuples: int
    nodes: int
    stopped_by: StopReason
    seconds: float
    remarks: tuple[Remark, ...]
    _check: Callable[[Any], None] = field(repr=False)
    _stage: "Callable[[str, bool], Staged]" = field(repr=False)
    method: str = "lattice"

    def glance(self) -> dict[str, Any]:
        """What was recoded, what holds and what it cost."""
        return {
            "records": self.records,
            "quasi": self.quasi,
            "k": self.k,
            "k_release": self.k_release,
            "levels": dict(self.levels),
            "suppressed_records": self.suppressed_records,
            "loss": self.loss,
            "optimal": self.optimal,
            "engine": self.engine,
        }

    @property
    def recoding(self) -> Mapping[str, int]:
        """The same as ``levels``."""
        return self.levels

    @property
    def chosen(self) -> str:
        """The method that made it."""
        return self.method

    @property
    def null(self) -> str:
        """A missing value is a value of its own."""
        return self.anonymity.null

    @property
    def k_strict(self) -> int:
        """The same as ``k_release``: there are no blanks."""
        return self.k_release

    @property
    def suppressed_cells(self) -> dict[str, int]:
        """Of each key no value is blanked where whole columns are recoded."""
        return dict.fromkeys(self.quasi, 0)

    @property
    def blank_records(self) -> int:
        """All released records where every key is released at its highest level, none elsewhere."""
        told = [own for own in self.mapping.columns if own.hierarchy.height > 0]
        return self.records if told and all(own.level == own.hierarchy.height for own in told) else 0

    @property
    def models(self) -> tuple[()]:
        """No model of privacy is measured on a cluster."""
        return ()

    def report(self) -> Any:
        """The report as a page; ``.write(path)`` writes it."""
        from shoal.microdata.recoding.large_report import DEFINITIONS, assurances, page
        from shoal.report.python_call import completed

        return completed(page(self), self, assurances(self), DEFINITIONS)

    def close(self) -> None:
        """Nothing is kept for the frame: it is computed again when it is used."""

    def verify(self, released: Any = None) -> None:
        """Count the classes of a frame (by default the one held here) again; raise if they differ from what is claimed."""
        self._check(self.frame if released is None else released)

    def stage(self, place: str, force: bool = False) -> "Staged":
        """Write the records into a folder under another name, read them back and check them; ``put`` gives it its place."""
        return self._stage(place, force)

    def write(self, place: str, *, force: bool = False) -> None:
        """Write the records into a folder, whole or not at all, checked after they were read back."""
        written_whole(self.stage(place, force))
