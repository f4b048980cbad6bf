"""What is told of a recoding of records in many places."""

from typing import TYPE_CHECKING, Any

from shoal.microdata.anonymity.assurances import knower, linked, singled_out
from shoal.microdata.recoding.definitions import DEFINITIONS as DEFINITIONS
from shoal.microdata.recoding.report import MEASURES_IN_WORDS, bound_in_words, left_out_in_words
from shoal.microdata.recoding.report import glimpse as glimpse
from shoal.operation import Rows
from shoal.remarks import remarks_in_json
from shoal.report.page import Page
from shoal.report.provenance import Assurances

if TYPE_CHECKING:
    from shoal.microdata.recoding.large_result import LargeRecoded


def figures(result: "LargeRecoded", settings: object) -> dict[str, Any]:
    """Everything that is known of a release in numbers."""
    return {
        "engine": result.engine,
        "method": result.method,
        "chosen": result.chosen,
        "k_strict": result.k_strict,
        "null": result.null,
        "unit": result.anonymity.unit,
        "k": result.k,
        "k_release": result.k_release,
        "quasi": list(result.quasi),
        "records": result.records,
        "suppressed_records": result.suppressed_records,
        "blank_records": result.blank_records,
        "suppressed_people": result.suppressed_people,
        "suppressed_cells": sum(result.suppressed_cells.values()),
        "suppressed_by_column": result.suppressed_cells,
        "measure": result.measure,
        "loss": result.loss,
        "bound": result.bound,
        "bound_of": "columns",
        "optimal": result.optimal,
        "losses": dict(result.losses),
        "levels": dict(result.levels),
        "rules": {item.column: item.rule for item in result.proposals},
        "tuples": result.tuples,
        "classes": result.anonymity.classes,
        "below": {str(limit): result.anonymity.below(limit) for limit in (3, 5, 10)},
        "maximum_risk": result.anonymity.maximum_risk,
        "average_risk": result.anonymity.average_risk,
        "nodes": result.nodes,
        "stopped_by": str(result.stopped_by),
        "seconds": result.seconds,
        "verified": True,
        **remarks_in_json(result.remarks),
    }


def facts(result: "LargeRecoded", settings: object) -> list[tuple[str, Any]]:
    """What is to be known first."""
    return [
        ("records released", f"{result.records:,}"),
        ("left out", left_out_in_words(result)),
        ("values blanked", f"{sum(result.suppressed_cells.values()):,}"),
        ("K of the release", f"{result.k_release} over {', '.join(result.quasi)} (k asked for: {result.k})"),
        (
            f"loss ({MEASURES_IN_WORDS[result.measure]})",
            f"{result.loss:.6g}{bound_in_words(result.bound, 'columns', optimal=result.optimal)}",
        ),
        (
            "classes",
            f"{result.anonymity.classes:,} of {result.tuples:,} combinations; engine {result.engine}",
        ),
        ("method", f"{result.method}, {result.nodes:,} steps, stopped by {result.stopped_by}"),
    ]


def tables(result: "LargeRecoded", settings: object) -> list[Rows]:
    """The level of each key."""
    rows = [
        (
            item.column,
            level := result.levels[item.column],
            item.hierarchy.height,
            item.sizes[level],
            result.suppressed_cells[item.column],
            item.rule,
        )
        for item in result.proposals
    ]
    return [Rows(["key", "level", "of", "labels", "blanked", "rule"], rows)]


def page(result: "LargeRecoded", settings: object = None) -> Page:
    """The report of one release."""
    out = Page("Recoded records", f"k = {result.k} over {', '.join(result.quasi)}")
    out.section("Result")
    out.facts(facts(result, settings))
    for rows in tables(result, settings):
        out.table(list(rows.header), list(rows.body))
    for warning in result.warnings:
        out.warning(warning)
    for note in result.notes:
        out.note(note)
    out.provenance(
        (),
        "every class and its size counted again on what was written and held against the recoding",
    )
    return out


def assurances(result: "LargeRecoded", settings: object = None) -> Assurances:
    """By the classes of the released keys."""
    return Assurances(
        knower(result.anonymity),
        singled_out(result.anonymity),
        f"{linked(result.anonymity)} Columns that were released as they were may be known, too, and are not in these figures.",
        "Not measured: what the columns that were kept say of a class.",
    )
