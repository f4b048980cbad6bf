"""The result of a microaggregation of records in many places: the released frame stays where the records are."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shoal.microdata.anonymity.result import Anonymity
from shoal.microdata.measures.before_after import Changes
from shoal.remarks import Remark, Remarked
from shoal.report.glance import Glance
from shoal.runtime import StopReason
from shoal.sources.staged import written_whole

if TYPE_CHECKING:
    from shoal.sources.staged import Staged


@dataclass(frozen=True, eq=False, repr=False)
class LargeMicroaggregation(Remarked, Glance):
    """A protected frame with all that is known of it; the same fields as that of ``shoal.microaggregate``.

    ``sizes`` says how many groups have how many records. There is no list of groups by record and no bound: nobody holds
    all records at once. ``leaves`` is in how many places the records were grouped, of at most twice ``leaf`` records each,
    ``shifted_leaves`` in how many those groups were improved; ``unchecked`` names what the check after writing cannot tell
    from the release.
    """

    frame: Any
    columns: tuple[str, ...]
    k: int
    k_release: int
    k_protected: int
    anonymity: Anonymity
    quasi: tuple[str, ...]
    quasi_guessed: bool
    engine: str
    method: str
    records: int
    set_aside: int
    sizes: dict[int, int]
    sse: float
    sst: float
    leaves: int
    shifted_leaves: int
    leaf: int
    largest_leaf: int
    rounds: int
    seconds: float
    changes: Changes
    remarks: tuple[Remark, ...]
    settings: tuple[tuple[str, Any], ...]
    unchecked: tuple[str, ...]
    _check: Callable[[Any], None] = field(repr=False)
    _stage: "Callable[[LargeMicroaggregation, str, bool], Staged]" = field(repr=False)
    _close: Callable[[], None] = field(default=lambda: None, repr=False)

    def glance(self) -> dict[str, Any]:
        """What was protected, what holds and what it cost."""
        return {
            "records": self.records,
            "columns": self.columns,
            "k": self.k,
            "k_release": self.k_release,
            "k_protected": self.k_protected,
            "loss": self.loss,
            "engine": self.engine,
            "leaves": self.leaves,
        }

    @property
    def clusters(self) -> int:
        """Number of groups."""
        return sum(self.sizes.values())

    @property
    def loss(self) -> float:
        """Information loss in percent."""
        return 100.0 * self.sse / self.sst if self.sst > 0 else 0.0

    @property
    def bound(self) -> None:
        """No lower bound is computed where nobody holds all records."""
        return

    @property
    def optimal(self) -> bool:
        """Never proved here."""
        return False

    @property
    def stopped_by(self) -> StopReason:
        """Every leaf does the same number of rounds."""
        return StopReason.ITERATIONS

    def report(self) -> Any:
        """The report as a page; ``.write(path)`` writes it."""
        from shoal.microdata.microaggregation.leaves.report import DEFINITIONS, assurances, page
        from shoal.report.python_call import completed

        return completed(page(self), self, assurances(self), DEFINITIONS)

    def verify(self, released: Any = None) -> None:
        """Count records, K, means and what was kept again from a frame (by default the one held here); raise if they differ."""
        self._check(self.frame if released is None else released)

    def stage(self, place: str, force: bool = False) -> "Staged":
        """Write the records into a folder under another name, read them back and check them; ``put`` gives it its place."""
        return self._stage(self, place, force)

    def write(self, place: str, *, force: bool = False) -> None:
        """Write the records into a folder, whole or not at all, checked after they were read back."""
        written_whole(self.stage(place, force))

    def close(self) -> None:
        """Let go of what is kept on disk for the frame: write before, for then it is gone, or on a cluster computed anew."""
        self._close()
