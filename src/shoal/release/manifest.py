"""What a release says of itself: to everybody, and to those who answer for it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal._version import __version__
from shoal.microdata.columns.units import units_in_words
from shoal.operation_release import TableRelease
from shoal.release.gates.judge import GateOutcome
from shoal.release.plan.plan import Output, Plan, Step
from shoal.report.provenance import versions

if TYPE_CHECKING:
    from shoal.release.run.inputs import Inputs


@dataclass(frozen=True)
class Facts:
    """Of a published file of records: its columns, and K over its quasi-identifiers."""

    columns: Sequence[str]
    k: int | None


# Limits that nothing exceeds.
_ALWAYS = {"risk": 1.0, "linkage": 100.0, "attacks": 100.0, "loss": 100.0}
#: How manifests are written; those without it are of before it was counted, and read alike.
FORMAT = 1
#: What every guarantee of K says; the figures and columns stand beside it in the list of outputs.
SHARED = "share every combination of"


def k_guarantees(outputs: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is guaranteed of K, made of the figures that the outputs state, so that a text cannot say more than they."""
    return [
        f"{item['file']}: at least {item['k']} {_counted(item)} {SHARED} the declared quasi-identifiers "
        f"{', '.join(item['quasi'])}; other columns are not counted"
        for item in outputs
        if "k" in item and isinstance(item.get("quasi"), list)
    ]


def _counted(item: Mapping[str, Any]) -> str:
    """What K of an output counts; a unit whose column is not released has no name outside."""
    return units_in_words(item["unit"] or True if "unit" in item else None)[1]


def guarantees(plan: Plan, gates: Sequence[GateOutcome], outputs: Sequence[Mapping[str, Any]]) -> list[str]:
    """What holds of the files that are published, by the limits of the gates; what was measured stays inside.

    A gate of a step whose release is only on its way says nothing of a file.
    """
    found = k_guarantees(outputs)
    words = {
        "reidentifications": "at most {limit:g} {counted} are expected to be found",
        "risk": "none of the {counted} is found with a chance above {limit:g}",
        "linkage": "the worst linkage that was tried finds at most {limit:g} percent of the records",
        "attacks": "the worst attack that was tried succeeds with at most {limit:g} percent",
        "loss": "at most {limit:g} percent were lost",
        "safe": "no sensitive cell can be computed more closely than the rules allow",
    }
    for gate in gates:
        files = [item.file for item in plan.outputs if item.public and item.step == gate.step]
        # A limit that nothing can exceed promises nothing.
        if gate.passed and gate.name in words and files and gate.limit < _most(gate):
            counted = units_in_words(plan.unit(gate.step) is not None)[1]
            found.append(f"{', '.join(files)}: {words[gate.name].format(limit=gate.limit, counted=counted)}")
    return found


def _most(gate: GateOutcome) -> float:
    """What nothing that a gate measures can exceed."""
    return _ALWAYS.get(gate.name, math.inf) if gate.most is None else gate.most


def output_facts(plan: Plan, output: Output, facts: Facts | None) -> dict[str, Any]:
    """What kind of file an output is, and what can be checked of it by everybody: columns that are keys and the K that a gate
    asked for and that they have, dimensions that have subtotals. Nothing of a column that is not in it.
    """
    step = plan.step(output.step)
    changed = step.as_changed_table
    if isinstance(step.release, TableRelease) and output.product == step.release.product:
        return {"kind": "table", "subtotals": _subtotals(plan, step)}
    if changed and output.product == changed.product:
        if not changed.adds_up:
            return {"kind": "changed table", "adds_up": False}
        return {"kind": "changed table", "adds_up": True, "subtotals": _subtotals(plan, step)}
    if facts is None:
        return {"kind": "records" if output.product == "output" else "other"}
    gates = [plan.gates[own.name].k for own in plan.path(step.name) if own.name in plan.gates]
    asked = [k for k in gates if k is not None and facts.k is not None and k <= facts.k]
    if not asked:
        return {"kind": "records"}
    if any(own.values.get("accept_wildcard") for own in plan.path(step.name)):
        # What holds by wildcards only is no k, and where that was accepted nothing is said of one.
        return {"kind": "records"}
    roles = plan.roles(step.name)
    quasi = [name for name, role in roles.items() if role == "quasi-identifier" and name in facts.columns]
    unit = plan.unit(step.name)
    # Nobody outside can count units where the column that tells them apart is not released.
    told = {} if unit is None else {"unit": unit if unit in facts.columns else None}
    return {"kind": "records", "k": max(asked), "quasi": quasi, **told}


def _subtotals(plan: Plan, step: Step) -> list[str]:
    """The dimensions of a table that have subtotals."""
    table = plan.step(step.inputs[0]) if step.inputs[0] not in plan.sources else step
    return sorted(table.values.get("hierarchy", {}))


def public_manifest(
    plan: Plan, gates: Sequence[GateOutcome], outputs: Sequence[Mapping[str, Any]], created: str
) -> dict[str, Any]:
    """For everybody: versions, operations, guarantees and outputs; nothing of the inputs, no key, no count of what was hidden."""
    return {
        "format": FORMAT,
        "release": plan.about.name,
        "type": plan.about.type,
        "created": created,
        "software": f"shoal {__version__}",
        "operations": [step.do for step in plan.steps],
        "guarantees": guarantees(plan, gates, outputs),
        "outputs": [dict(item) for item in outputs],
    }


def internal_manifest(
    plan: Plan,
    inputs: "Inputs",
    steps: Sequence[Mapping[str, Any]],
    gates: Sequence[GateOutcome],
    outputs: Sequence[Mapping[str, Any]],
    created: str,
    seconds: float,
    reports: Mapping[str, str],
    fingerprints: Mapping[str, str],
) -> dict[str, Any]:
    """For those who answer for it: also the fingerprints of the inputs and of what is kept inside, all settings, all figures,
    and the SHA-256 of the reports.
    """
    return {
        "note": "internal: not for publication",
        "format": FORMAT,
        "release": plan.about.name,
        "type": plan.about.type,
        "intruders": list(plan.about.intruders),
        "created": created,
        "seconds": seconds,
        "versions": versions(),
        "inputs": {name: dict(item) for name, item in inputs.described.items()},
        "files": {name: dict(item) for name, item in inputs.files.items()},
        "steps": [dict(item) for item in steps],
        "gates": [gate.as_json() for gate in gates],
        "outputs": [dict(item) for item in outputs],
        "reports": dict(reports),
        "kept": dict(fingerprints),
        "verified": True,
    }
