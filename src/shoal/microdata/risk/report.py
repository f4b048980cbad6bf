"""How the risk of a sample is reported: figures, facts, tables and the page."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.microdata.risk.assurances import assurances as assurances
from shoal.microdata.risk.definitions import DEFINITIONS
from shoal.microdata.risk.remarks import WORTH
from shoal.microdata.risk.riskiest import shares_at_most
from shoal.microdata.risk.special_uniques import report as special_uniques
from shoal.numbers import counted
from shoal.operation import Rows
from shoal.remarks import remarks_in_json
from shoal.report import charts
from shoal.report.bins import Bin, merge_small
from shoal.report.definitions import amount, in_words, share
from shoal.report.page import Page

if TYPE_CHECKING:
    from shoal.microdata.risk.linking import ListLinkage
    from shoal.microdata.risk.matches.estimate import Estimated
    from shoal.microdata.risk.result import Risk
    from shoal.microdata.risk.scenarios import Intruder, Scenario
    from shoal.runtime import Progress

_ESTIMATORS = {"zayatz": "Zayatz", "pitman": "Pitman", "counted": "counted"}
_MODELS = {"main": "main effects", "two_way": "two-way effects"}
_EDGES = (0.0, 1e-5, 1e-4, 1e-3, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def glimpse(progress: "Progress") -> str:
    """What is being measured."""
    return progress.phase


def figures(result: "Risk", settings: Any) -> dict[str, Any]:
    """Everything that is known of the risk in numbers."""
    return {
        "records": result.records,
        "unit": result.unit,
        "units": result.units,
        "quasi": list(result.quasi),
        "null": result.null,
        "basis": result.basis,
        "respondents": result.respondents,
        "population": result.population,
        "classes": result.classes,
        "k": result.k,
        "uniques": result.uniques,
        "pairs": result.pairs,
        "households": result.households,
        "prosecutor": _intruder(result.prosecutor),
        "journalist": _intruder(result.journalist),
        # The journalist's figures by the individual risk stand here as well, whoever is reckoned with.
        "figures_of": "unknown",
        **_scenario(result.unknown),
        "quantiles": {f"{share:g}": value for share, value in result.quantiles.items()},
        "respondents_known": _scenario(result.known),
        "respondents_unknown": _scenario(result.unknown),
        "population_uniques": dict(result.population_uniques),
        "population_uniques_in_sample": dict(result.uniques_in_sample),
        "loglinear": {
            name: {
                "tau1": one.tau1,
                "tau2": one.tau2,
                "reidentifications": one.reidentifications,
                "persons": one.persons,
            }
            for name, one in result.loglinear.items()
        },
        "equal_weights": result.equal_weights,
        "estimates": result.estimates,
        "worst_risk": result.worst_risk,
        "contributions": [
            {
                "column": one.key,
                "k": one.k,
                "uniques": one.uniques,
                "expected_reidentifications": one.expected,
                "expected_reidentifications_known": one.expected_known,
            }
            for one in result.contributions
        ],
        "riskiest": [
            {
                "record": one.record,
                "sample_count": one.count,
                "population_count": one.population,
                "risk": one.risk,
                "risk_interval": [one.low, one.high],
                "individual_risk": one.individual,
            }
            for one in result.riskiest
        ],
        "list": None if result.linkage is None else _list(result.linkage),
        "special_uniques": None
        if result.special_uniques is None
        else special_uniques.figures(result.special_uniques, result.quasi),
        "not_measured": list(result.not_measured),
        "stopped_by": result.stopped_by,
        "worth": {name: WORTH[name] for name in _shown(result)},
        **remarks_in_json(result.remarks),
    }


def _list(one: "ListLinkage") -> dict[str, Any]:
    return {
        "listed": one.listed,
        "reidentified": one.reidentified,
        "one_record": one.one,
        "several_records": one.several,
        "no_record": one.none,
        "expected_matches": one.expected_matches,
    }


def _scenario(one: "Scenario") -> dict[str, Any]:
    return {
        "expected_reidentifications": one.expected_reidentifications,
        "expected_persons": one.expected_persons,
        "expected_households": one.expected_households,
        "largest_risk": one.largest_risk,
        "largest_household_risk": one.largest_household_risk,
        "mean_risk": one.mean_risk,
    }


def _intruder(one: "Intruder") -> dict[str, Any]:
    """An intruder's figures, each estimated one with its interval."""
    figures: dict[str, Any] = {"source": one.source, "mean_risk": one.mean_risk}
    for name in _ESTIMATED:
        own = getattr(one, name)
        figures[name] = None if own is None else own.value
        figures[f"{name}_interval"] = None if own is None else [own.low, own.high]
    return figures


_ESTIMATED = (
    "expected_matches",
    "largest_risk",
    "expected_persons",
    "expected_households",
    "largest_household_risk",
    "population_uniques",
    "matches_among_uniques",
)


def _shown(result: "Risk") -> list[str]:
    """The names of the estimates that there are."""
    own = {"population": "population", "sample": "sample"}.get(result.basis, "individual")
    best = ["latent_classes"] if result.journalist.source == "latent classes" else []
    names = [*best, own, "sample", *result.population_uniques, *result.loglinear]
    return [name for name in dict.fromkeys(names) if name in WORTH]


def facts(result: "Risk", settings: Any) -> list[tuple[str, Any]]:
    """What is to be known first."""
    known = figures(result, settings)
    pairs: list[tuple[str, Any]] = in_words(DEFINITIONS, known, ("records",))
    if result.unit is not None:
        combinations = counted(result.units, "different combination", "different combinations")
        pairs.append(("counted", f"{combinations} of a unit of '{result.unit}' and its keys"))
    if result.population is not None:
        part = result.units / result.population
        pairs.append(("population", f"{result.population:,.0f} (the sample is {share(part)} of it)"))
    if result.households is not None:
        pairs.append(("households", f"{result.households:,}"))
    pairs += [
        *in_words(DEFINITIONS, known, ("k", "uniques", "pairs", "worst_risk")),
        *_of_intruder("journalist", result.journalist),
        (
            "risk of a record, journalist",
            ", ".join(f"{100 * part:g} % at most {share(value)}" for part, value in _spread(result).items()),
        ),
        *_of_intruder("prosecutor", result.prosecutor),
        ("a missing value", "is a value of its own" if result.null == "own" else "matches any value"),
    ]
    if result.linkage is not None:
        pairs += _of_list(result.linkage)
    if "counted" in result.population_uniques:
        alone, inside = result.population_uniques["counted"], result.uniques_in_sample["counted"]
        pairs.append(("unique in the population", f"{alone:,.0f}, of them {inside:,.0f} in the sample"))
    if result.special_uniques is not None:
        pairs += special_uniques.facts(result.special_uniques)
    return pairs


def _of_list(one: "ListLinkage") -> list[tuple[str, Any]]:
    """Whom a list of names finds."""
    fitting = f"{one.one:,} fit one record, {one.several:,} several, {one.none:,} none"
    return [
        ("names on the list", f"{one.listed:,}: {fitting}"),
        ("re-identified by the list", f"{one.reidentified:,}, who fit one record that no other name fits"),
        ("expected correct matches, list", amount(one.expected_matches)),
    ]


def _spread(result: "Risk") -> dict[float, float]:
    """The smallest risk for the journalist that these shares of the records do not exceed."""
    return shares_at_most(result.records_at_risk.risk)


def _of_intruder(who: str, one: "Intruder") -> list[tuple[str, Any]]:
    """What an intruder finds, each figure with its interval."""
    pairs: list[tuple[str, Any]] = [(f"expected correct matches, {who}", with_interval(one.expected_matches))]
    if one.population_uniques is not None:
        pairs.append(("population uniques among the sample uniques", with_interval(one.population_uniques)))
    pairs.append((f"largest risk of a record, {who}", with_interval(one.largest_risk, share)))
    pairs.append((f"mean risk, {who}", share(one.mean_risk)))
    if one.expected_households is not None and one.largest_household_risk is not None:
        records = f"{with_interval(one.expected_persons)} records of {with_interval(one.expected_households)} households"
        pairs += [
            (f"matched with their households, {who}", records),
            (f"largest risk through the household, {who}", with_interval(one.largest_household_risk, share)),
        ]
    return pairs


def with_interval(one: "Estimated", write: Callable[[float], str] = amount) -> str:
    """A figure with its interval, if it has one.

    >>> from shoal.microdata.risk.matches.estimate import Estimated
    >>> with_interval(Estimated(302.0, 270.25, 338.0)), with_interval(Estimated.counted(0.5), share)
    ('302 (90 % interval 270.25 to 338)', '50 %')
    """
    if one.low == one.high:
        return write(one.value)
    return f"{write(one.value)} (90 % interval {write(one.low)} to {write(one.high)})"


def tables(result: "Risk", settings: Any) -> list[Rows]:
    """Estimates with what they are worth, what each key adds, and the riskiest records."""
    listed = []
    if _estimates(result):
        listed.append(Rows(_ESTIMATES, _estimates(result), title="Estimates of the population"))
    listed.append(Rows(_KEYS, _keys(result), title="Without one of the keys"))
    if result.riskiest:
        listed.append(_riskiest(result, values=getattr(settings, "show_values", False)))
    if result.special_uniques is not None:
        listed += special_uniques.tables(result.special_uniques, result.quasi, len(result.riskiest))
    return listed


_ESTIMATES = [
    "estimate",
    "unique in the population",
    "of them in the sample",
    "expected matches",
    "what it is worth",
]
_KEYS = [
    "without",
    "K",
    "records alone",
    "expected matches by the individual risk, journalist",
    "expected matches, prosecutor",
]


def _estimates(result: "Risk") -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    own = result.journalist
    if own.source == "latent classes" and own.population_uniques is not None:
        uniques, matches = own.population_uniques.value, own.expected_matches.value
        rows.append(("latent classes", None, f"{uniques:.6g}", f"{matches:.6g}", WORTH["latent_classes"]))
    if result.basis in ("weights", "fraction"):
        expected = f"{result.unknown.expected_reidentifications:.6g}"
        joined = (
            ""
            if result.households is None
            else f"; {result.unknown.expected_persons:.6g} records with their households"
        )
        rows.append(("individual risk", None, None, expected + joined, WORTH["individual"]))
    for name, value in result.population_uniques.items():
        if name in WORTH:
            inside = result.uniques_in_sample[name]
            rows.append((_ESTIMATORS[name], f"{value:.6g}", f"{inside:.6g}", None, WORTH[name]))
    for name, one in result.loglinear.items():
        joined = "" if result.households is None else f"; {one.persons:.6g} records with their households"
        text = f"{one.reidentifications:.6g} ({one.tau2:.6g} among uniques){joined}"
        rows.append((f"log-linear, {_MODELS[name]}", None, f"{one.tau1:.6g}", text, WORTH[name]))
    return rows


def _keys(result: "Risk") -> list[tuple[Any, ...]]:
    every = (
        "no key",
        result.k,
        result.uniques,
        f"{result.unknown.expected_reidentifications:.6g}",
        f"{result.known.expected_reidentifications:.6g}",
    )
    return [
        every,
        *(
            (one.key, one.k, one.uniques, f"{one.expected:.6g}", f"{one.expected_known:.6g}")
            for one in result.contributions
        ),
    ]


def _riskiest(result: "Risk", *, values: bool) -> Rows:
    header = ["record", "records like it (f)", "sum of their weights", "risk", "90 % interval"]
    if result.journalist.source != "latent classes":
        header = [*header[:2], "population like it (F)", "risk"]
    body: list[list[Any]] = [
        [
            f"{one.record}",
            one.count,
            f"{one.population:.6g}",
            f"{one.risk:.4g}",
            f"{one.low:.4g} to {one.high:.4g}",
        ][: len(header)]
        for one in result.riskiest
    ]
    if values:
        header += result.quasi
        shown = result.values_of_riskiest()
        body = [
            [*row, *("" if value is None else str(value) for value in own)]
            for row, own in zip(body, shown, strict=True)
        ]
    return Rows(header, body, title="The riskiest records")


def page(result: "Risk", settings: Any = None) -> Page:
    """The report: no values are shown, and no bar stands for fewer than 10 records."""
    out = Page("Risk of a sample", "keys: " + ", ".join(result.quasi))
    out.section("Result")
    out.facts(facts(result, settings))
    for warning in result.warnings:
        out.warning(warning)
    for note in result.notes:
        out.note(note)
    _scenarios(out, result)
    out.section("Estimates of the population")
    if _estimates(result):
        out.table(_ESTIMATES, _estimates(result))
    by_weights = ("expected_reidentifications", "largest_risk", "mean_risk")
    out.facts(in_words(DEFINITIONS, figures(result, settings), by_weights))
    _distribution(out, result)
    _contributions(out, result)
    if result.riskiest:
        rows = _riskiest(result, values=False)
        out.section("The riskiest records")
        out.table(rows.header, rows.body)
        out.note("Records are named by their position in the data.")
    if result.special_uniques is not None:
        special_uniques.section(out, result.special_uniques, result.quasi, len(result.riskiest))
    out.provenance(
        (),
        "a few records, the least hidden one among them, counted again by comparing them with all others",
    )
    return out


def _scenarios(out: Page, result: "Risk") -> None:
    out.section("For whom")
    if result.basis == "sample":
        out.text(
            "Nothing is known of the population, so the sample stands for it, and both intruders are one."
        )
    else:
        own = {"latent classes": "latent_classes", "population file": "population"}.get(
            result.journalist.source, "individual"
        )
        out.text(
            "The journalist does not know who responded, and has to reckon with all F of the population with the same keys: the "
            f"risk is 1/F. The figures are {WORTH[own]}."
        )
    out.text(
        "The prosecutor knows who responded, and finds a record among the f with the same keys: the risk is 1/f."
    )
    out.text(
        "What is required is judged by the largest of: "
        + ", ".join(f"{name} {value:.6g}" for name, value in result.estimates.items())
        + " expected matches."
    )


def _distribution(out: Page, result: "Risk") -> None:
    out.section("How the risk is spread")
    bins = risk_bins(result)
    if not bins:
        out.note("There are too few records for a chart.")
        return
    out.chart(
        charts.bars([one.name for one in bins], [one.count for one in bins], x="risk", y="records"),
        "How many records have which risk for the journalist. Bars stand for at least 10 records.",
    )


def risk_bins(result: "Risk") -> list[Bin]:
    """How many records have which risk for the journalist; every bin holds at least 10 records."""
    counts, _ = np.histogram(result.records_at_risk.risk, bins=np.array(_EDGES))
    return merge_small(
        [Bin(low, high, int(count)) for low, high, count in zip(_EDGES, _EDGES[1:], counts) if count]
    )


def _contributions(out: Page, result: "Risk") -> None:
    out.section("What each key adds")
    out.table(_KEYS, _keys(result))
    if not result.contributions:
        return
    whole = result.unknown.expected_reidentifications
    out.chart(
        charts.bars(
            [one.key for one in result.contributions],
            [whole - one.expected for one in result.contributions],
            x="key",
            y="fewer matches",
        ),
        "How many fewer matches the journalist expects if nobody knows a key, by the individual risk.",
    )
