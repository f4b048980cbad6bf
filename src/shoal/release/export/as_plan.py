"""Steps as a plan for ``shoal release``."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from shoal.errors import InputError
from shoal.release.export.taken import Source, Taken, as_list, needed, noted, placed
from shoal.release.plan.plan import is_step, products
from shoal.release.plan.written import toml_value

_NO_NAME = re.compile(r"\W+")
#: What is no part of a plan: it is repeated by counts and not by the clock, on any number of cores, with its own secret.
_NOT_IN_PLANS = ("time_limit", "threads", "secret")


def plan_text(
    name: str, sources: Mapping[str, Source], steps: Sequence[Taken], roles: Mapping[str, Mapping[str, str]]
) -> str:
    """The steps as a plan for ``shoal release``.

    >>> step = Taken("coarser", "recode", {"data": "people", "quasi": ["age"], "k": 5})
    >>> text = plan_text("survey", {"people": Source("people.csv")}, [step], {"people": {"age": "quasi-identifier"}})
    >>> from pathlib import Path
    >>> from shoal.release.plan.reader import parse_plan
    >>> parse_plan(text, Path()).steps[0].name
    'coarser'
    """
    releasing = [step for step in steps if is_step(step.do)]
    if not releasing:
        raise InputError("none of these steps releases anything; a plan needs one that does")
    places = {name: source.location for name, source in sources.items()}
    names = _plain_names([*sources, *(step.name for step in releasing)])
    read = needed(sources, releasing)
    parts = [f"[release]\nname = {toml_value(_NO_NAME.sub('-', name).strip('-') or 'release')}\n"]
    parts += ["".join(f"{line}\n" for line in noted(read))] if noted(read) else []
    for source, where in read.items():
        given = roles.get(source, {})
        lines = "".join(f"{toml_value(column)} = {toml_value(role)}\n" for column, role in given.items())
        parts.append(f"[sources.{names[source]}]\ndata = {toml_value(where.location)}\n")
        if lines:
            parts.append(f"[sources.{names[source]}.roles]\n{lines}")
    renamed = [_renamed(step, names) for step in releasing]
    for step in renamed:
        lines = "".join(f"{key} = {toml_value(value)}\n" for key, value in _settings(step, places).items())
        parts.append(f"[[steps]]\nname = {toml_value(step.name)}\ndo = {toml_value(step.do)}\n{lines}")
    for step in renamed:
        lines = "".join(f"{key} = {toml_value(value)}\n" for key, value in step.gates.items())
        parts += [f"[gates.{step.name}]\n{lines}"] if lines else []
    parts.append(_outputs(renamed))
    return "\n".join(parts)


def _settings(step: Taken, places: Mapping[str, str]) -> dict[str, Any]:
    """The settings of a step that a plan may have."""
    release = step.operation.release
    without = (*_NOT_IN_PLANS, "seed") if release and release.repeated_by_secret else _NOT_IN_PLANS
    return {name: value for name, value in placed(step, places).items() if name not in without}


def _renamed(step: Taken, names: Mapping[str, str]) -> Taken:
    own = dict(step.settings)
    for field_name in step.data:
        given = own.get(field_name)
        if isinstance(given, str):
            own[field_name] = names.get(given, given)
        elif given:
            own[field_name] = [names.get(item, item) for item in given]
    return replace(step, name=names[step.name], settings=own)


def _plain_names(names: Sequence[str]) -> dict[str, str]:
    """Names that a plan can have, each once.

    >>> _plain_names(["Häuser 2024", "h-user-2024", "2024"])
    {'Häuser 2024': 'H-user-2024', 'h-user-2024': 'h-user-2024', '2024': 'data-2024'}
    """
    found: dict[str, str] = {}
    for name in names:
        wanted, number = _plain(name), 2
        while wanted in found.values():
            wanted, number = f"{_plain(name)}-{number}", number + 1
        found[name] = wanted
    return found


def _plain(name: str) -> str:
    found = re.sub(r"[^\w-]+", "-", name, flags=re.ASCII).strip("-")
    return found if found[:1].isalpha() else f"data-{found}"


def _outputs(steps: Sequence[Taken]) -> str:
    used = {data for step in steps for name in step.data for data in as_list(step.settings.get(name))}
    ends = [step for step in steps if step.name not in used]
    public = [step for step in ends if products(step.do, public=True)]
    inside = [step for step in ends if step not in public]
    lines = "".join(f'"{step.name}.csv" = {toml_value(step.name)}\n' for step in public)
    kept = "".join(f'"{step.name}.csv" = {toml_value(step.name)}\n' for step in inside)
    return (f"[outputs]\n{lines}" if lines else "") + (f"\n[internal]\n{kept}" if kept else "")
