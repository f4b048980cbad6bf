"""Whether a request agrees with the data it is about: the data are there, they have the columns, rules are rules, and the
settings go together.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, parameter, unknown
from shoal.settings import SettingField

if TYPE_CHECKING:
    from shoal.operation import DataName, Operation
    from shoal.web.datasets import Datasets

#: What a run of the workbench writes: all that there is, and what goes with it anyway is not asked for.
_RELEASED = frozenset({"output"})
#: Whose check is of what a command names: the workbench finds the slots by the name of the people.
_AS_A_COMMAND = ("assign",)
#: Settings that name columns of numbers; what averages takes no others either.
_NUMBERS = ("value", "weight", "sample_weights")
_AVERAGING = ("microaggregate", "group")
_LOOKED_AT = 100


def named_data(operation: "Operation", request: dict[str, Any]) -> list[str]:
    """The data of the workspace that a request names.

    >>> from shoal.operations import OPERATIONS
    >>> named_data(OPERATIONS["recode"], {"data": "people", "hierarchies": {"age": "bands", "zip": "star"}})
    ['people', 'bands']
    """
    return [name for item, value in _present(operation, request) for name in item.places(value)]


def agree(operation: "Operation", request: dict[str, Any], datasets: "Datasets") -> None:
    """Refuse a request that its data cannot answer, before anything runs; an ``InputError`` names the setting."""
    for name in named_data(operation, request):
        if name not in datasets:
            raise unknown("data", name[:100], datasets.names(), where="in the workspace")
    settings = operation.settings.model_validate(request)
    if operation.name not in _AS_A_COMMAND:
        operation.check(settings, _RELEASED)
    tables = operation.tables_with_columns(settings)
    for item, value in _present(operation, request):
        try:
            item.check(value)
            for together in tables:
                _has_columns(item.names(value), [str(name) for name in together], datasets)
            if item.name in _NUMBERS or (operation.name in _AVERAGING and item.name == "columns"):
                ordered = request.get("ordinal") or {}
                _are_numbers([name for name in item.names(value) if name not in ordered], tables, datasets)
        except InputError as problem:
            raise problem.about(parameter(item.name)) from None


def _are_numbers(names: list[str], tables: "list[tuple[DataName, ...]]", datasets: "Datasets") -> None:
    """Refuse columns of texts that hold no numbers; the first records tell."""
    for table in {str(table) for together in tables for table in together}:
        dataset = datasets[table]
        texts = [name for name in names if dict(zip(dataset.columns, dataset.types)).get(name) == "text"]
        if not texts:
            continue
        head = datasets.head(table, _LOOKED_AT)
        for name in texts:
            if head[name].cast(float, strict=False).null_count() > head[name].null_count():
                raise InputError(f"column '{name}' holds texts, and numbers are needed")


def _present(operation: "Operation", request: dict[str, Any]) -> Iterator[tuple[SettingField, Any]]:
    for item in operation.fields("workbench"):
        if request.get(item.name) is not None:
            yield item, request[item.name]


def _has_columns(names: list[str], tables: list[str], datasets: "Datasets") -> None:
    if not names:
        return
    for table in tables:
        if table not in datasets:
            raise unknown("data", table[:100], datasets.names(), where="in the workspace")
    known = dict.fromkeys(column for table in tables for column in datasets[table].columns)
    for name in names:
        if name not in known:
            raise unknown("column", name[:100], known, where=f"in {' or '.join(map(repr, tables))}")
