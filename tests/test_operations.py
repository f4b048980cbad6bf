"""Every operation is declared once: its settings go with the function they are for, and everything is made from them."""

import inspect

import pytest

from shoal.arguments import with_keywords
from shoal.engines import EngineSettings
from shoal.import_paths import load
from shoal.operations import OPERATIONS
from shoal.settings import fields

# What a function takes that is no setting: frames come from settings of the same meaning, searches are watched.
NO_SETTINGS = {"budget", "observer", "frame", "threads"}
# What settings name and a function gets in another form.
NO_PARAMETERS = {"data", "iterations", "time_limit", "target", "threads", *EngineSettings.model_fields}


def empty(value: object) -> object:
    """Nothing given, whichever way it is written."""
    return None if value in ((), [], {}, None) else value


@pytest.mark.parametrize("name", OPERATIONS)
def test_settings_go_with_the_signature(name: str) -> None:
    operation = OPERATIONS[name]
    function = load(operation.function)
    parameters = with_keywords(inspect.unwrap(function)).parameters
    own = inspect.signature(function).parameters
    settings = {item.name: item for item in fields(operation.settings)}
    wanted = set(parameters) - NO_SETTINGS - operation.apart
    assert wanted == set(settings) - NO_PARAMETERS - operation.apart
    for parameter in wanted:
        item, default = settings[parameter], parameters[parameter].default
        if not item.required and parameter in own:
            assert empty(default) == empty(item.default), parameter


# What is judged before or after the function of an engine is called, or holds there in any case (parts are sorted).
JUDGED_APART = {"require_k", "max_risk", "rank", "order"}


@pytest.mark.parametrize(
    ("name", "engine"), [(name, engine) for name, found in OPERATIONS.items() for engine in found.engines]
)
def test_an_engine_takes_only_what_its_function_does(name: str, engine: str) -> None:
    path = "classes:count_classes" if (engine, name) == ("stream", "anonymity") else f"{name}:{name}"
    parameters = set(inspect.signature(load(f"shoal.{engine}.{path}")).parameters)
    if "budget" in parameters:
        parameters |= {"iterations", "time_limit"}
    in_another_form = {"tabulate": {"hierarchy"}, "recode": {"method"}}.get(name, set())
    taken = OPERATIONS[name].engines[engine].takes - JUDGED_APART - set(EngineSettings.model_fields)
    assert taken - in_another_form <= parameters


@pytest.mark.parametrize("name", OPERATIONS)
def test_everything_is_said_of_a_setting(name: str) -> None:
    for item in OPERATIONS[name].fields():
        assert item.sentence.endswith(".") and item.sentence[0].isupper(), item.name
        assert item.label, item.name


@pytest.mark.parametrize("name", OPERATIONS)
def test_paths_lead_somewhere(name: str) -> None:
    operation = OPERATIONS[name]
    for function in ("figures", "facts", "tables", "page"):
        assert callable(getattr(operation.reporter_module, function))
    assert callable(getattr(operation.reporter_module, "glimpse", None)) == operation.search
    assert (operation.registry is not None) == ("method" in operation.settings.model_fields)
    assert operation.name == name
    assert operation.summary.endswith(".")
    assert all(example.startswith(f"shoal {name} ") for example in operation.examples)
