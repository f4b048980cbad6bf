"""Steps as commands of a shell, each writing what the next one reads."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from shoal.operation_release import RecordsRelease
from shoal.release.export.as_script import secret_of
from shoal.release.export.taken import (
    Source,
    Taken,
    as_list,
    needed,
    noted,
    placed,
)
from shoal.release.plan.written import comment
from shoal.settings import SHARE, SettingField


def shell_commands(sources: Mapping[str, Source], steps: Sequence[Taken]) -> str:
    """The steps as commands, each writing what the next one reads.

    >>> step = Taken("coarser", "recode", {"data": "people", "quasi": ["age"], "k": 5})
    >>> print(shell_commands({"people": Source("people.csv")}, [step]), end="")
    shoal recode people.csv --quasi age -o coarser.parquet
    """
    files = {name: source.location for name, source in sources.items()}
    compared = {name for step in steps for name in as_list(step.settings.get(step.written.compares))}
    outside = {source.location for source in sources.values() if source.from_environment}
    lines = noted(needed(sources, steps))
    for step in steps:
        files[step.name] = _written(step)
        cannot = _cannot(step)
        if cannot:
            what = f"{step.name} ({step.do}): {', '.join(cannot)} cannot be said here; the plan holds it"
            lines.append(comment(what))
            continue
        for one in step.in_two() if step.from_records else (step,):
            files[one.name] = _written(one)
            words = _command(one, files, links=one.name in compared)
            lines.append(" ".join(_quoted(word, outside) for word in words))
    return "\n".join(lines) + "\n"


def _written(step: Taken) -> str:
    return f"{step.name}.{step.written.ending}"


def _links(file: str) -> str:
    return f"{file.rpartition('.')[0]}-links.csv"


def _cannot(step: Taken) -> list[str]:
    """What the step says and its command does not take."""
    command = {item.name for item in step.operation.fields("command")}
    built = step.from_records
    left = [
        name
        for name in step.chosen
        if name not in command and not built and name not in ("source", "diversity", "original", "protected")
    ]
    return [name.replace("_", " ") for name in dict.fromkeys([*step.unsayable, *left])]


def _command(step: Taken, files: Mapping[str, str], *, links: bool) -> list[str]:
    operation, said = step.operation, placed(step, files)
    for name, other in step.written.joined:
        if said.get(name):
            usual = operation.settings.model_fields[other].default
            said[name] = f"{said[name]}={step.settings.get(other) or usual}"
    words, options = ["shoal", step.do], []
    for item in operation.fields("command"):
        value = said.get(item.name)
        if value is None or value in ([], {}):
            continue
        if item.kind in ("data", "several-data"):
            places = [files.get(data, data) for data in as_list(value)]
            words += places if item.argument else [part for place in places for part in (item.option, place)]
        else:
            options += _option(item, value)
    for name in as_list(step.settings.get(step.written.compares)):
        options += ["--record-links", _links(files.get(name, name))]
    if step.drawn and "seed" not in said:
        options += ["--secret", secret_of(step)]
    if links and isinstance(operation.release, RecordsRelease):
        options += ["--record-links", _links(_written(step))]
    for product in operation.products:
        if operation.release and product.name == operation.release.product and product.short != "-o":
            options += [product.option, f"{step.name}-{product.name}.csv"]
    if any(product.short == "-o" for product in operation.products):
        options += ["-o", _written(step)]
    return [*words, *options]


def _option(item: SettingField, value: Any) -> list[str]:
    if item.kind == "switch":
        return [item.option]
    name = item.short or item.option
    if item.metavar == SHARE and value > 1:
        # Commands take more than the whole in percent alone.
        return [name, f"{100 * value:g}%"]
    if item.spelling is None:
        return [name, str(value)]
    if not item.spelling.repeated:
        return [name, item.spelling.write(value)]
    each = (
        [item.spelling.write({key: one}) for key, one in value.items()]
        if isinstance(value, Mapping)
        else value
    )
    return [part for one in each for part in (name, str(one))]


def _quoted(word: str, outside: Collection[str]) -> str:
    """A word for a shell; of the places ``outside`` the variable of the environment stays one.

    >>> print(_quoted("p-percent(10)", ()), _quoted("${SHOAL_SOURCE}::people", {"${SHOAL_SOURCE}::people"}))
    'p-percent(10)' "${SHOAL_SOURCE}"::people
    """
    if word in outside:
        variable, _, rest = word.partition("}")
        return f'"{variable}}}"{shlex.quote(rest)}'
    return shlex.quote(word)
