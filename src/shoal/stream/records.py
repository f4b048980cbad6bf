"""Records of Parquet files, slice by slice, and their columns as numbers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.exact_names import exactly, refuse_patterns

_DAY = 86_400_000_000
#: No column of a user is called that.
_HASH = "\0hash"


@dataclass(frozen=True, eq=False)
class Source:
    """One or several Parquet files of the same columns."""

    location: str

    @cached_property
    def plan(self) -> pl.LazyFrame:
        """A plan that reads them; an ``InputError`` if it cannot."""
        try:
            if "://" in self.location:
                plan = pl.scan_parquet(self.location)
                plan.collect_schema()
                return plan
            folder = Path(self.location)
            found = folder.glob("*.parquet") if folder.is_dir() else self._named()
            files = sorted(path for path in found if path.is_file())
            self._check_alike({path: pl.scan_parquet(path, glob=False).collect_schema() for path in files})
        except (pl.exceptions.PolarsError, OSError):
            files = []
        if not files:
            raise InputError(
                f"'{self.location}' cannot be read: it must be a Parquet file, a folder of them, or a pattern "
                "such as 'data/*.parquet', and none of the files may be damaged"
            ) from None
        return pl.scan_parquet(files, glob=False)

    def _named(self) -> Iterable[Path]:
        """The file of that name, or all that a pattern of it means."""
        named = Path(self.location)
        if named.exists():
            return [named]
        return Path(named.anchor).glob(str(named.relative_to(named.anchor)))

    def _check_alike(self, schemas: Mapping[Path, Mapping[str, pl.DataType]]) -> None:
        """An ``InputError`` that names the first column which is not the same in all files."""
        some, first = next(iter(schemas.items()), (Path(), {}))
        for path, schema in schemas.items():
            for name in dict.fromkeys([*first, *schema]):
                if first.get(name) != schema.get(name):
                    one, other = (
                        f"{file.name} has {'no such column' if kind is None else f'type {kind}'}"
                        for file, kind in ((some, first.get(name)), (path, schema.get(name)))
                    )
                    raise InputError(
                        f"the files of '{self.location}' must have the same columns: of '{name}', {one}, {other}"
                    )

    @cached_property
    def schema(self) -> pl.Schema:
        """Its columns and their types."""
        found = self.plan.collect_schema()
        refuse_patterns(found, f"'{self.location}'")
        return found

    @cached_property
    def records(self) -> int:
        """How many records there are."""
        return int(self.plan.select(pl.len()).collect(engine="streaming").item())

    def slices(self, size: int, *columns: pl.Expr) -> Iterator[pl.DataFrame]:
        """The records, so many at a time."""
        for first in range(0, self.records, size):
            part = self.plan.slice(first, size)
            try:
                yield (part.select(*columns) if columns else part).collect(engine="streaming")
            except (pl.exceptions.PolarsError, OSError):
                raise InputError(
                    f"'{self.location}' cannot be read to its end: a file there is damaged"
                ) from None


def scan_parts(folder: Path) -> pl.LazyFrame:
    """A plan that reads the parts in a folder, whatever letters its name has."""
    return pl.scan_parquet(sorted(folder.glob("*.parquet")), glob=False)


def kind_of(kind: Any) -> str | None:
    """What values of a type are, if a mean of them means something."""
    if kind.is_integer():
        return "integer"
    if kind.is_numeric():
        return "number"
    if kind == pl.Date:
        return "date"
    return "time" if kind == pl.Datetime else None


def as_unchanged(name: str, kind: Any) -> pl.Expr:
    """A column that is kept as it is, but that one value is never two: NaN is missing, minus nothing is nothing."""
    return _one_value(exactly(name), kind) if kind.is_float() else exactly(name)


def _one_value(column: pl.Expr, kind: Any) -> pl.Expr:
    # Adding nothing would not do: Polars leaves that out.
    return pl.when(column == 0).then(pl.lit(0.0).cast(kind)).otherwise(column.fill_nan(None))


def as_number(name: str, kind: Any) -> pl.Expr:
    """A column as float, moments in microseconds; missing (null, NaN) is null."""
    column = exactly(name)
    if kind == pl.Date:
        return column.cast(pl.Int64).cast(pl.Float64) * float(_DAY)
    if kind == pl.Datetime:
        return column.dt.cast_time_unit("us").cast(pl.Int64).cast(pl.Float64)
    return _one_value(column.cast(pl.Float64), pl.Float64)


def from_number(values: pl.Series, kind: Any, *, whole: bool) -> pl.Series:
    """Back to a column of its type; integers become floats unless they are ``whole``."""
    if kind == pl.Date:
        return (values / float(_DAY)).cast(pl.Int32).cast(pl.Date)
    if kind == pl.Datetime:
        micros = values.cast(pl.Int64).cast(pl.Datetime("us"))
        zone = kind.time_zone
        return (
            micros if zone is None else micros.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
        ).cast(kind)
    return values.cast(kind) if whole and kind.is_integer() else values


def unit_hash(name: str, kind: Any, seed: int = 0) -> pl.Expr:
    """A number for each unit; records without one are all of the same."""
    return as_unchanged(name, kind).hash(seed).alias("unit")


def numbers_of(frame: pl.DataFrame, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns of numbers of a slice, and which records are complete."""
    values = np.column_stack([frame[f"x{place}"].to_numpy() for place in range(width)]).astype(np.float64)
    return values, np.asarray(~np.isnan(values).any(axis=1))


def fingerprint(frame: pl.DataFrame, names: Sequence[str]) -> tuple[int, int]:
    """Sums over the hashes of records: the same for the same records in any order."""
    if not names or not frame.height:
        return 0, 0
    hashes = frame.select(exactly(*names)).hash_rows(seed=7)
    return int(np.bitwise_xor.reduce(hashes.to_numpy())), int((hashes.to_numpy() & 0xFFFFFFFF).sum())


def joined(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """The sums of two lots of records together."""
    return one[0] ^ other[0], one[1] + other[1]


def some_records(source: Source, number: int, size: int) -> pl.DataFrame:
    """Some records to look at: those whose hashes come first, the same in any order; of plain values alone."""
    held: pl.DataFrame | None = None
    names = [name for name, kind in source.schema.items() if not (kind.is_nested() or kind == pl.Object)]
    for frame in source.slices(size, exactly(*names)):
        hashes = frame.hash_rows(seed=3)
        first = np.argsort(hashes.to_numpy(), kind="stable")[:number]
        some = frame[first].insert_column(0, hashes[first].alias(_HASH))
        held = some if held is None else pl.concat([held, some]).sort(_HASH, maintain_order=True).head(number)
    assert held is not None
    return held.drop(_HASH)
