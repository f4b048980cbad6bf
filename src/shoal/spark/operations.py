"""The operations as commands run them on a cluster: data by name, a session for as long as there is something to write."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from shoal.errors import InputError, parameter
from shoal.operation import call
from shoal.sources.address import FORMATS
from shoal.spark.failures import in_one_line
from shoal.spark.session import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from shoal.microdata.anonymity.operation import Measured
    from shoal.microdata.measures.large_comparison import LargeComparison
    from shoal.microdata.microaggregation.leaves.result import LargeMicroaggregation
    from shoal.microdata.recoding.large_result import LargeRecoded
    from shoal.tables.model.tabulation import Tabulation

_OTHERS = frozenset(FORMATS) - {".parquet"}
#: Signs of patterns that Spark knows and Python does not.
_ALTERNATIVES = re.compile(r"[{\\^]")


def run_microaggregate(settings: Any, workplace: Any) -> "LargeMicroaggregation":
    """Protect the records of Parquet files on a cluster."""
    from shoal.spark.microaggregate import microaggregate

    spark = _session(settings, workplace, settings.data)
    result = call(
        microaggregate,
        settings,
        workplace,
        read_parquet(spark, settings.data),
        aggregate=settings.aggregate or "mean",
        missing=settings.missing or "refuse",
        drop=settings.drop or [],
        roles=None,
    )
    workplace.lasting.callback(result.close)
    return result


def run_anonymity(settings: Any, workplace: Any) -> "Measured":
    """Measure each table where it is."""
    from shoal.spark.anonymity import anonymity

    spark = _session(settings, workplace, *settings.data)
    measured = []
    for name in settings.data:
        frame = read_parquet(spark, name)
        workplace.say(f"measuring {name}")
        result = anonymity(frame, settings.quasi, unit=settings.unit, confidential=settings.confidential)
        if not result.records:
            raise InputError(f"there are no records in '{name}'")
        measured.append((name, result))
    return measured


def run_recode(settings: Any, workplace: Any) -> "LargeRecoded":
    """Recode whole columns of Parquet files on a cluster."""
    from shoal.microdata.columns.hierarchies.operation import read_hierarchies
    from shoal.spark.recode import recode

    if settings.method not in ("auto", "lattice"):
        raise InputError(f"on a cluster whole columns are recoded; choose {parameter('method', 'lattice')}")
    hierarchies = read_hierarchies(settings.hierarchies, workplace)
    spark = _session(settings, workplace, settings.data)
    frame = read_parquet(spark, settings.data)
    return call(recode, settings, workplace, frame, hierarchies=hierarchies, drop=settings.drop or [])


def run_compare(settings: Any, workplace: Any) -> "list[LargeComparison]":
    """Measure each release where it is."""
    from shoal.spark.compare import compare

    if settings.key is None:
        raise InputError(
            f"on a cluster {parameter('key')} pairs records: name a column that both tables have"
        )
    spark = _session(settings, workplace, settings.original, *settings.protected)
    original = read_parquet(spark, settings.original)
    found = []
    for name in settings.protected:
        protected = read_parquet(spark, name)
        workplace.say(f"comparing {name}")
        found.append(call(compare, settings, workplace, original=original, protected=protected, name=name))
    return found


def run_tabulate(settings: Any, workplace: Any) -> "Tabulation":
    """Build a table from Parquet files on a cluster."""
    from shoal.spark.tabulate import tabulate
    from shoal.tables.table_to_protect import apriori_of, hierarchies_of

    if not settings.dimensions:
        raise InputError(f"name at least one dimension with {parameter('dimensions')}")
    hierarchies = hierarchies_of(settings, workplace)
    apriori = None if settings.apriori is None else apriori_of(settings, workplace, settings.dimensions)
    spark = _session(settings, workplace, settings.data)
    frame = read_parquet(spark, settings.data)
    workplace.say("tabulating")
    return call(tabulate, settings, workplace, frame, hierarchies=hierarchies, apriori=apriori)


def _session(settings: Any, workplace: Any, *names: str) -> "SparkSession":
    for name in names:
        check_parquet(name)
        check_there(name, settings.master, settings.spark_conf)
    workplace.say("starting Spark")
    spark: SparkSession = workplace.lasting.enter_context(session(settings.master, settings.spark_conf))
    workplace.say("reading")
    return spark


def check_parquet(name: str) -> None:
    """Refuse what is clearly no Parquet before a session is started."""
    if "::" in name or Path(name).suffix.lower() in _OTHERS:
        raise InputError(
            f"'{name}' is no Parquet; a cluster reads Parquet files, folders of them and patterns such as 'data/*.parquet'"
        )


def check_there(name: str, master: str | None, conf: Mapping[str, str]) -> None:
    """Refuse a path of this machine where nothing is, before a session is started; other file systems are asked by Spark.

    >>> check_there("hdfs:///people", None, {}), check_there("nowhere", None, {"spark.hadoop.fs.defaultFS": "hdfs://a"})
    (None, None)
    """
    settled = any(os.environ.get(item) for item in ("HADOOP_CONF_DIR", "SPARK_CONF_DIR"))
    elsewhere = settled or any(item.endswith("fs.defaultFS") for item in conf)
    if name.startswith("file:"):
        path = urlsplit(name).path
    elif "://" in name or elsewhere or not (master or "local").startswith("local"):
        return
    else:
        path = name
    if not (_is_there(Path(path)) or _ALTERNATIVES.search(path)):
        raise InputError(f"'{name}' cannot be read: there is no such file or folder")


def _is_there(path: Path) -> bool:
    """Whether there is a file or a folder, or one that a pattern means."""
    return path.exists() or any(Path(path.anchor or ".").glob(str(path.relative_to(path.anchor))))


def read_parquet(spark: "SparkSession", name: str) -> "DataFrame":
    """The records of a file, a folder or a pattern."""
    with in_one_line(f"'{name}' cannot be read"):
        # A column that only some files have must not get lost; types that do not go together are refused.
        return spark.read.option("mergeSchema", "true").parquet(name)
