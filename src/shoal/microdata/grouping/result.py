"""The result of ``shoal.group_attributes``: groups of columns with their score and how they were found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal.microdata.grouping.solution import Grouping
from shoal.remarks import Remark, Remarked, remarks_in_json
from shoal.report.glance import Glance
from shoal.runtime import History, informative


@dataclass(frozen=True, eq=False, repr=False)
class AttributeGrouping(Remarked, Glance):
    """Which columns to microaggregate together.

    ``il``, ``id`` and ``dld`` (information loss, interval disclosure, linkage, in percent) make up the ``score``; smaller is
    better, and no grouping scores below ``bound``. They are those of the clustering by which groupings are scored, whose
    last cluster may be smaller than k (``smallest_cluster``): what ``microaggregate`` releases is made anew, with all
    clusters of k, and has figures of its own. ``alone`` holds searches with one operator only, where asked for.
    """

    method: str
    k: int
    groups: tuple[tuple[str, ...], ...]
    solution: Grouping
    records: int
    left_out: int
    smallest_cluster: int
    remarks: tuple[Remark, ...] = ()
    settings: tuple[tuple[str, Any], ...] = ()
    alone: Mapping[str, Grouping] = field(default_factory=dict)

    def glance(self) -> dict[str, Any]:
        """The groups and their score."""
        return {
            "groups": tuple("+".join(group) for group in self.groups),
            "k": self.k,
            "score": self.score,
            "bound": self.bound,
            "optimal": self.optimal,
            "records": self.records,
            "method": self.method,
        }

    @property
    def score(self) -> float:
        """w·IL + (1 − w)·(ID + DLD)/2; w is ½ unless somebody weighs loss and risk otherwise."""
        return self.solution.score.value

    @property
    def il(self) -> float:
        """Information loss in percent."""
        return self.solution.score.il

    @property
    def id(self) -> float:
        """Interval disclosure in percent."""
        return self.solution.score.id

    @property
    def dld(self) -> float:
        """Distance-based linkage in percent; a tie is no link."""
        return self.solution.score.dld

    @property
    def bound(self) -> float | None:
        """What no grouping can score below; ``None`` if nothing above 0 is proved."""
        return None if self.solution.bound is None else informative(float(self.solution.bound), self.score)

    @property
    def optimal(self) -> bool:
        """Whether no grouping has a better score; proved."""
        return self.solution.optimal

    @property
    def history(self) -> History:
        """The best score over the search."""
        return self.solution.history

    def to_dict(self) -> dict[str, Any]:
        """Every figure, ready for JSON."""
        found = self.solution
        return {
            "method": self.method,
            "k": self.k,
            "groups": [list(group) for group in self.groups],
            "score": self.score,
            "il": self.il,
            "id": self.id,
            "dld": self.dld,
            "loss_weight": self.solution.score.loss_weight,
            "bound": self.bound,
            "optimal": self.optimal,
            "generations": found.work if found.course.best else 0,
            "iterations": found.work,
            "evaluations": found.evaluations,
            "clusterings": found.clustered,
            "clusterings_saved": found.saved,
            "records": self.records,
            "records_compared": self.records if found.sampled is None else found.sampled,
            "left_out": self.left_out,
            "smallest_cluster": self.smallest_cluster,
            "stopped_by": str(found.stopped_by),
            "seconds": found.seconds,
            "runs": [
                {"score": run.score.value, "groups": len(run.partition), "evaluations": run.evaluations}
                for run in found.runs
            ],
            **remarks_in_json(self.remarks),
            **({"alone": {name: own.value for name, own in self.alone.items()}} if self.alone else {}),
        }

    def report(self) -> Any:
        """The report as a page; ``.write(path)`` writes it."""
        from shoal.microdata.grouping.report import DEFINITIONS, assurances, page
        from shoal.report.python_call import completed

        return completed(page(self), self, assurances(self), DEFINITIONS)
