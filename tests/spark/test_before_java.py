"""What is refused or told before any Java runs: paths, versions, the Python of executors, Ctrl-C on its way."""

import logging
import os
import stat
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.cli.running import shoal

from shoal.errors import InputError

pytest.importorskip("pyspark", reason="PySpark is not installed (extra 'spark')")

from shoal.spark import session
from shoal.spark.failures import in_one_line
from shoal.spark.operations import check_there
from shoal.spark.workers import check_workers


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_a_path_where_nothing_is_starts_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HADOOP_CONF_DIR", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("shoal.spark.operations.session", lambda *asked: pytest.fail("Java was started"))
    out = tmp_path / "out"
    for name in (tmp_path / "nowhere", f"{tmp_path}/*.parquet", f"file://{tmp_path}/nowhere"):
        told_ = shoal("microaggregate", name, "--columns", "a", "-o", out, "--engine", "spark")
        assert told_.code == 2 and "there is no such file or folder" in told_.err, told_.err
    (tmp_path / "a.parquet").touch()
    for there in (tmp_path, tmp_path / "a.parquet", f"{tmp_path}/*.parquet", f"{tmp_path}/{{a,b}}.parquet"):
        check_there(str(there), None, {})
    # These are not paths of this machine, or need not be.
    check_there("hdfs:///nowhere", None, {})
    check_there("nowhere", "spark://host:7077", {})
    check_there("nowhere", None, {"spark.hadoop.fs.defaultFS": "hdfs://host"})
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    check_there("nowhere", None, {})


def test_an_old_java_and_a_cluster_without_settings_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import SparkSession

    monkeypatch.setattr(SparkSession, "getActiveSession", staticmethod(lambda: None))
    program(tmp_path / "bin" / "java", "echo 'java version \"1.8.0_392\"' >&2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match=r"needs Java 17 or later, and '.*/bin/java' is Java 8"):
        session.session(None, {}).__enter__()
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match="name their folder in HADOOP_CONF_DIR"):
        session.check_spark("yarn")
    monkeypatch.setenv("YARN_CONF_DIR", str(tmp_path))
    session.check_spark("yarn")


def cluster(python: str, master: str = "local[2]") -> Any:
    conf = SimpleNamespace(get=lambda name, otherwise: otherwise)
    context = SimpleNamespace(master=master, pythonExec=python, getConf=lambda: conf)
    return SimpleNamespace(sparkContext=context)


def test_executors_that_lack_shoal_are_found_before_they_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "python3", "exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(InputError, match=r'"PYSPARK_PYTHON"\] = sys.executable'):
        check_workers(cluster("python3"))
    with pytest.raises(InputError, match="run 'nowhere/python'"):
        check_workers(cluster("nowhere/python"))
    check_workers(cluster(sys.executable))
    # Whether those of another machine can is seen there.
    check_workers(cluster("python3", "spark://host:7077"))


def test_another_python_that_has_shoal_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(item for item in sys.path if item))
    program(tmp_path / "python", f'exec "{sys.executable}" "$@"')
    check_workers(cluster(str(tmp_path / "python")))


def test_ctrl_c_is_no_failure_of_spark() -> None:
    from py4j.protocol import Py4JError

    def broken_off() -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise Py4JError("the answer never came")

    with pytest.raises(KeyboardInterrupt), in_one_line("the records cannot be protected"):
        broken_off()
    with (
        pytest.raises(InputError, match=r"^the records cannot be protected: Spark failed"),
        in_one_line("the records cannot be protected"),
    ):
        raise Py4JError("something else")


def test_what_others_say_on_the_way_is_kept_back() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with in_one_line("it cannot be done"):
            where = ("functions.py", 1)
            warnings.warn_explicit(
                "pandas is new", FutureWarning, *where, module="pyspark.sql.pandas.functions"
            )
            warnings.warn_explicit("mine", FutureWarning, *where, module="notebook")
    assert [str(item.message) for item in seen] == ["mine"]
    made = logging.getLogger().makeRecord
    for path, kept in (("/lib/py4j/java_gateway.py", False), ("/lib/shoal/thing.py", True)):
        assert session._not_of_py4j(made("root", logging.ERROR, path, 1, "said", (), None)) is kept
