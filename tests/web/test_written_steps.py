"""What was run in the workbench, written down: the script, the commands and the plan give what the runs gave."""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command
from tests.waiting import GUARD
from tests.web.serving import Served, finished, served

import shoal

pytestmark = pytest.mark.xdist_group("web")

_RANDOM = np.random.default_rng(7)
_COUNT = 120
SURVEY = pl.DataFrame(
    {
        "person_name": [f"Ana {number}" for number in range(_COUNT)],
        "region": _RANDOM.choice(["north", "south"], _COUNT),
        "sex": _RANDOM.choice(["f", "m"], _COUNT),
        "age": _RANDOM.integers(20, 60, _COUNT),
        "job": _RANDOM.choice(["a", "b", "c"], _COUNT),
        "pay": np.round(_RANDOM.lognormal(9, 0.6, _COUNT)),
    }
)
BANDS = pl.DataFrame({"age": list(range(20, 60)), "band": [f"{age // 20 * 20}s" for age in range(20, 60)]})
TABLE = {"source": "records", "dimensions": ["region", "job"], "value": "pay", "rules": ["p-percent(30)"]}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A workbench of its own with steps of every kind, and a folder with what they read."""
    folder = tmp_path_factory.mktemp("taken")
    with (
        served(folder / "workspace") as found,
        httpx.Client(base_url=found.root, headers=found.headers, timeout=GUARD) as api,
    ):
        runs = _take_steps(api)
        away = folder / "away"
        away.mkdir()
        SURVEY.write_csv(away / "survey.csv")
        BANDS.write_csv(away / "bands.csv")
        for form in ("plan.toml", "script.py", "commands.sh"):
            (away / form).write_text(api.get(f"/api/steps/{form}").text)
        own = found.folder / "runs"
        shutil.copy(own / runs["perturb"] / "secret.txt", away / "perturb-secret.txt")
        yield SimpleNamespace(served=found, api=api, runs=runs, folder=away, kept=own)


def _take_steps(api: httpx.Client) -> dict[str, str]:
    for name, frame in (("survey", SURVEY), ("bands", BANDS)):
        sent = api.post("/api/data", files={"file": (f"{name}.csv", frame.write_csv().encode())})
        finished(api, sent.json()["run"])
    # Nobody could guess that this job says who somebody is; it is removed because the workbench was told so.
    api.put("/api/data/survey/roles", json={"job": "other", "person_name": "unit"})
    runs = {}

    def take(kind: str, **request: Any) -> str:
        view = finished(api, api.post(f"/api/jobs/{kind}", json=request).json()["run"])
        assert view["state"] == "done", view
        runs[kind] = view["run"]
        return view["run"]

    keys = ["region", "sex", "age"]
    release = take(
        "recode",
        data="survey",
        quasi=keys,
        k=4,
        hierarchies={"age": "bands"},
        method="lattice",
        options={},
        seed=3,
    )
    low = take("microaggregate", data="survey", columns=["pay"], k=3, method="ils", iterations=40)
    api.post(f"/api/jobs/{low}/confirm")
    take("perturb", data="survey", method="rank-swap", columns=["pay"], window=10)
    take("anonymity", data=["survey"], quasi=keys)
    take("suppress", data="survey", **TABLE)
    take("compare", data="survey", runs=[release], columns=["pay"])
    return runs


def _released(made: SimpleNamespace, kind: str) -> pl.DataFrame:
    return pl.read_parquet(made.kept / made.runs[kind] / "release.parquet")


def _same(found: pl.DataFrame, wanted: pl.DataFrame, *, order: bool = True) -> None:
    if not order:
        found, wanted = found.sort(found.columns), wanted.sort(wanted.columns)
    assert found.columns == wanted.columns
    text = [frame.with_columns(pl.selectors.float().round(6)).write_csv() for frame in (found, wanted)]
    assert text[0] == text[1]


def test_the_script_gives_the_same(made: SimpleNamespace) -> None:
    place = made.folder / "by-script"
    shutil.copytree(made.folder, place, ignore=shutil.ignore_patterns("by-*"))
    subprocess.run([sys.executable, "script.py"], check=True, cwd=place)
    for kind in ("recode", "microaggregate", "perturb"):
        _same(pl.read_csv(place / f"{kind}.csv"), _released(made, kind))
    published = pl.read_csv(made.kept / made.runs["suppress"] / "published.csv", infer_schema=False)
    assert pl.read_csv(place / "suppress.csv", infer_schema=False).equals(published)
    text = (place / "script.py").read_text()
    # A name that was removed by its role, and not for how it looks, is named.
    assert 'drop=["person_name"]' in text and "record_links=recode.record_links" in text


def test_the_commands_give_the_same(made: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    place = made.folder / "by-commands"
    shutil.copytree(made.folder, place, ignore=shutil.ignore_patterns("by-*"))
    monkeypatch.chdir(place)
    said = {}
    for line in (place / "commands.sh").read_text().splitlines():
        words = shlex.split(line)
        done = command(*words[1:], "--json")
        assert done.code == 0, (line, done)
        said[words[1]] = done
    for kind in ("recode", "microaggregate", "perturb"):
        _same(pl.read_parquet(f"{kind}.parquet"), _released(made, kind))
    published = pl.read_csv(made.kept / made.runs["suppress"] / "published.csv", infer_schema=False)
    assert pl.read_csv("suppress-published.csv", infer_schema=False).equals(published)
    compared = made.api.get(f"/api/jobs/{made.runs['compare']}/result").json()["releases"][0]
    assert said["compare"].json["il"] == pytest.approx(compared["il"])


def test_the_plan_is_released_with_the_same(made: SimpleNamespace) -> None:
    text = (made.folder / "plan.toml").read_text()
    assert "[gates.recode]\nk = 4" in text and "[gates.suppress]\nsafe = true" in text
    # Several releases of the same people would give away more together; one of them goes out.
    others = ('"microaggregate.csv"', '"perturb.csv"')
    one = "".join(line for line in text.splitlines(keepends=True) if not line.startswith(others))
    (made.folder / "one.toml").write_text(one)
    done = shoal.release(made.folder / "one.toml", made.folder / "by-plan")
    public = done.folder / "public"
    _same(pl.read_csv(public / "recode.csv"), _released(made, "recode"), order=False)
    assert (public / "suppress.csv").is_file()


def test_a_release_below_k_stops_at_the_gate_of_its_plan_until_somebody_knows(made: SimpleNamespace) -> None:
    api = made.api
    low = {"data": "survey", "columns": ["pay"], "k": 5, "method": "mdav", "quasi": ["region", "age", "pay"]}
    view = finished(api, api.post("/api/jobs/microaggregate", json=low).json()["run"])
    assert "below the k = 5" in view["held_back"]
    assert "[gates.microaggregate-2]\nk = 5" in api.get("/api/steps/plan.toml").text
    api.post(f"/api/jobs/{view['run']}/confirm")
    assert "[gates.microaggregate-2]" not in api.get("/api/steps/plan.toml").text


def test_data_that_came_in_no_file_can_be_fetched(made: SimpleNamespace, workbench: Served) -> None:
    api = made.api
    finished(api, api.post("/api/data/samples/slots").json()["run"])
    finished(api, api.post("/api/data/samples/people").json()["run"])
    request = {"people": ["people"], "slots": ["slots"], "quasi": ["CP"], "method": "greedy", "seed": 1}
    view = finished(api, api.post("/api/jobs/assign", json=request).json()["run"])
    assert view["state"] == "done"
    commands = api.get("/api/steps/commands.sh").text
    assert "shoal assign people.parquet slots.parquet --quasi CP" in commands
    assert "# people.parquet: sample data, invented" in commands
    answer = api.get("/api/data/people/records")
    assert pl.read_parquet(answer.content).height == 2000
    assert api.get("/api/data/nobody/records").status_code == 404
