"""Who is at risk in a sample: for whom, by which estimate, through which keys, and which records first."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from shoal.microdata.risk.definitions import DEFINITIONS
from shoal.report.definitions import in_words
from shoal.web.jobs.job import Job
from shoal.web.pages import parts
from shoal.web.pages.column_bars import column_bars
from shoal.web.pages.gates import gates
from shoal.web.pages.risk.listed import listed_records
from shoal.web.pages.risk.special_uniques import present_special_uniques
from shoal.web.workbench import Workbench

Figures = dict[str, Any]

_BASIS = {
    "weights": "the sum of the weights",
    "fraction": "every record stands for equally many",
    "population": "counted in the population",
    "sample": "nothing is known of it",
}
_WORTH_OF = {"latent classes": "latent_classes", "population file": "population", "sample": "sample"}
_ESTIMATORS = {"zayatz": "Zayatz", "pitman": "Pitman", "counted": "counted in the population"}
_MODELS = {"main": "log-linear, main effects", "two_way": "log-linear, two-way effects"}


def present_sample(workbench: Workbench, job: Job) -> None:
    """All figures of a sample."""
    found: Figures = job.summary
    parts.warnings(found["warnings"])
    gates(found["gates"])
    parts.facts(_facts(found))
    _for_whom(found)
    _pictures(found)
    _estimates(found)
    _keys(found)
    if found["riskiest"]:
        _riskiest(workbench, job)
    if found["special_uniques"] is not None:
        present_special_uniques(workbench, job)
    for text in found["notes"]:
        parts.note(text)


def _facts(values: Figures) -> list[tuple[Any, ...]]:
    population = values["population"]
    facts: list[tuple[Any, ...]] = [
        (
            "expected correct matches, journalist",
            _with_interval(values["journalist"], "expected_matches", _number),
        ),
        ("expected correct matches, prosecutor", _number(values["prosecutor"]["expected_matches"])),
        (*in_words(DEFINITIONS, values, ("worst_risk",))[0], "bad" if values["worst_risk"] >= 1 else ""),
        *in_words(DEFINITIONS, values, ("records",)),
        (f"population: {_BASIS[values['basis']]}", "not known" if population is None else round(population)),
        *in_words(DEFINITIONS, values, ("k", "uniques", "pairs")),
    ]
    if values["households"] is not None:
        facts.append(("households", values["households"]))
    counted = values["population_uniques"].get("counted")
    if counted is not None:
        inside = values["population_uniques_in_sample"]["counted"]
        facts.append((f"unique in the population, of them {inside:,.0f} in the sample", round(counted)))
    facts += [
        (f"{100 * float(share):g} % of the records have a risk of at most", _percent(value))
        for share, value in values["risk_quantiles"].items()
    ]
    return facts


def _for_whom(values: Figures) -> None:
    """The two intruders side by side."""
    rows = [
        ("expected correct matches", "expected_matches", _number),
        ("records matched with their households", "expected_persons", _number),
        ("households found", "expected_households", _number),
        ("population uniques among the sample uniques", "population_uniques", _number),
        ("largest risk of a record", "largest_risk", _percent),
        ("largest risk through the household", "largest_household_risk", _percent),
    ]
    both = values["journalist"], values["prosecutor"]
    parts.subheading("For whom")
    in_households = values["households"] is not None
    mean = ("mean risk", *(_percent(one["mean_risk"]) for one in both))
    parts.table(
        ["", "journalist: does not know who responded", "prosecutor: knows who responded"],
        [
            *(
                (words, *(_with_interval(one, key, say) for one in both))
                for words, key, say in rows
                if in_households or "household" not in words
            ),
            mean,
        ],
        numeric=[False, True, True],
    ).classes("shoal-words")
    own = _WORTH_OF.get(values["journalist"]["source"], "individual")
    worth = values["worth"].get(own)
    if worth:
        parts.quiet(f"The journalist's figures are {worth}.")


def _pictures(values: Figures) -> None:
    with ui.row().classes("full-width").style("gap: 12px"):
        with ui.column().classes("gap-1").style("flex: 1 1 300px; min-width: 0"):
            parts.subheading("How the risk is spread")
            if values["spread"]:
                parts.bars(
                    [f"{100 * low:g}–{100 * high:g}" for low, high, _ in values["spread"]],
                    [count for _, _, count in values["spread"]],
                    x="risk for the journalist, %",
                    y="records",
                )
                parts.quiet("Bars stand for at least 10 records.")
            else:
                parts.quiet("There are too few records for a chart.")
        with ui.column().classes("gap-1").style("flex: 1 1 300px; min-width: 0"):
            parts.subheading("What each key adds")
            whole = values["expected_reidentifications"]
            each = values["contributions"]
            column_bars(
                [one["column"] for one in each],
                [whole - one["expected_reidentifications"] for one in each],
                what="fewer matches without it, by the individual risk",
                label="how many fewer matches the journalist expects without each key, by the individual risk",
            )


def _estimates(values: Figures) -> None:
    worth, own = values["worth"], values["journalist"]
    rows: list[tuple[Any, ...]] = []
    if own["source"] == "latent classes":
        figures = (_number(own["population_uniques"]), _number(own["expected_matches"]))
        rows.append(("latent classes", None, *figures, worth["latent_classes"]))
    if "individual" in worth:
        expected = _number(values["expected_reidentifications"])
        rows.append(("individual risk", None, None, expected, worth["individual"]))
    for name, value in values["population_uniques"].items():
        if name in worth:
            inside = values["population_uniques_in_sample"][name]
            rows.append((_ESTIMATORS.get(name, name), _number(value), _number(inside), None, worth[name]))
    for name, one in values["loglinear"].items():
        told = f"{_number(one['reidentifications'])} ({_number(one['tau2'])} among uniques)"
        if values["households"] is not None:
            told += f"; {_number(one['persons'])} records with their households"
        rows.append((_MODELS.get(name, name), None, _number(one["tau1"]), told, worth.get(name, "")))
    if rows:
        parts.subheading("Estimates of the population")
        parts.table(
            ["estimate", "unique in the population", "of them in the sample", "expected matches"],
            [row[:-1] for row in rows],
        ).classes("shoal-words")
        # As a column of the table it could not be read on a narrow screen.
        for row in rows:
            parts.quiet(f"{row[0]}: {row[-1]}.")
    parts.quiet(
        "What is required is judged by the largest of: "
        + ", ".join(f"{name} {_number(value)}" for name, value in values["estimates"].items())
        + "."
    )


def _keys(values: Figures) -> None:
    every = (
        "no key",
        values["k"],
        values["uniques"],
        _number(values["expected_reidentifications"]),
        _number(values["respondents_known"]["expected_reidentifications"]),
    )
    parts.subheading("Without one of the keys")
    parts.table(
        [
            "without",
            "K",
            "records alone",
            "expected matches by the individual risk, journalist",
            "prosecutor",
        ],
        [
            every,
            *(
                (
                    one["column"],
                    one["k"],
                    one["uniques"],
                    _number(one["expected_reidentifications"]),
                    _number(one["expected_reidentifications_known"]),
                )
                for one in values["contributions"]
            ),
        ],
        numeric=[False, True, True, True, True],
    )


def _riskiest(workbench: Workbench, job: Job) -> None:
    found = job.summary
    listed_records(
        workbench,
        job,
        job.request["data"],
        found["quasi"],
        heading="The riskiest records",
        header=["record", "f, in the sample", "sum of their weights", "risk"],
        rows=[
            (
                one["record"],
                one["sample_count"],
                one["population_count"],
                _interval(one["risk"], one["risk_interval"], _percent),
            )
            for one in found["riskiest"]
        ],
        caption="Records are named by their number in the data.",
    )


def _with_interval(intruder: Figures, name: str, say: Callable[[float | None], str]) -> str:
    """A figure of an intruder with its interval, if it has one."""
    return _interval(intruder[name], intruder[f"{name}_interval"], say)


def _interval(value: float | None, ends: list[float] | None, say: Callable[[float | None], str]) -> str:
    """A figure with its interval.

    >>> _interval(0.5, [0.25, 0.75], _percent), _interval(0.5, [0.5, 0.5], _percent)
    ('50 % (25 % to 75 %)', '50 %')
    """
    if ends is None or ends[0] == ends[1]:
        return say(value)
    return f"{say(value)} ({say(ends[0])} to {say(ends[1])})"


def _number(value: float | None) -> str:
    """A count that is no whole number.

    >>> _number(12.3456), _number(1234567.8), _number(None)
    ('12.35', '1,234,568', '–')
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def _percent(value: float | None) -> str:
    """A share as percents.

    >>> _percent(0.0312345), _percent(1.0), _percent(None)
    ('3.12 %', '100 %', '–')
    """
    return "–" if value is None else f"{100 * value:.3g} %"
