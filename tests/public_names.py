"""What somebody types, reads by machine or has stored, and what therefore keeps its name.

    python -m tests.public_names        writes public_names.json anew: names may be added, none may go

Commands with options and values, keys of JSON, REST, what ``import shoal`` offers with parameters and attributes of results,
and keys of plans, manifests and the register.
"""

import inspect
import json
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import polars as pl
from tests.release.plans import survey

import shoal
from shoal.operations import OPERATIONS
from shoal.release.plan import plan
from shoal.release.register.register import REGISTER

PATH = Path(__file__).with_name("public_names.json")


def collect() -> dict[str, list[str]]:
    """All names, by where they stand."""
    return {
        name: sorted(set(names()))
        for name, names in {
            "command line": _commands,
            "settings": _settings,
            "figures": _figures,
            "REST": _rest,
            "Python": _python,
            "results": _results,
            "plans": _plans,
            "releases": _releases,
        }.items()
    }


def _commands() -> Iterator[str]:
    from shoal.cli.program import _program

    program = _program()
    for name in program.list_commands(None):
        yield from _options(name, program.get_command(None, name))


def _options(name: str, command: Any) -> Iterator[str]:
    yield name
    for parameter in command.params:
        if parameter.param_type_name == "option":
            yield from (f"{name} {option}" for option in [*parameter.opts, *parameter.secondary_opts])
    for inner, sub in getattr(command, "commands", {}).items():
        yield from _options(f"{name} {inner}", sub)


def _settings() -> Iterator[str]:
    for name, operation in OPERATIONS.items():
        yield from (f"{name} {item}" for item in _of_schema(operation.settings.model_json_schema()))
        if operation.methods is not None:
            path, _, attribute = operation.methods.partition(":")
            yield from (f"{name} method {method}" for method in getattr(import_module(path), attribute))


def _figures() -> Iterator[str]:
    for name, operation in OPERATIONS.items():
        module = import_module(operation.reporter)
        yield from (f"{name} {figure}" for figure in getattr(module, "DEFINITIONS", {}))


def _rest() -> Iterator[str]:
    from shoal.web.api import application

    # Addresses are declared without a look at the workbench.
    schema = application(Mock()).openapi()
    for path, verbs in schema["paths"].items():
        yield from (f"{verb} {path}" for verb in verbs)
    for name, model in schema["components"]["schemas"].items():
        yield from (f"{name} {item}" for item in _of_schema(model))


def _python() -> Iterator[str]:
    for name in shoal.__all__:
        yield name
        item = getattr(shoal, name)
        if inspect.isfunction(item):
            yield from (f"{name} {parameter}" for parameter in inspect.signature(item).parameters)
        elif inspect.isclass(item):
            yield from (f"{name} {attribute}" for attribute in _attributes(item))


def _results() -> Iterator[str]:
    for name, make in _examples().items():
        yield from (f"{name} {attribute}" for attribute in _attributes(type(make())))


def _examples() -> dict[str, Callable[[], Any]]:
    generator = np.random.default_rng(1)
    frame = pl.DataFrame({name: generator.integers(0, 4, 40) for name in ("a", "b", "c", "d")})
    table = np.array([[10, 20, 30], [40, 50, 60], [70, 80, 90]])
    slots = pl.DataFrame({"slot": ["x", "y"], "capacity": [20, 20]})
    return {
        "anonymity": lambda: shoal.anonymity(frame, quasi=["a", "b"]),
        "microaggregate": lambda: shoal.microaggregate(frame, k=3, columns=["c", "d"]),
        "group_attributes": lambda: shoal.group_attributes(frame, k=3, columns=["a", "b", "c"]),
        "compare": lambda: shoal.compare(frame, frame, columns=["a", "b"], paired_by_position=True),
        "risk": lambda: shoal.risk(frame, quasi=["a", "b"], population=400),
        "recode": lambda: shoal.recode(frame, quasi=["a", "b"], k=3),
        "perturb": lambda: shoal.perturb(frame, method="rank-swap", columns=["c"]),
        "tabulate": lambda: shoal.tabulate(frame, dimensions=["a", "b"]),
        "suppress": lambda: shoal.suppress(table, sensitive=[("2", "2")]),
        "audit": lambda: shoal.audit(table, [("1", "1")], sensitive=[("1", "1")]),
        "assign": lambda: shoal.assign(frame, slots, quasi=["a"]),
        "assign_sizes": lambda: shoal.assign_sizes([2, 3], [4, 4]),
        "round_table": lambda: shoal.round_table(table, base=5),
        "adjust_table": lambda: shoal.adjust_table(table, sensitive=[("2", "2")]),
        "perturb_table": lambda: shoal.perturb_table(frame, dimensions=["a", "b"]),
    }


def _attributes(kind: type) -> Iterator[str]:
    names = {*dir(kind), *getattr(kind, "__dataclass_fields__", {})}
    return (name for name in names if not name.startswith("_"))


def _plans() -> Iterator[str]:
    for name, model in {"release": plan.About, "sources": plan.Source, "gates": plan.Gates}.items():
        yield from (f"{name} {item}" for item in _of_schema(model.model_json_schema()))
    for step in plan.possible_steps():
        schema = plan.operation_of(step).settings.model_json_schema()
        yield from (f"{step} {item}" for item in _of_schema(schema))


def _releases() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shoal.release(survey(folder), output=folder / "out")
        for path in ("public/manifest.json", "internal/manifest.json"):
            yield from (f"{path} {key}" for key in _keys(json.loads((folder / "out" / path).read_text())))
        yield from (f"register {key}" for key in _keys(json.loads((folder / REGISTER).read_text())))


def _of_schema(schema: dict[str, Any]) -> Iterator[str]:
    """Properties, and the values that a property may have."""
    for model in [schema, *schema.get("$defs", {}).values()]:
        for name, about in model.get("properties", {}).items():
            yield name
            yield from (f"{name} = {value}" for value in _values(about))


def _values(about: dict[str, Any]) -> Iterator[str]:
    yield from (str(value) for value in about.get("enum", []))
    for part in [*about.get("anyOf", []), *([about["items"]] if "items" in about else [])]:
        yield from _values(part)


def _keys(value: Any, within: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield f"{within}{name}"
            yield from _keys(item, f"{within}{name}.")
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item, within)


if __name__ == "__main__":
    PATH.write_text(json.dumps(collect(), indent=1, ensure_ascii=False) + "\n")
