"""Steps as a Python script: calls of the public functions, whose results are those of the steps."""

import inspect
import json
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shoal.arguments import with_keywords
from shoal.errors import KEYWORDS
from shoal.import_paths import load
from shoal.release.export.taken import (
    Source,
    Taken,
    as_list,
    needed,
    noted,
    placed,
)
from shoal.release.plan.written import comment
from shoal.settings import fields

_BUDGET = {"iterations": "iterations", "time_limit": "seconds", "target": "target"}
_TAKEN = ("shoal", "sources", "os", *keyword.kwlist)
# What is read by commands alone.
_OF_COMMANDS = ("metadata", "zeros", "linked_tables")
_DEFINITIONS = ("scaling", "around", "widths", "ties", "within")


def python_script(sources: Mapping[str, Source], steps: Sequence[Taken]) -> str:
    """The steps as calls of public functions.

    >>> step = Taken("coarser", "recode", {"data": "people", "quasi": ["age"], "k": 5})
    >>> print(python_script({"people": Source("people.csv")}, [step]), end="")
    import shoal
    from shoal import sources
    <BLANKLINE>
    people = sources.read("people.csv").frame
    coarser = shoal.recode(people, quasi=["age"])
    sources.write(coarser.frame, "coarser.csv")
    """
    script = _Script(sources, steps)
    for step in steps:
        script.add(step)
    return script.text()


class _Script:
    """Grows line by line; every source and step has a variable of its own."""

    def __init__(self, sources: Mapping[str, Source], steps: Sequence[Taken]) -> None:
        self._sources = needed(sources, steps)
        self._places = {name: source.location for name, source in sources.items()}
        self._variables: dict[str, str] = {}
        for name in (*self._sources, *(step.name for step in steps)):
            self._variables[name] = _free(name, self._variables.values())
        self._frames = {name: self._variables[name] for name in self._sources}
        self._lines: list[str] = []

    def text(self) -> str:
        reading = [
            f"{self._variables[name]} = sources.read({_location(source)}).frame"
            for name, source in self._sources.items()
        ]
        body = "\n".join([*noted(self._sources), *reading, *self._lines])
        imports = ["import os", ""] if "os." in body else []
        return "\n".join([*imports, "import shoal", "from shoal import sources", "", body]) + "\n"

    def add(self, step: Taken) -> None:
        """The call of a step, and what it writes."""
        if why := _cannot(step):
            self._lines.append(comment(f"{step.name} ({step.do}): {why}"))
            return
        own = self._variables[step.name]
        for line in self._called(own, step):
            self._lines.append(line)
        written = step.written
        if not written.writes:
            return
        usual = {item.name: item.default for item in fields(step.operation.settings)}
        values = {name: _literal(value) for name, value in {**usual, **step.settings}.items()}
        results = self._results(step, own)
        for number, result in enumerate(results):
            name = step.name if len(results) == 1 else f"{step.name}-{number}"
            text = written.writes.format(**values | {"result": result})
            self._lines.append(f"sources.write({text}, {_literal(name + '.csv')})")
        if written.passes_on:
            self._frames[step.name] = written.passes_on.format(result=own)

    def _called(self, own: str, step: Taken) -> Iterable[str]:
        if step.from_records:
            table, rest = step.in_two()
            self._variables[table.name] = _free(table.name, self._variables.values())
            self._frames[table.name] = self._variables[table.name]
            yield f"{self._variables[table.name]} = {self._call(table, [self._frame(table.settings['data'])])}"
            yield f"{own} = {self._call(rest, [self._frame(table.name), *self._pattern(rest)])}"
            return
        calls = []
        for names in self._read_together(step):
            first = [self._frame(name) for name in names.values()]
            compared = names.get(step.written.compares)
            links = self._variables.get(compared, compared) if compared else None
            further = [f"record_links={links}.record_links"] if links else []
            calls.append(self._call(step, [*first, *self._pattern(step)], further))
        yield f"{own} = {calls[0]}" if len(calls) == 1 else f"{own} = [{', '.join(calls)}]"

    def _read_together(self, step: Taken) -> list[dict[str, str]]:
        """The data that each call begins with, by the settings that name it."""
        named = {name: as_list(step.settings[name]) for name in step.written.first}
        count = max(map(len, named.values()))
        every = {name: data * count if len(data) == 1 else data for name, data in named.items()}
        return [dict(zip(every, data, strict=True)) for data in zip(*every.values(), strict=False)]

    def _results(self, step: Taken, own: str) -> list[str]:
        count = 1 if step.from_records else len(self._read_together(step))
        return [own] if count == 1 else [f"{own}[{number}]" for number in range(count)]

    def _pattern(self, step: Taken) -> list[str]:
        return [self._frame(step.settings["pattern"])] if step.settings.get("pattern") else []

    def _read(self, source: str | Sequence[str]) -> str:
        if isinstance(source, str):
            return self._frame(source)
        return f"[{', '.join(self._frame(name) for name in source)}]"

    def _frame(self, name: str) -> str:
        return self._frames.get(name, _literal(name))

    def _call(self, step: Taken, arguments: list[str], further: Sequence[str] = ()) -> str:
        function = load(step.operation.function)
        named = with_keywords(inspect.unwrap(function)).parameters
        words = [*arguments, *further]
        said = placed(step, self._places)
        options, limits, meant = dict(said.pop("options", {})), {}, {}
        first = ("data", "people", "slots", "original", "protected", "pattern")
        for name, value in said.items():
            if name in first:
                continue
            own = name if name in named else KEYWORDS.get(name, name)
            if name in _BUDGET and "budget" in named:
                limits[_BUDGET[name]] = value
            elif name in _DEFINITIONS and "definitions" in named:
                meant[name] = tuple(width / 100 for width in value) if name == "widths" else value
            elif own in named:
                read = self._read(value) if name in step.data else _literal(value)
                words.append(f"{own}={read}")
            elif step.written.options_hold_others:
                options[name] = value
        if options:
            words.append(f"options={_literal(options)}")
        for keyword_, what, values in (
            ("budget", "Budget", limits),
            ("definitions", "Definitions", meant),
        ):
            if values:
                inside = ", ".join(f"{name}={_literal(value)}" for name, value in values.items())
                words.append(f"{keyword_}=shoal.{what}({inside})")
        if step.drawn and "seed" not in said:
            kept = _literal(secret_of(step))
            words.append(f"secret={kept} if os.path.exists({kept}) else None")
        return f"shoal.{function.__name__}({', '.join(words)})"


def _cannot(step: Taken) -> str:
    """Why a step is no call of a function, if it is none."""
    if step.unsayable:
        what = ", ".join(name.replace("_", " ") for name in step.unsayable)
        return f"{what} was said by hand; the plan holds it"
    if left := [name for name in _OF_COMMANDS if step.chosen.get(name)]:
        return (
            f"{', '.join(name.replace('_', ' ') for name in left)} cannot be said here; the command takes it"
        )
    if step.written.needs and not step.from_records and not step.settings.get(step.written.needs):
        return "a table as it is published is read by the command"
    return ""


def secret_of(step: Taken) -> str:
    """The file with the secret of a step, which repeats it.

    >>> secret_of(Taken("swapped", "perturb", {}))
    'swapped-secret.txt'
    """
    return f"{step.name}-secret.txt"


def _location(source: Source) -> str:
    written = _literal(source.location)
    return f"os.path.expandvars({written})" if source.from_environment else written


def _literal(value: Any) -> str:
    r"""A value as Python writes it, texts in double quotes.

    >>> _literal({"quasi": ["it's", 'a "b"'], "on": True, "most": None})
    '{"quasi": ["it\'s", "a \\"b\\""], "on": True, "most": None}'
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return f"({', '.join(_literal(item) for item in value)},)"
    if isinstance(value, list):
        return f"[{', '.join(_literal(item) for item in value)}]"
    return repr(value)


def _free(name: str, taken: Iterable[str]) -> str:
    """A variable for a name.

    >>> _free("2026 survey", []), _free("lambda", []), _free("a-b", ["a_b"])
    ('data_2026_survey', 'lambda_2', 'a_b_2')
    """
    found = re.sub(r"\W", "_", name)
    found = found if found.isidentifier() else f"data_{found}"
    wanted, number, used = found, 2, {*taken, *_TAKEN}
    while wanted in used:
        wanted, number = f"{found}_{number}", number + 1
    return wanted
