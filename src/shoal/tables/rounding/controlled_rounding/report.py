"""How a rounded table is told; its report is for internal use, since it speaks of the true figures."""

from typing import TYPE_CHECKING, Any

from shoal.operation import Rows
from shoal.report.definitions import in_words
from shoal.report.page import Page
from shoal.report.provenance import Assurances
from shoal.tables.reports.gap import gap_in_words
from shoal.tables.rounding.assurances import assured, reached_in_words, with_attacker
from shoal.tables.rounding.controlled_rounding.definitions import ROUNDING
from shoal.tables.rounding.pages import changed_page

if TYPE_CHECKING:
    from shoal.runtime import Progress
    from shoal.tables.rounding.changed_operation import Changed
    from shoal.tables.rounding.controlled_rounding.api import RoundedTable

#: What its figures mean.
DEFINITIONS = ROUNDING
_FIRST = (
    "base",
    "steps",
    "sensitive",
    "changed",
    "mean_change",
    "largest_change",
    "cost",
    "bound",
    "gap_percent",
    "safe",
)


def glimpse(progress: "Progress") -> str:
    """How far the search is."""
    value = "" if progress.value is None else f"distance {progress.value:,.6g}"
    bound = "" if progress.bound is None else f"at least {progress.bound:,.6g}"
    return ", ".join(part for part in (value, bound) if part)


def figures(result: "Changed", settings: object) -> dict[str, Any]:
    """The figures of the rounding."""
    return result.figures


def facts(result: "Changed", settings: object) -> list[tuple[str, Any]]:
    """What a person wants to know first."""
    return [*_facts(result.changed), *gap_in_words(result.table.base)]


def _facts(rounded: "RoundedTable") -> list[tuple[str, Any]]:
    known = rounded.to_dict()
    return [
        *with_attacker(in_words(ROUNDING, known, _FIRST), rounded),
        *([("proved optimal", "yes")] if known["optimal"] else []),
        *reached_in_words(rounded.audit),
        ("protected against", rounded.attacker),
        ("randomness", "a secret" if rounded.for_release else "a seed: not for release"),
    ]


def tables(result: "Changed", settings: object) -> list[Rows]:
    """None: the intervals are in their file."""
    return []


def page(result: "Changed", settings: object) -> Page:
    """The report."""
    return rounding_page(result.changed)


def rounding_page(rounded: "RoundedTable") -> Page:
    """What was rounded, how near to the best possible it is, and what can be computed from it."""
    return changed_page(
        "Controlled rounding",
        rounded,
        _facts(rounded),
        [
            ("method", rounded.method),
            ("goal", rounded.objective),
            ("stopped by", str(rounded.solution.stopped_by)),
            ("work", rounded.solution.work),
        ],
        "fractions, and linear programmes that share no code with the search",
    )


def of_rounding(rounded: "RoundedTable") -> Assurances:
    """What it says of singling out, linking and inference."""
    return assured(rounded, "rounded")


def assurances(result: "Changed", settings: object = None) -> Assurances:
    """The same of a run."""
    return of_rounding(result.changed)
