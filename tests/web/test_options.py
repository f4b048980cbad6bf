"""The options of every method as a form: complete, explained, and refused before a run starts if they are wrong."""

import httpx
import pytest
from tests.web.serving import finished

from shoal.appointments.methods import METHODS as APPOINTMENTS
from shoal.errors import InputError
from shoal.microdata.grouping.methods import METHODS as GROUPING
from shoal.microdata.microaggregation.methods import METHODS as RECORDS
from shoal.microdata.recoding.methods import METHODS as RECODING
from shoal.runtime import Method
from shoal.settings import changed, fields
from shoal.tables.methods import METHODS as TABLES
from shoal.web.activities import ACTIVITIES
from shoal.web.pages.method_picker import as_command
from shoal.written_values import split_options

EVERY = [
    pytest.param(method, id=f"{registry.domain} {name}")
    for registry in (RECORDS, RECODING, GROUPING, TABLES, APPOINTMENTS)
    for name, method in registry.items()
]


@pytest.mark.parametrize("method", EVERY)
def test_every_option_has_a_field_that_explains_it(method: Method) -> None:
    model = method.options_model
    items = fields(model)
    assert {field.name for field in items} == set(model.model_fields)
    usual = method.configure()
    for field in items:
        assert field.sentence, f"{field.name} has no description"
        assert field.kind != "text", f"{field.name} has a type that no field shows"
        assert field.default == getattr(usual, field.name)
        if field.kind == "choice":
            assert field.default in field.choices
        # What lies outside the bounds that the field shows is refused by the model, too.
        for limit, step in ((field.least, -1), (field.most, 1), (field.above, 0), (field.below, 0)):
            if limit is not None:
                with pytest.raises(InputError, match=field.name):
                    method.configure({field.name: limit + step})


@pytest.mark.parametrize("method", EVERY)
def test_a_form_left_as_it_is_asks_for_nothing(method: Method) -> None:
    model = method.options_model
    usual = {field.name: field.default for field in fields(model)}
    assert changed(model, usual) == {}
    # Number fields of a page give floats, and nothing when they are empty.
    floats = {name: float(value) if type(value) is int else value for name, value in usual.items()}
    assert changed(model, floats) == {}
    assert changed(model, dict.fromkeys(usual)) == {}


def test_what_the_form_asks_for_is_what_the_command_line_takes() -> None:
    options = {"streams": 4, "recombine": False, "growth": 2.5}
    pairs = as_command(options).replace("--option ", "").split(" ")
    assert split_options(pairs) == options


@pytest.mark.parametrize(
    ("kind", "request_", "words"),
    [
        ("microaggregate", {"data": "d", "method": "ils", "options": {"streams": 0}}, "streams"),
        ("group", {"data": "d", "method": "gomm", "options": {"populaton": 3}}, "did you mean 'population'"),
        (
            "suppress",
            {"data": "d", "method": "heurgene", "options": {"configuration": "all"}},
            "configuration",
        ),
        ("assign", {"people": "p", "slots": "s", "quasi": ["a"], "method": "annealling"}, "did you mean"),
    ],
)
def test_wrong_options_are_refused_before_a_run(kind: str, request_: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        ACTIVITIES[kind].check(request_)


@pytest.mark.xdist_group("web")
def test_the_api_takes_the_same_options(api: httpx.Client) -> None:
    sent = api.post("/api/data", files={"file": ("small.csv", b"a,b\n" + b"1,2\n3,5\n4,1\n9,9\n" * 6)}).json()
    finished(api, sent["run"])
    request = {"data": "small", "k": 3, "columns": ["a", "b"], "method": "v-mdav", "options": {"gamma": 1.1}}
    run = api.post("/api/jobs/microaggregate", json=request).json()["run"]
    assert finished(api, run)["state"] == "done"
    wrong = api.post("/api/jobs/microaggregate", json={**request, "options": {"gamma": -1}})
    assert wrong.status_code == 422
    assert "option 'gamma' of method 'v-mdav'" in wrong.json()["error"]
    high = api.post("/api/jobs/microaggregate", json={**request, "require_k": 20}).json()["run"]
    view = finished(api, high)
    # Nothing goes out but the report that says why.
    assert (view["state"], view["error"]) == ("failed", "infeasible")
    assert [file["name"] for file in view["files"]] == ["report.html"]
    assert "below the required 20" in view["message"]
