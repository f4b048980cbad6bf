"""One cluster of processes for all tests that need Spark; without Java or PySpark they skip and say so."""

import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.waiting import GUARD

# Compiled once and simply: these jobs are short, and a compiler would take longer than they do.
_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed (extra 'spark')")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java (on Debian: openjdk-17-jre-headless)")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    scratch = tmp_path_factory.mktemp("spark")
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    conf = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.network.timeout": f"{GUARD:.0f}s",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.session.timeZone": "UTC",
        "spark.local.dir": str(scratch / "local"),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.driver.extraJavaOptions": _QUICK,
        "spark.executor.extraJavaOptions": _QUICK,
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(item for item in sys.path if item),
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("shoal-tests")
    for name, value in conf.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    said = Path(os.environ["SPARK_HOME"], "work", session.sparkContext.applicationId)
    yield session
    session.stop()
    shutil.rmtree(said, ignore_errors=True)


@pytest.fixture
def given(spark: Any, tmp_path: Path) -> Callable[..., Any]:
    """A frame as a DataFrame of the cluster, read from a file in so many partitions."""

    def read(frame: pl.DataFrame, partitions: int = 2) -> Any:
        path = tmp_path / f"given-{len(list(tmp_path.iterdir()))}.parquet"
        frame.write_parquet(path)
        return spark.read.parquet(str(path)).repartition(partitions)

    return read


def rows(frame: Any) -> list[tuple[Any, ...]]:
    """All records, in an order of their values."""
    table = frame.toArrow()
    found = zip(*(table.column(place).to_pylist() for place in range(table.num_columns)), strict=True)
    return sorted(found, key=repr)
