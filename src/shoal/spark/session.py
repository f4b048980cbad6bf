"""The connection to a cluster for one command: started with what it needs, quiet, and gone afterwards without a trace."""

import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import InputError, needs_extra, parameter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MASTERS = re.compile(
    r"local(\[(\d+|\*)(,\d+)?\])?|local-cluster\[\d+,\d+,\d+\]|spark://[^/]+:\d+(,[^/]+:\d+)*|yarn|k8s://.+"
)
#: The oldest Java that Spark starts with.
_JAVA = 17
#: What holds unless somebody says otherwise: nothing is left behind for others to read.
_USUAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
}


def check_spark(master: str | None) -> None:
    """An ``InputError`` that says what is missing, before anything is started."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise needs_extra(parameter("engine", "spark"), "spark") from None
    java = os.environ.get("JAVA_HOME")
    found = Path(java, "bin", "java").exists() if java else shutil.which("java") is not None
    if not found:
        raise InputError(
            f"{parameter('engine', 'spark')} needs Java 17 or later; install it "
            "(on Debian openjdk-17-jre-headless) or set JAVA_HOME"
        )
    if master is None:
        return
    if not _MASTERS.fullmatch(master):
        raise InputError(
            f"'{master}' is no master of Spark; it is one of local[N], spark://HOST:PORT, yarn and k8s://HOST:PORT"
        )
    if master.startswith("spark://"):
        _check_answers(master)
    if master == "yarn" and not any(os.environ.get(name) for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR")):
        raise InputError(
            f"{parameter('master', 'yarn')} needs the settings of the cluster; name their folder in HADOOP_CONF_DIR"
        )


def _check_java(home: str | None) -> None:
    """Refuse a Java that Spark does not start with; one that does not say its version is left to Spark."""
    java = str(Path(home, "bin", "java")) if home else "java"
    try:
        said = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        ).stderr
    except (OSError, subprocess.SubprocessError):
        return
    version = java_version(said)
    if version is not None and version < _JAVA:
        raise InputError(
            f"Spark needs Java {_JAVA} or later, and '{java}' is Java {version}; install it (on Debian "
            f"openjdk-{_JAVA}-jre-headless) or set JAVA_HOME"
        )


def java_version(output: str) -> int | None:
    """The version that Java says of itself.

    >>> java_version('openjdk version "17.0.2" 2022-01-18'), java_version('java version "1.8.0_392"'), java_version("?")
    (17, 8, None)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', output)
    return None if found is None else int(found[1])


def _check_answers(master: str) -> None:
    for place in master.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        with (
            suppress(OSError, ValueError, OverflowError),
            socket.create_connection((host, int(port)), timeout=10),
        ):
            return
    raise InputError(f"the master '{master}' does not answer; is it running, and is that its host and port?")


@contextmanager
def session(master: str | None, conf: Mapping[str, str]) -> "Iterator[SparkSession]":
    """A session of Spark; its spills are in a folder that is removed, and so are its logs.

    One that is running in this process already is used, and left running.
    """
    check_spark(master)
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    _check_java(os.environ.get("JAVA_HOME"))
    scratch = Path(tempfile.mkdtemp(prefix="shoal-spark-"))
    interrupt = signal.getsignal(signal.SIGINT)
    spark = None
    logging.getLogger().addFilter(_not_of_py4j)
    try:
        spark = _started(master, conf, scratch)
        # PySpark takes Ctrl-C for itself; here it means what it means in every command.
        with suppress(ValueError):
            signal.signal(signal.SIGINT, interrupt)
        yield spark
    finally:
        if spark is not None:
            _stopped(spark)
        shutil.rmtree(scratch, ignore_errors=True)
        logging.getLogger().removeFilter(_not_of_py4j)


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """The connection to Java logs its way out of Ctrl-C with a traceback; that is nobody's news."""
    return "py4j" not in Path(record.pathname).parts


def _started(master: str | None, conf: Mapping[str, str], scratch: Path) -> "SparkSession":
    import pyspark
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # A cluster of processes on this machine starts them from there.
    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    settings = dict(_USUAL)
    chosen = master or conf.get("spark.master") or SparkConf().get("spark.master")
    if chosen is None or chosen.startswith("local"):
        settings["spark.local.dir"] = str(scratch)
        settings["spark.executorEnv.PYTHONPATH"] = os.pathsep.join(item for item in sys.path if item)
        settings["spark.sql.shuffle.partitions"] = str(max(4, 2 * (os.cpu_count() or 1)))
        settings["spark.driver.host"] = "localhost"
        settings["spark.driver.bindAddress"] = "127.0.0.1"
    builder = SparkSession.builder.appName("shoal").master(chosen or "local[*]")
    for name, value in {**settings, **conf}.items():
        builder = builder.config(name, value)
    try:
        with _errors_into(scratch / "spark.log"):
            spark = builder.getOrCreate()
    except Exception:
        # What Spark says of it stands in its own log; it may be long, and name what nobody should see.
        raise InputError(
            f"Spark could not be started with {parameter('master', chosen or 'local[*]')}; look at Java (17 or later), "
            f"the master and {parameter('spark_conf')}"
        ) from None
    spark.sparkContext.setLogLevel("OFF")
    return spark


def _stopped(spark: "SparkSession") -> None:
    gateway = spark.sparkContext._gateway
    context = spark.sparkContext
    # A cluster of processes on this machine leaves what its executors said where Spark is installed.
    said = (
        [Path(os.environ["SPARK_HOME"], "work", context.applicationId)]
        if context.master.startswith("local-cluster")
        else []
    )
    with suppress(Exception):
        spark.stop()
    process = getattr(gateway, "proc", None)
    with suppress(Exception):
        gateway.shutdown()
    if process is not None:
        with suppress(Exception):
            process.stdin.close()
            process.wait(30)
    for folder in said:
        shutil.rmtree(folder, ignore_errors=True)
    from pyspark import SparkContext

    # The next session of this process starts anew.
    SparkContext._gateway = None
    SparkContext._jvm = None


@contextmanager
def _errors_into(path: Path) -> Iterator[None]:
    """What is started in this block says its errors into a file."""
    sys.stderr.flush()
    with suppress(OSError):
        kept = os.dup(2)
        with path.open("wb") as log:
            os.dup2(log.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        return
    yield
