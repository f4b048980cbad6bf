"""The independent check of a recoded release on a cluster: its classes are counted again, and the people in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, eq=False)
class RecodingCheck:
    """What a recoded release claims: how many records every combination of keys has, and at least k units where there are.

    ``with_unit`` is the release with whose record each is, where that is not released.
    """

    quasi: tuple[str, ...]
    expected: Mapping[tuple[str | None, ...], int]
    k: int
    unit: str | None = None
    with_unit: "DataFrame | None" = None

    def __call__(self, released: Any) -> None:
        """Raise ``AssertionError`` unless the frame has these classes and no others."""
        names, data = list(released.columns), _numbered(released)
        assert self._classes(data, names) == self.expected, (
            "the classes of the release are not those of the recoding"
        )
        if self.unit is None:
            return
        if self.with_unit is not None:
            # Units are counted where they are known, and what is released must be that but for them.
            theirs, order = _numbered(self.with_unit), list(self.with_unit.columns)
            alike = theirs.select(*(f"v{order.index(name)}" for name in names))
            assert _mixed(data) == _mixed(alike), "it is not what was counted"
            names, data = order, theirs
        assert self._fewest_units(data, names) >= self.k, "a class has fewer than k units"

    def _keys(self, names: list[str]) -> list[str]:
        return [f"v{names.index(name)}" for name in self.quasi]

    def _classes(self, data: "DataFrame", names: list[str]) -> dict[tuple[str | None, ...], int]:
        table = data.groupBy(*self._keys(names)).count().toArrow()
        rows = zip(*(table.column(place).to_pylist() for place in range(table.num_columns)), strict=True)
        found: dict[tuple[str | None, ...], int] = {}
        for *values, count in rows:
            key = tuple(None if item is None else str(item) for item in values)
            found[key] = found.get(key, 0) + count
        return found

    def _fewest_units(self, data: "DataFrame", names: list[str]) -> int:
        from pyspark.sql import functions as f

        keys, unit = self._keys(names), f"v{names.index(str(self.unit))}"
        kind = dict(data.dtypes)[unit]
        # A number that is none is missing, like null, and all that is missing is one unit.
        whose = f.nanvl(unit, f.lit(None).cast(kind)) if kind in ("double", "float") else f.col(unit)
        members = data.select(*keys, whose.alias("unit")).distinct()
        row = members.groupBy(*keys).count().agg(f.min("count").alias("least")).first()
        assert row is not None
        return int(row["least"]) if row["least"] is not None else self.k


def _numbered(frame: Any) -> "DataFrame":
    found: DataFrame = frame.toDF(*(f"v{place}" for place in range(len(frame.columns))))
    return found


def _mixed(data: "DataFrame") -> tuple[Any, ...]:
    """Sums over the hashes of all records, which are the same in any order."""
    from pyspark.sql import functions as f

    hashed = f.xxhash64(*data.columns)
    row = data.agg(f.count("*"), f.bit_xor(hashed), f.sum(hashed.bitwiseAND(0xFFFFFFFF))).first()
    assert row is not None
    return tuple(row)
