"""What is told of a microaggregation of records in many places."""

from typing import TYPE_CHECKING, Any

from shoal.microdata.anonymity.assurances import knower, linked, singled_out
from shoal.microdata.microaggregation.definitions import DEFINITIONS as _OF_ONE_MACHINE
from shoal.microdata.microaggregation.report import glimpse as glimpse
from shoal.operation import Rows
from shoal.remarks import remarks_in_json
from shoal.report.definitions import in_words
from shoal.report.page import Page
from shoal.report.provenance import Assurances

if TYPE_CHECKING:
    from shoal.microdata.microaggregation.leaves.result import LargeMicroaggregation

DEFINITIONS = _OF_ONE_MACHINE


def _checked(result: "LargeMicroaggregation") -> str:
    """What was checked by whom, and what was not."""
    again = "records, K, the columns kept as they are and the ranges" + (
        ""
        if result.unchecked
        else ", means and loss (as far as rounding lets them be known) of the protected ones"
    )
    text = (
        f"{again} are counted again on the finished release, and counted again on what was written, by aggregations that share "
        "no code with the search; that every record stands there as it left its group is told by sums of hashes"
    )
    return f"{text}; not checked again: {', '.join(result.unchecked)}" if result.unchecked else text


def figures(result: "LargeMicroaggregation", settings: object) -> dict[str, Any]:
    """Everything that is known of a release in numbers."""
    return {
        "engine": result.engine,
        "method": result.method,
        "k": result.k,
        "k_release": result.k_release,
        "k_protected": result.k_protected,
        "records": result.records,
        "set_aside": result.set_aside,
        "columns": list(result.columns),
        "clusters": result.clusters,
        "min_cluster": min(result.sizes),
        "max_cluster": max(result.sizes),
        "sse": result.sse,
        "sst": result.sst,
        "loss_percent": result.loss,
        "bound_percent": result.bound,
        "optimal": result.optimal,
        "iterations": result.rounds,
        "stopped_by": str(result.stopped_by),
        "seconds": result.seconds,
        "leaves": result.leaves,
        "shifted_leaves": result.shifted_leaves,
        "leaf": result.leaf,
        "largest_leaf": result.largest_leaf,
        # A release that fails its check is never a result.
        "verified": True,
        "unchecked": list(result.unchecked),
        "quasi": list(result.quasi),
        "quasi_guessed": result.quasi_guessed,
        "null": result.anonymity.null,
        "below": {str(limit): result.anonymity.below(limit) for limit in (3, 5, 10)},
        "maximum_risk": result.anonymity.maximum_risk,
        "average_risk": result.anonymity.average_risk,
        **remarks_in_json(result.remarks),
    }


def facts(result: "LargeMicroaggregation", settings: object) -> list[tuple[str, Any]]:
    """What a person wants to know first."""
    aside = f" ({result.set_aside:,} set aside)" if result.set_aside else ""
    guessed = ", all that could be known" if result.quasi_guessed else ""
    return [
        ("records", f"{result.records:,}{aside}"),
        ("groups", f"{result.clusters:,} of {min(result.sizes)} to {max(result.sizes)} records"),
        ("information loss", f"{result.loss:.4f} %"),
        (
            "K of the release",
            f"{result.k_release} over {', '.join(result.quasi)}{guessed} (k asked for: {result.k})",
        ),
        ("K over the protected columns", result.k_protected),
        ("leaves", f"{_leaves(result)}; engine {result.engine}"),
    ]


def _leaves(result: "LargeMicroaggregation") -> str:
    most = 2 * result.leaf
    return f"{result.leaves:,} of up to {most:,} records, then {result.shifted_leaves:,} shifted ones"


def tables(result: "LargeMicroaggregation", settings: object) -> list[Rows]:
    """Means and deviations before and after."""
    return [
        Rows(
            ["column", "mean before", "after", "deviation before", "after", "variance kept %"],
            [item.row() for item in result.changes.columns],
        )
    ]


def page(result: "LargeMicroaggregation", settings: object = None) -> Page:
    """The report of one release."""
    out = Page("Microaggregated records", f"k = {result.k}, {len(result.columns)} protected columns")
    out.section("Result")
    found = figures(result, settings)
    chosen = "all that could be known, by the look of the columns" if result.quasi_guessed else "named"
    out.facts(
        [
            *in_words(DEFINITIONS, found, ("records", "set_aside")),
            (DEFINITIONS["k_release"].name, f"{result.k_release}, over {', '.join(result.quasi)} ({chosen})"),
            *in_words(
                DEFINITIONS,
                found,
                ("k_protected", "k", "below", "maximum_risk", "average_risk", "loss_percent"),
            ),
            ("groups", f"{result.clusters:,} of {min(result.sizes)} to {max(result.sizes)} records"),
            ("leaves", _leaves(result)),
            ("engine", result.engine),
        ]
    )
    for warning in result.warnings:
        out.warning(warning)
    for note in result.notes:
        out.note(note)
    out.section("Before and after")
    out.table(
        ["column", "mean before", "mean after", "deviation before", "deviation after", "variance kept %"],
        [change.row() for change in result.changes.columns],
    )
    out.text(f"Largest change of a correlation: {result.changes.largest_change_in_words()}.")
    out.provenance(result.settings, _checked(result))
    return out


def assurances(result: "LargeMicroaggregation", settings: object = None) -> Assurances:
    """K over all that could be known; what needs pairs of records is not measured here."""
    return Assurances(
        knower(result.anonymity),
        f"{singled_out(result.anonymity)} Over the protected columns alone K is {result.k_protected}.",
        f"{linked(result.anonymity)} Not measured: links by distance to the true values (shoal compare, inside blocks).",
        "Not measured: groups that hold a single value or one that dominates, and what the columns that were kept say of "
        "a group.",
    )
