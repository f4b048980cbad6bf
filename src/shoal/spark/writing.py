"""A folder of Parquet files on any file system of Hadoop: written under another name, checked, then renamed."""

import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import Infeasible, InputError, parameter
from shoal.sources.staged import check_folder, check_replaceable, parse_folder
from shoal.spark.failures import in_one_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Records in a part, so that their number says nothing of how the records lay before.
_PER_PART = 1_000_000


class StagedParts:
    """Parts beside their place; Spark's own committer has finished them."""

    def __init__(self, spark: "SparkSession", folder: str, force: bool) -> None:
        target = parse_folder(folder)
        check_folder(target, force)
        jvm: Any = spark._jvm
        self._force = force
        self._shown = folder
        self._target = jvm.org.apache.hadoop.fs.Path(
            target.absolute().as_uri() if isinstance(target, Path) else str(target)
        )
        with in_one_line(f"'{folder}' cannot be written to"):
            self._files = self._target.getFileSystem(spark._jsc.hadoopConfiguration())
            if not force and self._files.exists(self._target):
                raise InputError(f"'{folder}' exists already; {parameter('force')} replaces it")
            if self._files.exists(self._target):
                check_replaceable(
                    folder, (found.getPath().getName() for found in self._files.listStatus(self._target))
                )
        name = f".{self._target.getName()}.{secrets.token_hex(6)}.shoal"
        self._hidden = jvm.org.apache.hadoop.fs.Path(self._target.getParent(), name)
        # Inside what is hidden, since Spark warns of a hidden folder that it is asked to read.
        self._beside = jvm.org.apache.hadoop.fs.Path(self._hidden, "parts")
        self._old = jvm.org.apache.hadoop.fs.Path(self._target.getParent(), f"{name}.old")
        self._placed = self._moved = False

    @property
    def url(self) -> str:
        """Where the parts are until they get their place."""
        return str(self._beside.toString())

    def put(self) -> None:
        """Rename."""
        with in_one_line(f"'{self._shown}' cannot be written to"):
            if self._force and self._files.exists(self._target):
                self._moved = self._renamed(self._target, self._old)
            self._placed = self._renamed(self._beside, self._target)

    def _renamed(self, one: Any, other: Any) -> bool:
        # A rename onto a folder would move into it.
        if self._files.exists(other) or not self._moved_to(one, other):
            raise InputError(
                f"'{self._shown}' cannot get its place: its file system does not rename; nothing was written"
            )
        return True

    def _moved_to(self, one: Any, other: Any) -> bool:
        return bool(self._files.rename(one, other))

    def _remove(self, path: Any) -> None:
        with_all_in_it = True
        self._files.delete(path, with_all_in_it)

    def undo(self) -> None:
        """Take it out, and bring back what was there."""
        with suppress(Exception):
            if self._placed:
                self._remove(self._target)
            if self._moved:
                self._files.rename(self._old, self._target)
        self._placed = self._moved = False

    def close(self) -> None:
        """Remove what is left beside the place; what was there before stays if it could not be brought back."""
        with suppress(Exception):
            if self._files.exists(self._hidden):
                self._remove(self._hidden)
        with suppress(Exception):
            if self._files.exists(self._old) and self._files.exists(self._target):
                self._remove(self._old)


def stage_parts(
    frame: "DataFrame",
    folder: str,
    force: bool,
    records: int,
    columns: tuple[str, ...],
    verify: Callable[[Any], None],
) -> StagedParts:
    """Write a release, shuffled and sorted by what is released, and check what was written."""
    from pyspark.sql import functions as f

    spark = frame.sparkSession
    staged = StagedParts(spark, folder, force)
    try:
        with in_one_line(f"'{folder}' cannot be written to"):
            own = frame.toDF(*(f"v{number}" for number in range(len(frame.columns))))
            keys = [f"v{frame.columns.index(name)}" for name in columns]
            parts = own.repartition(-(-records // _PER_PART), f.xxhash64(*keys)).sortWithinPartitions(
                *keys, *own.columns
            )
            parts.toDF(*frame.columns).write.parquet(staged.url)
            written = spark.read.parquet(staged.url)
            try:
                verify(written)
            except AssertionError:
                raise Infeasible(
                    f"'{folder}' does not hold this result: read back it is another one, so nothing was written"
                ) from None
    except BaseException:
        staged.close()
        raise
    return staged
