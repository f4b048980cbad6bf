"""What can be known to fail before anything runs: data and keys that are not there, formats, options, rules, columns, sizes."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, as_plan_setting, spelled, unknown
from shoal.microdata.columns.hierarchies.builders import RULES, builder, is_rule
from shoal.microdata.columns.units import units_in_words
from shoal.release.plan.own_steps import read_key
from shoal.release.plan.plan import Plan, Step, located
from shoal.release.readings import Readings
from shoal.sources.address import parse

if TYPE_CHECKING:
    import polars as pl

    from shoal import sources

_CALL = re.compile(r"\s*([\w-]+)\s*\(.*\)\s*")


def read_source(plan: Plan, name: str, readings: Readings) -> "sources.Data":
    """The data of a source; what is not there is told with its line."""
    try:
        return readings.read(plan.location(name))
    except InputError as problem:
        raise plan.wrong(("sources", name, "data"), f"source '{name}': {_in_words(problem)}") from None


def expect_keys(plan: Plan) -> None:
    """The keys of pseudonyms must be there."""
    for number, step in enumerate(plan.steps):
        where = step.outer_key
        if where is not None:
            try:
                read_key(where, plan.folder)
            except InputError as problem:
                raise plan.wrong(("steps", number, "key"), f"step '{step.name}': {problem}") from None


def expect_feasible(plan: Plan, frames: "Mapping[str, pl.DataFrame]") -> None:
    """Refuse what no run could do, with its line."""
    for output in plan.outputs:
        if _is_data(plan.step(output.step), output.product):
            try:
                parse(output.file)
            except InputError as problem:
                part = "outputs" if output.public else "internal"
                raise plan.wrong((part, output.file), str(problem)) from None
    for number, step in enumerate(plan.steps):
        for key, why in _faults(plan, step, frames):
            raise plan.wrong(("steps", number, key), f"step '{step.name}': {why}")
    for name, gates in plan.gates.items():
        if plan.step(name).as_records and gates.k is not None:
            there, counted = _units(plan, plan.step(name), frames)
            if gates.k > there:
                raise plan.wrong(
                    ("gates", name, "k"), f"k is {gates.k}, and there are {there} {counted} in all"
                )


def _is_data(step: Step, product: str) -> bool:
    return all(item.form == "data" for item in step.operation.products if item.name == product)


def _in_words(problem: InputError) -> str:
    return spelled(problem.template, as_plan_setting)


def _units(plan: Plan, step: Step, frames: "Mapping[str, pl.DataFrame]") -> tuple[int, str]:
    """How many units, or records, there are, and what they are called."""
    frame, unit = frames[plan.source_of(step.name)], plan.unit(step.name)
    return frame.height if unit is None else frame[unit].n_unique(), units_in_words(unit)[1]


def _faults(plan: Plan, step: Step, frames: "Mapping[str, pl.DataFrame]") -> Iterator[tuple[str, str]]:
    """What is wrong with a step: the setting, and why."""
    settings, release = step.settings, step.as_records
    registry, method = step.operation.registry, getattr(settings, "method", "")
    if registry is not None and method in registry:
        try:
            registry[method].configure(getattr(settings, "options", {}))
        except InputError as problem:
            yield "options", _in_words(problem)
    k = getattr(settings, "k", None)
    if release and isinstance(k, int):
        there, counted = _units(plan, step, frames)
        if k > there:
            yield "k", f"k is {k}, and there are {there} {counted} in all"
    for key, why in release.faults(settings, frames[plan.source_of(step.name)]) if release else ():
        yield key, spelled(why, as_plan_setting)
    yield from _rules_and_files(plan, step)


def _rules_and_files(plan: Plan, step: Step) -> Iterator[tuple[str, str]]:
    """Rules of hierarchies must be known, and files that settings name must be there."""
    known = {str(name).partition(".")[0] for name in step.inputs}
    for key, given in step.values.items():
        if key == "hierarchies" and isinstance(given, Mapping):
            for column, text in given.items():
                called = _CALL.fullmatch(str(text))
                try:
                    if is_rule(str(text)):
                        builder(str(text))
                    elif called:
                        raise unknown("rule", called.group(1), tuple(RULES), where="a rule of hierarchies")
                except InputError as problem:
                    yield key, f"column '{column}': {_in_words(problem)}"
    for name in dict.fromkeys(str(item) for item in step.operation.reads(step.settings)):
        if name.partition(".")[0] in known or "://" in name:
            continue
        path = located(name, plan.folder).split("::")[0]
        if not Path(path).exists():
            key = next((key for key, given in step.values.items() if name in _named(given)), "do")
            yield key, f"there is no file '{name}'"


def _named(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list) else [value]
