"""The report of a release: what somebody reads before signing it."""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.operation_report import settings_in_words
from shoal.operations import OPERATIONS
from shoal.release.folder import STEPS
from shoal.release.gates.judge import GateOutcome
from shoal.release.gates.knowable import KnownK
from shoal.release.plan.plan import Plan, Step
from shoal.release.run.step import REPORT, StepOutcome
from shoal.report.definitions import defined
from shoal.report.page import Page
from shoal.report.provenance import Assurances, Input, Provenance, Written

_INTRUDERS = {
    "respondents": "somebody who knows who is in the data",
    "register": "somebody who holds a register of the population",
    "neighbour": "somebody who knows one of the population, but not whether they are in the data",
}
_TYPES = {
    "public": "for everybody",
    "scientific": "for researchers under contract",
    "secure": "for use in a secure room",
}


def attackers(plan: Plan) -> str:
    """Whom a release is to stand against, in words."""
    return "; ".join(_INTRUDERS[item] for item in plan.about.intruders)


def release_page(
    plan: Plan,
    inputs: Sequence[Input],
    steps: Sequence[tuple[Step, StepOutcome]],
    gates: Sequence[GateOutcome],
    outputs: Sequence[Mapping[str, Any]],
    *,
    refused: str = "",
    noticed: Sequence[str] = (),
    known: Sequence[KnownK] = (),
) -> Page:
    """All of it on one page: inputs, steps, gates, outputs, and room to sign."""
    page = Page(f"Release of {plan.about.name}", _TYPES[plan.about.type])
    for text in noticed:
        page.warning(text)
    for number, (step, outcome) in enumerate(steps, start=1):
        page.section(f"Step {number}: {step.name} ({step.do})")
        for text in outcome.warnings:
            page.warning(text)
        page.facts(outcome.facts)
        page.table(["setting", "value"], _settings(step))
        if step.do in OPERATIONS:
            page.note(
                f"All figures, charts and answers of this step: {STEPS}/{number:02d}-{step.name}/{REPORT}."
            )
    page.section("Gates")
    if gates:
        page.table(["step", "gate", "limit", "measured", "", "what it is"], [_gate(gate) for gate in gates])
    else:
        page.warning("The plan has no gates: nothing was required of this release.")
    page.define(_definitions(steps, gates))
    page.provenance(
        [("seed of searches", plan.about.seed)],
        "every output read back and checked by its operation; gates measured anew on what was released",
    )
    provenance = Provenance(
        by="plan",
        words=plan.about.name,
        inputs=tuple(inputs),
        written=tuple(Written(item["file"], "published", item["sha256"]) for item in outputs),
        refused=refused or None,
    )
    return page.complete(provenance, _assurances(plan, gates, known))


def _settings(step: Step) -> list[tuple[str, str]]:
    """All settings of a step: those of the plan by their names, then those left at their default and the method's options."""
    given = [(name, _worded(value)) for name, value in step.values.items()]
    operation = step.operation
    labels = {item.label for item in operation.fields() if item.name in step.values}
    left = [
        item for item in settings_in_words(operation, step.settings, "command") if item.label not in labels
    ]
    # Time and secrets are no settings of a plan.
    absent = {item.label for item in operation.fields() if item.name in ("secret", "time_limit")}
    return given + [
        (item.label, f"{item.value} (default)" if item.default else item.value)
        for item in left
        if item.label not in absent
    ]


#: The figures that gates measure.
_GATES = {
    "k": (
        "The fewest records, or units where a column says whose they are, that share all declared quasi-identifiers of what the "
        "step released; weights, measurements and other columns are not counted."
    ),
    "reidentifications": (
        "How many records, or units where a column says whose they are, the intruder assumed is expected to find, as shoal "
        "risk does."
    ),
    "risk": ("The largest chance of one of them to be found, as shoal risk estimates it."),
    "linkage": (
        "Percent of the records that the worst linkage of shoal compare finds for somebody who knows all that is released "
        "and could be known."
    ),
    "attacks": (
        "Percent of success of the worst attack of shoal compare, for somebody who knows every value of a record."
    ),
    "loss": ("Percent that the step lost, by its own measure."),
    "safe": ("No hidden cell can be computed more closely than the rules allow."),
}


def _definitions(
    steps: Sequence[tuple[Step, StepOutcome]], gates: Sequence[GateOutcome]
) -> list[tuple[str, str, str]]:
    """What the figures of gates and steps mean; what two steps tell alike is told once."""
    names = dict.fromkeys(gate.name for gate in gates)
    found = [(f"gate on {name}", name, _GATES[name]) for name in names if name in _GATES]
    for step, outcome in steps:
        found += defined(getattr(step.operation.reporter_module, "DEFINITIONS", {}), outcome.figures)
    return list(dict.fromkeys(found))


def _gate(gate: GateOutcome) -> tuple[str, ...]:
    verdict = "passed" if gate.passed else "FAILED"
    return (gate.step, gate.name, _worded(gate.limit), _worded(gate.value), verdict, gate.meaning)


def _assurances(plan: Plan, gates: Sequence[GateOutcome], known: Sequence[KnownK]) -> Assurances:
    """The three answers, by the gates that were measured."""
    return Assurances(
        attacker="; ".join(_INTRUDERS[item] for item in plan.about.intruders),
        singling_out=" ".join(
            [
                _answer(gates, ("k", "risk"), "the plan has no gate on k; shoal anonymity measures it"),
                *(f"{item.in_words()}." for item in known),
            ]
        ),
        linking=_answer(
            gates,
            ("linkage", "reidentifications"),
            "the plan has no gate on linkage; shoal compare and shoal risk measure it",
        ),
        inference=_answer(
            gates,
            ("attacks", "safe"),
            "the plan has no gate on attacks; shoal compare measures what values can be inferred",
        ),
    )


def _answer(gates: Sequence[GateOutcome], names: Sequence[str], otherwise: str) -> str:
    found = [
        f"{gate.meaning} (step '{gate.step}'): {_worded(gate.value)}, limit {_worded(gate.limit)}"
        for gate in gates
        if gate.name in names
    ]
    return "; ".join(found) + "." if found else f"not measured: {otherwise}."


def _worded(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_worded(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_worded(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
