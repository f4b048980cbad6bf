"""The independent check of a release on a cluster: what was written is counted again.

Nothing here is shared with what splits, groups or releases: K, means and the columns that were kept come from
aggregations of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.microdata.microaggregation.large_claims import Claims

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, eq=False)
class ReleaseCheck:
    """What a release claims; ``with_unit`` is the release with whose record each is, where that is not released."""

    claims: Claims
    with_unit: "DataFrame | None" = None

    def __call__(self, released: Any) -> None:
        """Raise ``AssertionError`` unless the frame holds what the result says."""
        claims = self.claims
        self._expect_sums(_numbered(released), released.columns)
        counted = released if self.with_unit is None else self.with_unit
        names, data = list(counted.columns), _numbered(counted)
        if self.with_unit is not None:
            # Units are counted where they are known, and what is released must be that but for them.
            theirs = data.select(*(f"v{names.index(name)}" for name in released.columns))
            assert _hashes(_numbered(released)) == _hashes(theirs), "it is not what was counted"
        unit = None if claims.unit is None else f"v{names.index(claims.unit)}"
        over_columns = _smallest_class(data, [f"v{names.index(name)}" for name in claims.names], unit)
        over_quasi = over_columns
        if set(claims.quasi) != set(claims.names):
            over_quasi = _smallest_class(data, [f"v{names.index(name)}" for name in claims.quasi], unit)
        claims.expect_k(over_columns, over_quasi)

    def _expect_sums(self, data: "DataFrame", names: Sequence[str]) -> None:
        """All records are there as they left their groups; means stay, and what the variances lost is the loss."""
        from pyspark.sql import functions as f

        claims = self.claims
        own = [f"v{names.index(name)}" for name in claims.names]
        kept = [f"v{names.index(name)}" for name in claims.unchanged]
        asked = [f.count("*").alias("records"), *_hash_sums(kept, "kept"), *_hash_sums(data.columns, "made")]
        for place, (name, (centre, unit)) in enumerate(zip(own, claims.centres, strict=True)):
            value = _number(name, data.schema[name].dataType)
            near = (value - centre) / unit
            asked += [f.avg(near).alias(f"m{place}"), f.var_samp(near).alias(f"s{place}")]
            asked += [f.min(value).alias(f"l{place}"), f.max(value).alias(f"u{place}")]
        row = data.agg(*asked).first()
        assert row is not None
        claims.expect_records(
            row["records"],
            (row["mixed_kept"] or 0, row["added_kept"] or 0),
            (row["mixed_made"] or 0, row["added_made"] or 0),
        )
        places = range(len(own))
        claims.expect_moments(
            [row[f"m{place}"] for place in places],
            [row[f"s{place}"] or 0.0 for place in places],
            [(row[f"l{place}"], row[f"u{place}"]) for place in places],
        )


def _number(name: str, kind: Any) -> Any:
    """Values as numbers, moments in microseconds."""
    from pyspark.sql import functions as f
    from pyspark.sql import types as t

    if isinstance(kind, t.DateType):
        return f.unix_date(name).cast("double") * 86_400e6
    if isinstance(kind, t.TimestampNTZType):
        return f.timestamp_diff("MICROSECOND", f.expr("TIMESTAMP_NTZ'1970-01-01'"), f.col(name)).cast(
            "double"
        )
    return (f.unix_micros(name) if isinstance(kind, t.TimestampType) else f.col(name)).cast("double")


def _numbered(frame: "DataFrame") -> "DataFrame":
    """Under names that mean nothing to Spark."""
    return frame.toDF(*(f"v{place}" for place in range(len(frame.columns))))


def _hash_sums(columns: Sequence[str], what: str) -> list[Any]:
    from pyspark.sql import functions as f

    hashed = f.xxhash64(*columns) if columns else f.lit(0).cast("bigint")
    mixed, added = f.bit_xor(hashed), f.sum(hashed.bitwiseAND(0xFFFFFFFF))
    return [mixed.alias(f"mixed_{what}"), added.alias(f"added_{what}")]


def _hashes(data: "DataFrame") -> tuple[Any, ...]:
    row = data.agg(*_hash_sums(data.columns, "all")).first()
    assert row is not None
    return tuple(row)


def _smallest_class(data: "DataFrame", columns: Sequence[str], unit: str | None) -> int:
    from pyspark.sql import functions as f

    kinds = dict(data.dtypes)
    # A number that is none is missing, like null.
    classes = data.select(
        *(
            f.nanvl(name, f.lit(None).cast("double")).alias(name)
            if kinds[name] in ("double", "float")
            else name
            for name in [*columns, *([unit] if unit else [])]
        )
    )
    if unit is not None:
        classes = classes.distinct()
    row = classes.groupBy(*columns).count().agg(f.min("count").alias("least")).first()
    assert row is not None
    return int(row["least"] or 0)
