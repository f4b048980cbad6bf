"""What goes wrong on a cluster, in one line of ours: the words of Spark may quote values of the data."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from shoal.errors import InputError, ShoalError

#: What the class of an error, or a word in it, means for who reads it.
_MEANINGS = (
    ("PATH_NOT_FOUND", "there is no such file or folder"),
    ("UnknownHostException", "the host of that address is not known"),
    ("AccessControlException", "it may not be read or written with this account"),
    ("Permission denied", "it may not be read or written with this account"),
    ("No FileSystem for scheme", "this cluster knows no file system of that kind"),
    ("UNABLE_TO_INFER_SCHEMA", "there are no Parquet files"),
    ("is not a Parquet file", "a file there is no Parquet file, or is damaged"),
    ("FAILED_READ_FILE", "a file there cannot be read, or is no Parquet file"),
    ("CANNOT_READ_FILE_FOOTER", "a file there is no Parquet file, or is damaged"),
    ("CANNOT_MERGE_SCHEMA", "its files have different columns"),
    ("No space left on device", "there is no space left on a disk of the cluster"),
    ("OutOfMemoryError", "a task ran out of memory; make leaves smaller (option leaf) or executors larger"),
    ("AMBIGUOUS_REFERENCE", "two of its columns have names that differ in their letters' case alone"),
    ("COLUMN_ALREADY_EXISTS", "two of its columns have names that differ in their letters' case alone"),
    (
        "ModuleNotFoundError",
        "the executors cannot import Shoal and what it needs; install it on every node, and name that Python in PYSPARK_PYTHON "
        "before the session is made",
    ),
    ("PYTHON_VERSION_MISMATCH", "driver and executors run different versions of Python"),
    ("cancelled", "the job was cancelled"),
    ("SparkContext was shut down", "the connection to the cluster was lost"),
    ("Connection refused", "the connection to the cluster was lost"),
)


@contextmanager
def in_one_line(what: str) -> Iterator[None]:
    """Whatever Spark raises in this block becomes an ``InputError`` that begins with ``what``; nothing of it is quoted.

    Ctrl-C stays what it is, though the connection to Java makes an error of it on its way.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        with warnings.catch_warnings():
            # What PySpark thinks of the version of pandas, at each function that goes to the executors.
            warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
            yield
    except ShoalError:
        raise
    except (PySparkException, Py4JError, ConnectionError) as problem:
        if _is_interrupt(problem):
            raise KeyboardInterrupt from None
        raise InputError(f"{what}: {meaning(problem)}") from None


def _is_interrupt(problem: BaseException | None) -> bool:
    """Whether Ctrl-C is what an error began with."""
    while problem is not None:
        if isinstance(problem, KeyboardInterrupt):
            return True
        problem = problem.__cause__ or problem.__context__
    return False


def meaning(problem: BaseException) -> str:
    """What an error of Spark means, in words of ours."""
    text = f"{type(problem).__name__} {problem}"
    for word, said in _MEANINGS:
        if word in text:
            return said
    condition = getattr(problem, "getCondition", lambda: None)()
    return f"Spark failed ({condition or type(problem).__name__})"
