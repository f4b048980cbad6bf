"""What a release says of itself in several places must be the same, and what every release has must be there."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from shoal.errors import InputError
from shoal.release.fingerprints import internal_fingerprints, report_digests
from shoal.release.folder import PASSING, PLAN, SECRET, SIGNS
from shoal.release.gates.judge import GateOutcome, measured_k
from shoal.release.manifest import Facts, guarantees, output_facts
from shoal.release.plan.plan import Gates, Output
from shoal.release.release_reader import OpenedRelease
from shoal.release.verify.check import Check, fails, holds
from shoal.runtime.secrets import Secret


def internal_files(opened: OpenedRelease) -> Iterator[Check]:
    """The secret, and the keys by which records are known again."""
    assert opened.internal is not None and opened.plan is not None
    wrong = []
    try:
        Secret.read(opened.internal / SECRET)
    except InputError as problem:
        wrong.append(str(problem))
    for output in opened.plan.outputs:
        step = opened.plan.step(output.step)
        try:
            keys = opened.record_keys(step)
        except InputError as problem:
            wrong.append(str(problem))
            continue
        told = (
            (opened.inside or {}).get("inputs", {}).get(opened.plan.source_of(step.name), {}).get("records")
        )
        if keys.who.size != told:
            wrong.append(f"there are {keys.who.size} record keys for {told} records")
    wrong += [
        f"what step '{step.name}' depended on cannot be read"
        for step in opened.plan.steps
        if opened.step_key(step) is None
    ]
    for text in dict.fromkeys(wrong):
        yield fails("internal files", text)
    if not wrong:
        yield holds("internal files", "the secret and the record keys are there")


def report_checks(opened: OpenedRelease) -> Iterator[Check]:
    """The reports are those that were written when the release was made."""
    assert opened.internal is not None and opened.inside is not None
    told = opened.inside.get("reports")
    if not isinstance(told, Mapping):
        yield fails("reports", "the internal manifest does not say what its reports were")
        return
    found = report_digests(opened.internal)
    wrong = [name for name in dict.fromkeys((*told, *found)) if told.get(name) != found.get(name)]
    for name in wrong:
        yield fails("reports", f"'{name}' is not the report that was written with the release")
    if not wrong:
        yield holds("reports", f"{len(found)} reports are those that were written with the release")


def internal_checks(opened: OpenedRelease) -> Iterator[Check]:
    """What the internal part keeps is what was written when the release was made: appointments, patterns, links, the plan."""
    assert opened.internal is not None and opened.inside is not None
    told = opened.inside.get("kept")
    try:
        secret = Secret.read(opened.internal / SECRET)
    except InputError:
        # That the secret is gone is told already, and nothing can be known again without it.
        return
    if not isinstance(told, Mapping):
        yield fails("kept files", "the internal manifest does not say what is kept with it")
        return
    found = internal_fingerprints(opened.internal, PASSING, secret)
    assert opened.plan is not None
    own = {PLAN, SECRET, *(item.file for item in opened.plan.outputs if not item.public)}
    # More may have come since, beside what a run writes: a signed report, a letter.
    wanted = dict.fromkeys((*told, *(name for name in found if name in own or "/" in name)))
    wrong = [name for name in wanted if found.get(name) != told.get(name)]
    for name in wrong:
        what = "not what was written with the release" if name in found else "not there"
        yield fails("kept files", f"'{name}' is {what}")
    if not wrong:
        yield holds("kept files", f"{len(told)} internal files are those that were written with the release")


def _limits(gates: Gates) -> dict[str, Any]:
    return gates.model_dump(exclude_none=True)


def _facts(opened: OpenedRelease, output: Output) -> dict[str, Any]:
    """What can be said of a published file, from the plan and from the file itself."""
    assert opened.plan is not None
    facts = None
    for own, step in opened.record_outputs():
        if own == output:
            found = opened.released(output, step)
            quasi = found.with_role("quasi-identifier")
            fits = found.links.size and found.links.max() < found.frame.height
            facts = Facts(found.frame.columns, measured_k(found, quasi) if quasi and fits else None)
    return output_facts(opened.plan, output, facts)


def agreement_checks(opened: OpenedRelease) -> Iterator[Check]:
    """What both manifests and the plan say is the same."""
    plan, inside, manifest = opened.plan, opened.inside, opened.manifest
    assert plan is not None and inside is not None
    gates = [GateOutcome(**item) for item in inside["gates"]]
    told = {
        "release": (manifest.get("release"), inside.get("release"), plan.about.name),
        "type": (manifest.get("type"), inside.get("type"), plan.about.type),
        "intruders": (inside.get("intruders"), list(plan.about.intruders)),
        "date": (manifest.get("created"), inside.get("created")),
        "outputs": (manifest["outputs"], inside["outputs"]),
        "inputs": (sorted(inside["inputs"]), sorted(plan.sources)),
        "operations": (manifest.get("operations"), [step.do for step in plan.steps]),
        "settings": (
            [item.get("settings") for item in inside["steps"]],
            json.loads(json.dumps([dict(step.values) for step in plan.steps], default=str)),
        ),
        "limits": (
            {(gate.step, gate.name): gate.limit for gate in gates},
            {(name, gate): limit for name, own in plan.gates.items() for gate, limit in _limits(own).items()},
        ),
        "kinds of the files": (
            [
                {name: value for name, value in item.items() if name not in ("file", "sha256", *SIGNS)}
                for item in manifest["outputs"]
            ],
            [_facts(opened, item) for item in plan.outputs if item.public],
        ),
        "guarantees": (manifest.get("guarantees"), guarantees(plan, gates, manifest["outputs"])),
    }
    differing = [name for name, values in told.items() if any(value != values[0] for value in values)]
    for name in differing:
        verb = "is" if name in ("release", "type", "date") else "are"
        yield fails("agreement", f"the {name} {verb} not the same in the manifests and the plan")
    if not differing:
        yield holds("agreement", "the public manifest, the internal one and the plan say the same")
    wanted = {(name, gate) for name, own in plan.gates.items() for gate in _limits(own)}
    missing = wanted - {(gate.step, gate.name) for gate in gates if gate.passed}
    for step, name in sorted(missing):
        yield fails("agreement", f"the gate '{name}' of step '{step}' was not passed when it was made")
