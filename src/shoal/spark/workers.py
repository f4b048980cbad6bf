"""The Python that executors run: whether it can import Shoal, looked at before a job fails by it."""

import os
import shutil
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING

from shoal.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PROBE = "import sys, pyarrow, shoal.microdata.microaggregation.leaves.leaf_work; print(sys.version_info[:2])"


def check_workers(spark: "SparkSession") -> None:
    """An ``InputError`` that says what to set, where executors are on this machine and their Python lacks Shoal."""
    context = spark.sparkContext
    if not context.master.startswith("local"):
        return
    python = str(context.pythonExec)
    found = shutil.which(python)
    if found == sys.executable:
        return
    given = context.getConf().get("spark.executorEnv.PYTHONPATH", "") or ""
    if found is None or not can_run(found, os.pathsep.join([given, os.environ.get("PYTHONPATH", "")])):
        raise InputError(
            f"the executors run '{python}', which cannot import Shoal, or is of another version; before the session is made "
            'say: os.environ["PYSPARK_PYTHON"] = sys.executable'
        )


@cache
def can_run(python: str, path: str) -> bool:
    """Whether a Python is of the version of this one and has what an executor needs, with a path for its modules."""
    environment = {**os.environ, "PYTHONPATH": path.strip(os.pathsep)}
    try:
        said = subprocess.run(
            [python, "-c", _PROBE], env=environment, capture_output=True, text=True, timeout=300, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return said.returncode == 0 and said.stdout.strip() == str(sys.version_info[:2])
