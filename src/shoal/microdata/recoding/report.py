"""The report of a recoding: what a release officer must see to sign, and nothing confidential."""

from typing import TYPE_CHECKING, Any

from shoal.errors import parameter
from shoal.microdata.columns.units import units_in_words
from shoal.microdata.recoding.assurances import assurances as assurances
from shoal.microdata.recoding.definitions import DEFINITIONS
from shoal.microdata.recoding.margins import largest_change
from shoal.microdata.recoding.solution import Scope
from shoal.numbers import counted
from shoal.operation import Rows
from shoal.remarks import remarks_in_json
from shoal.report import charts
from shoal.report.definitions import in_words
from shoal.report.page import Page

if TYPE_CHECKING:
    from shoal.microdata.recoding.explanation import Neighbour
    from shoal.microdata.recoding.large_result import LargeRecoded
    from shoal.microdata.recoding.result import Recoded
    from shoal.runtime import Progress

#: What each measure of loss says.
MEASURES_IN_WORDS = {
    "loss": "share of values a label stands for",
    "entropy": "bits to the original values",
    "discernibility": "records that look alike, summed",
    "class-size": "records for each class",
    "cells": "values that changed",
}
# Labels that fewer people have are not listed.
_LISTED = 30


def glimpse(progress: "Progress") -> str:
    """How far the search is."""
    value = "" if progress.value is None else f"loss {progress.value:.6g}"
    bound = "" if progress.bound is None else f", at least {progress.bound:.6g}"
    return f"{value}{bound}  {progress.work:,} steps"


def figures(result: "Recoded", settings: object) -> dict[str, Any]:
    """Everything that is known of a release in numbers."""
    return {
        "method": result.method,
        "chosen": result.chosen,
        "k": result.k,
        "k_release": result.k_release,
        "k_strict": result.k_strict,
        "null": result.null,
        "accept_wildcard": bool(getattr(settings, "accept_wildcard", False)),
        "quasi": list(result.quasi),
        "unit": result.anonymity.unit,
        "records": result.records,
        "suppressed_records": result.suppressed_records,
        "suppressed_people": result.suppressed_people,
        "suppressed_cells": sum(result.suppressed_cells.values()),
        "blank_records": result.blank_records,
        "blank_people": result.blank_people,
        "keyless_records": result.keyless_records,
        "suppressed_by_column": dict(result.suppressed_cells),
        "measure": result.measure,
        "loss": result.loss,
        "bound": result.bound,
        "bound_of": result.scope,
        "optimal": result.optimal,
        "losses": dict(result.losses),
        "levels": dict(result.levels),
        "rules": {item.column: item.rule for item in result.proposals},
        "classes": result.anonymity.classes,
        "below": {str(limit): result.anonymity.below(limit) for limit in (3, 5, 10)},
        "maximum_risk": result.anonymity.maximum_risk,
        "average_risk": result.anonymity.average_risk,
        "models": [
            {
                "model": one.model,
                "column": one.column,
                "worst": one.worst,
                **({"reference": one.reference} if one.reference else {}),
            }
            for one in result.models
        ],
        "homogeneous": [
            {"column": one.column, "classes": one.classes, "people": one.people} for one in result.homogeneous
        ],
        "k_households": result.k_households,
        "averaged": None
        if result.averages is None
        else {
            "columns": list(result.averages.columns),
            "k": result.averages.k,
            "loss_percent": result.averages.loss,
        },
        "nodes": result.nodes,
        "stopped_by": str(result.stopped_by),
        "seconds": result.seconds,
        "verified": True,
        **_explained(result),
        **remarks_in_json(result.remarks),
    }


def _explained(result: "Recoded") -> dict[str, Any]:
    why = result.explanation
    if why is None:
        return {}
    front = None if why.front is None else [_neighbour(one) for one in why.front]
    return {"neighbours": [_neighbour(one) for one in why.neighbours], "front": front}


def _neighbour(one: "Neighbour") -> dict[str, Any]:
    return {
        "levels": list(one.levels),
        "column": one.column,
        "step": one.step,
        "loss": one.loss,
        "people_left_out": one.people_left_out,
        "records_left_out": one.records_left_out,
    }


def left_out_in_words(result: "Recoded | LargeRecoded") -> str:
    """How many units and records are left out; where records are counted, these alone."""
    names, records = units_in_words(result.anonymity.unit), counted(result.suppressed_records, "record")
    units = "" if result.anonymity.unit is None else f"{counted(result.suppressed_people, *names)}, "
    return f"{units}{records} (at most {counted(result.limit, *names)})"


def facts(result: "Recoded", settings: object) -> list[tuple[str, Any]]:
    """What is to be known first."""
    return [
        ("records released", f"{result.records:,}"),
        ("left out", left_out_in_words(result)),
        ("values blanked", f"{sum(result.suppressed_cells.values()):,}"),
        (
            DEFINITIONS["blank_records"].name,
            f"{result.blank_records:,} of those released",
        ),
        (DEFINITIONS["blank_people"].name, f"{result.blank_people:,}"),
        (DEFINITIONS["keyless_records"].name, f"{result.keyless_records:,}"),
        (
            "K of the release",
            f"{result.k_release} over {', '.join(result.quasi)} (k asked for: {result.k}){_strictly(result)}",
        ),
        *(
            [("accepted", "k holds by wildcards only; nothing public may speak of it")]
            if result.k_strict < result.k and getattr(settings, "accept_wildcard", False)
            else []
        ),
        (
            f"loss ({MEASURES_IN_WORDS[result.measure]})",
            f"{result.loss:.6g}{bound_in_words(result.bound, result.scope, optimal=result.optimal)}",
        ),
        *[
            (
                one.named,
                f"holds; {one.where_worst} {one.worst:.4g}"
                + (f"; compared with the shares in {one.reference}" if one.reference else ""),
            )
            for one in result.models
        ],
        *[
            (
                f"classes that share one {one.column}",
                f"{one.classes:,} with {counted(one.people, *units_in_words(result.anonymity.unit))}",
            )
            for one in result.homogeneous
        ],
        *_beside(result),
        ("method", f"{_method(result)}, {result.nodes:,} steps, stopped by {result.stopped_by}"),
    ]


def _method(result: "Recoded") -> str:
    return result.method if result.chosen == result.method else f"{result.chosen}, chosen by {result.method}"


def _strictly(result: "Recoded") -> str:
    return (
        "" if result.null == "own" else f", blanks match anything; {result.k_strict} where a blank is a value"
    )


def _beside(result: "Recoded") -> list[tuple[str, Any]]:
    """Whole households, and numbers beside the keys, where there are any."""
    found: list[tuple[str, Any]] = []
    if result.k_households is not None:
        found.append(("households of the same composition", f"at least {result.k_households}"))
    if result.averages is not None:
        own = result.averages
        found.append(
            (
                f"averaged: {', '.join(own.columns)}",
                f"K with the keys {own.k}, information loss {own.loss:.4f} %",
            )
        )
    return found


def bound_in_words(value: float | None, scope: Scope, *, optimal: bool) -> str:
    """What is proved of a loss, and of which recodings.

    >>> bound_in_words(0.0138, "records", optimal=False)
    '; lower bound 0.0138 (no recoding of single records loses less)'
    """
    if optimal:
        return f", proved optimal (no {_SCOPES[scope]} loses less)"
    return "" if value is None else f"; lower bound {value:.6g} (no {_SCOPES[scope]} loses less)"


_SCOPES: dict[Scope, str] = {
    "columns": "recoding of whole columns",
    "blanks": "set of blanked values",
    "records": "recoding of single records",
}


def tables(result: "Recoded", settings: object) -> list[Rows]:
    """The keys with their levels, and what neighbours would cost."""
    rows = [
        Rows(["key", "level", "of", "labels", "blanked", "largest change of a share", "rule"], _keys(result))
    ]
    if result.explanation is not None:
        rows.append(Rows(_NEIGHBOURS, _neighbours(result), title="One level finer or coarser"))
        if result.explanation.front is not None:
            rows.append(
                Rows(
                    [*result.quasi, "loss", "left out"],
                    _front(result),
                    title=f"Loss against {units_in_words(result.anonymity.unit)[1]} left out",
                )
            )
    return rows


_NEIGHBOURS = ["key", "step", "loss", "left out", "records left out"]


def _keys(result: "Recoded") -> list[tuple[Any, ...]]:
    found = []
    for item in result.proposals:
        level = result.levels[item.column]
        found.append(
            (
                item.column,
                "mixed" if level is None else level,
                item.hierarchy.height,
                None if level is None else item.sizes[level],
                result.suppressed_cells[item.column],
                f"{largest_change(result.margins[item.column]):.4f}",
                item.rule,
            )
        )
    return found


def _strata(result: "Recoded") -> list[tuple[Any, ...]]:
    """What was left out and blanked in each stratum; strata are numbered, since their names are values."""
    rows = []
    for number, part in enumerate(result.parts, start=1):
        solution, heights = part.solution, part.problem.heights
        blank = (solution.levels == heights) & solution.released[:, None]
        shown = ~(solution.levels[solution.released] == heights).all(axis=0)
        rows.append(
            (
                number,
                part.problem.size,
                int(solution.records[~solution.released].sum()),
                int((blank * solution.records[:, None])[:, shown].sum()),
                f"{solution.value:.6g}",
            )
        )
    return rows


def _neighbours(result: "Recoded") -> list[tuple[Any, ...]]:
    assert result.explanation is not None
    return [
        (
            one.column,
            "finer" if one.step < 0 else "coarser",
            f"{one.loss:.6g}",
            one.people_left_out,
            one.records_left_out,
        )
        for one in result.explanation.neighbours
    ]


def _front(result: "Recoded") -> list[tuple[Any, ...]]:
    assert result.explanation is not None and result.explanation.front is not None
    return [(*one.levels, f"{one.loss:.6g}", one.people_left_out) for one in result.explanation.front]


def page(result: "Recoded", settings: object = None) -> Page:
    """The report of one release."""
    out = Page("Recoded records", f"k = {result.k}, {len(result.quasi)} keys")
    out.section("Result")
    found = figures(result, settings)
    out.facts(
        [
            *facts(result, settings),
            *in_words(DEFINITIONS, found, ("bound", "optimal", "below", "maximum_risk", "average_risk")),
        ]
    )
    for warning in result.warnings:
        out.warning(warning)
    for note in result.notes:
        out.note(note)
    out.section("Keys")
    out.table(["key", "level", "of", "labels", "blanked", "largest change of a share", "rule"], _keys(result))
    out.note(
        "Optimal means: for this measure of loss, these hierarchies, this limit, these models and this rule for missing values, "
        f"no {_SCOPES[result.scope]} loses less."
    )
    out.note(
        "A missing value is a value of its own; a blank is another one. k says nothing about what a class shares: classes that "
        "share one confidential value are counted above where such columns are named."
    )
    if len(result.parts) > 1:
        out.section("Strata")
        out.table(["stratum", "records", "left out", "blanked", "loss"], _strata(result))
    out.section("What is lost")
    out.table(
        ["measure", "loss"], [(MEASURES_IN_WORDS[name], value) for name, value in result.losses.items()]
    )
    _explanation(out, result)
    _margins(out, result)
    out.provenance(
        (),
        "classes, models, limit and loss recomputed from the released frame by a check that shares no code with the search",
    )
    return out


def _explanation(out: Page, result: "Recoded") -> None:
    why = result.explanation
    if why is None:
        return
    out.section("Why this recoding")
    out.table(_NEIGHBOURS, _neighbours(result))
    if why.front is None:
        out.note(f"There are too many recodings to look at all; {parameter('levels')} looks at one.")
        return
    out.table([*result.quasi, "loss", "left out"], _front(result))
    if len(why.front) > 1:
        many = units_in_words(result.anonymity.unit)[1]
        curve = {"least loss": [(one.people_left_out, one.loss) for one in why.front]}
        out.chart(
            charts.lines(curve, x=f"{many} left out", y="loss"),
            f"The least loss for each number of {many} left out.",
        )


def _margins(out: Page, result: "Recoded") -> None:
    """Shares of labels before and after; of rare labels, and of records, nothing is shown."""
    out.section("What an analyst keeps")
    least = max(result.k, 10)
    for name, margins in result.margins.items():
        # Nothing is told of labels that are rare, or that are not released at all.
        listed = [margin for margin in margins if margin.people >= least and margin.after > 0]
        if not listed or len(margins) == 1:
            continue
        out.text(f"{name}: labels with at least {least} {units_in_words(result.anonymity.unit)[1]}")
        out.table(
            ["label", "share before", "after", "blanked or left out, %"],
            [
                (
                    "missing" if margin.label is None else margin.label,
                    f"{margin.before:.4f}",
                    f"{margin.after:.4f}",
                    f"{100 * margin.hidden / margin.records:.1f}",
                )
                for margin in sorted(listed, key=lambda margin: -margin.people)[:_LISTED]
            ],
        )
