"""The report of an operation as every front end writes it: the figures of its result, completed with how it was made."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from shoal.operation import Operation
from shoal.report.blocks import shown
from shoal.report.definitions import defined
from shoal.report.page import Page
from shoal.report.provenance import Chosen, Input, Provenance, without_password
from shoal.settings import Front, SettingField, Settings

_LONGEST = 400
_DATA = ("data", "several-data")


def operation_report(operation: Operation, result: Any, settings: Settings, provenance: Provenance) -> Page:
    """The report of a result: what its telling module says of it, and how it was made."""
    told = operation.reporter_module
    assure = getattr(told, "assurances", None)
    page: Page = told.page(result, settings)
    definitions = getattr(told, "DEFINITIONS", {})
    page.define(defined(definitions, told.figures(result, settings)))
    return page.complete(provenance, None if assure is None else assure(result, settings))


def settings_in_words(operation: Operation, settings: Settings, front: Front) -> tuple[Chosen, ...]:
    """Every setting that a front end has, by its label, also those left as they are; then the options of the method."""
    found = [
        _chosen(item, getattr(settings, item.name))
        for item in operation.fields(front)
        if item.name != "options"
    ]
    registry, method = operation.registry, getattr(settings, "method", "")
    if registry is None or method not in registry:
        return tuple(found)
    given = getattr(settings, "options", {})
    configured = registry[method].configure(given)
    for name, value in configured:
        # An option with a setting of its own was told there.
        if name in type(settings).model_fields:
            continue
        label = f"{name.replace('_', ' ')} (option of {method})"
        found.append(Chosen(label, _text(value), name not in given))
    return tuple(found)


def with_roles(operation: Operation, settings: Settings, inputs: Iterable[Input]) -> tuple[Input, ...]:
    """The data that was read, each with the label of the setting that named it."""
    labels: dict[str, str] = {}
    for item in operation.fields():
        value = getattr(settings, item.name)
        for name in _names(value):
            if item.kind in _DATA or item.argument or isinstance(value, str | Mapping | list):
                labels.setdefault(name, item.label)
    return tuple(
        item if item.role else replace(item, role=labels.get(item.name, "belongs to the data"))
        for item in inputs
    )


def _names(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    return [
        without_password(item)
        for item in (value if isinstance(value, list) else [value])
        if isinstance(item, str)
    ]


def _chosen(item: SettingField, value: Any) -> Chosen:
    default = not item.required and (value == item.default or value is None)
    if value in (None, [], {}) and value == item.default:
        return Chosen(item.label, item.otherwise or "–", default=True)
    if item.kind == "choice":
        word = item.words.get(str(value))
        return Chosen(item.label, str(value) if word is None else f"{value} ({word})", default)
    if item.spelling is not None and not isinstance(value, str):
        return Chosen(item.label, _short(item.spelling.write(value), value), default)
    return Chosen(item.label, _text(value), default)


def _text(value: Any) -> str:
    if isinstance(value, int | float | str) or value is None:
        # Years and postcodes are among whole numbers, and a setting is repeated as it was given.
        plain = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else shown(value)
        return _short(plain, value)
    return _short(str(value), value)


def _short(text: str, value: Any) -> str:
    text = without_password(text)
    return text if len(text) <= _LONGEST or not isinstance(value, list | dict) else f"{len(value):,} items"
