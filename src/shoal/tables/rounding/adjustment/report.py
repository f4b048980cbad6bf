"""How an adjusted table is told; its report is for internal use, since it speaks of the true figures."""

from typing import TYPE_CHECKING, Any

from shoal.operation import Rows
from shoal.report.definitions import in_words
from shoal.report.page import Page
from shoal.report.provenance import Assurances
from shoal.tables.reports.gap import gap_in_words
from shoal.tables.rounding.adjustment.definitions import ADJUSTMENT
from shoal.tables.rounding.assurances import assured, reached_in_words, with_attacker
from shoal.tables.rounding.controlled_rounding.report import glimpse as glimpse
from shoal.tables.rounding.pages import changed_page

if TYPE_CHECKING:
    from shoal.tables.rounding.adjustment.api import AdjustedTable
    from shoal.tables.rounding.changed_operation import Changed

#: What its figures mean.
DEFINITIONS = ADJUSTMENT
_FIRST = (
    "sensitive",
    "changed",
    "mean_change",
    "largest_change",
    "mean_change_percent",
    "cost",
    "bound",
    "gap_percent",
    "safe",
)
_LAST = ("doubtful_if_bounded",)


def figures(result: "Changed", settings: object) -> dict[str, Any]:
    """The figures of the adjustment."""
    return result.figures


def facts(result: "Changed", settings: object) -> list[tuple[str, Any]]:
    """What a person wants to know first."""
    return [*_facts(result.changed), *gap_in_words(result.table.base)]


def _facts(adjusted: "AdjustedTable") -> list[tuple[str, Any]]:
    known = adjusted.to_dict()
    return [
        ("method", known["method"]),
        *with_attacker(in_words(ADJUSTMENT, known, _FIRST), adjusted),
        *([("proved optimal", "yes")] if known["optimal"] else []),
        *reached_in_words(adjusted.audit),
        *in_words(ADJUSTMENT, known, _LAST),
        ("protected against", adjusted.attacker),
        ("randomness", "a secret" if adjusted.for_release else "a seed: not for release"),
    ]


def tables(result: "Changed", settings: object) -> list[Rows]:
    """None: the intervals are in their file."""
    return []


def page(result: "Changed", settings: object) -> Page:
    """The report."""
    return adjustment_page(result.changed)


def adjustment_page(adjusted: "AdjustedTable") -> Page:
    """What was moved, how near to the least possible it is, and what can be computed from it."""
    return changed_page(
        "Controlled tabular adjustment",
        adjusted,
        _facts(adjusted),
        [
            ("method", adjusted.method),
            ("weights", adjusted.weights),
            ("stopped by", str(adjusted.solution.stopped_by)),
            ("work", adjusted.solution.work),
        ],
        "fractions, and linear programmes that share no code with the search",
    )


def of_adjustment(adjusted: "AdjustedTable") -> Assurances:
    """What it says of singling out, linking and inference."""
    return assured(adjusted, "adjusted")


def assurances(result: "Changed", settings: object = None) -> Assurances:
    """The same of a run."""
    return of_adjustment(result.changed)
