"""The result of ``shoal.perturb``: a perturbed frame, what is promised of it, and what must stay inside."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal.microdata.columns.record_links import RecordLinks
from shoal.microdata.perturbation.promises.promise import Outcome, Promise
from shoal.microdata.perturbation.release import ReleaseCheck
from shoal.remarks import Remark, Remarked
from shoal.report.glance import Glance
from shoal.runtime.secrets import Secret


@dataclass(frozen=True, eq=False, repr=False)
class Perturbed(Glance, Remarked):
    """A perturbed frame with everything that is known of it.

    ``frame`` is of the kind that came in. ``changed`` says of each column how many values differ now. ``promises`` hold, each
    with what was measured (``outcomes``). ``for_release`` is false where a seed took the place of a secret. ``secret``,
    ``details`` (matrices) and ``record_links`` are internal: they undo a part of the protection.
    """

    frame: Any
    method: str
    columns: tuple[str, ...]
    records: int
    changed: Mapping[str, int]
    promises: tuple[Promise, ...]
    outcomes: tuple[Outcome, ...]
    facts: tuple[tuple[str, Any], ...]
    remarks: tuple[Remark, ...]
    record_links: RecordLinks
    strata: tuple[tuple[str | None, ...], ...]
    secret: Secret = field(repr=False)
    details: Any
    _check: ReleaseCheck

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """What was chosen in the call that made it, by the names of its parameters."""
        return () if self.made_by is None else self.made_by.settings

    @property
    def for_release(self) -> bool:
        """Whether the randomness came from a secret that nobody can guess."""
        return not self.secret.of_study

    def glance(self) -> dict[str, Any]:
        """What was changed and what holds."""
        return {
            "method": self.method,
            "records": self.records,
            "columns": self.columns,
            "changed": dict(self.changed),
            "promises": len(self.promises),
            "for_release": self.for_release,
        }

    def verify(self, released: Any = None) -> None:
        """Check every promise anew on a frame (by default the one held here); raise if one is broken."""
        self._check(self.frame if released is None else released)

    def report(self) -> Any:
        """The report as a page; ``.write(path)`` writes it."""
        from shoal.microdata.perturbation.report import assurances, page
        from shoal.report.python_call import completed

        return completed(page(self, None), self, assurances(self))
