"""Models of privacy and special uniques, asked of the workbench: data by name, figures and files as on the command line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.runtime.control import Control
from shoal.web.activities import anonymity, risk
from shoal.web.jobs.context import Context
from shoal.web.jobs.task import Task
from shoal.web.workspace import Workspace

RUN = "0123456789ab"
KEYS = ["zip", "sex"]
TREE = [["flu", "short", "*"], ["gout", "long", "*"], ["asthma", "long", "*"]]


def _town() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "zip": ["a"] * 20 + ["b"] * 19 + ["c"],
            "sex": ["man", "woman"] * 20,
            "ill": [["flu", "gout", "asthma"][n * n % 3] for n in range(40)],
        }
    )


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    workspace = Workspace(tmp_path / "bench")
    folder = workspace.path("runs", RUN)
    folder.mkdir()
    control = Control.shared(folder)
    assert control.path is not None
    found = Context(Task(RUN, "anonymity", {}, workspace.folder, control.path, {}), lambda message: None)
    found.datasets.add(_town(), "town", "test")
    found.datasets.add(pl.concat([_town()] * 3), "country", "test")
    found.datasets.add(pl.DataFrame(TREE, schema=["value", "1", "2"], orient="row"), "tree", "test")
    yield found
    control.close()


def test_models_are_measured_with_data_of_the_workspace(context: Context) -> None:
    asked: dict[str, Any] = {
        "data": ["town"],
        "quasi": KEYS,
        "confidential": ["ill"],
        "models": ["distinct(2)", "closeness(0.2,hierarchical)", "k-map(5)"],
        "hierarchies": {"ill": "tree"},
        "population": "country",
    }
    activity = anonymity.ACTIVITY
    (table,) = activity.run(activity.request_model(**asked), context)["tables"]
    expected = shoal.anonymity(
        _town(),
        KEYS,
        confidential="ill",
        models=asked["models"],
        hierarchies={"ill": TREE},
        population=pl.concat([_town()] * 3),
    )
    assert [one["worst"] for one in table["models"]] == [one.worst for one in expected.models]
    assert [one["holds"] for one in table["models"]] == [False, False, False]


def test_special_uniques_are_told_and_kept_as_an_internal_file(context: Context) -> None:
    activity = risk.ACTIVITY
    asked = {"data": "town", "quasi": [*KEYS, "ill"], "special_uniques": True, "max_size": 2}
    found = activity.run(activity.request_model(**asked), context)["special_uniques"]
    expected = shoal.risk(_town(), [*KEYS, "ill"], special_uniques=True, max_size=2).special_uniques
    assert expected is not None and found["records"] == expected.records > 0
    written = pl.read_csv(next(context.folder.glob("special-uniques*")))
    assert written["score"].to_list() == expected.scores.tolist()


def test_without_special_uniques_there_is_no_file_of_them(context: Context) -> None:
    activity = risk.ACTIVITY
    found = activity.run(activity.request_model(data="town", quasi=KEYS), context)
    assert found["special_uniques"] is None and not list(context.folder.glob("special-uniques*"))
