"""Missing values that match anything: which combinations of values are compatible.

Two records are compatible when they agree wherever both have a value, as sdcMicro counts (Templ, Kowarik and Meindl,
Journal of Statistical Software 67(4), 2015). This is no equivalence: classes overlap. Combinations are treated by
their pattern of missing columns, so that a pair of patterns costs one join on the columns both have.
"""

from collections.abc import Iterator, Sequence

import polars as pl

# Joins are cut into pieces of about this many rows.
_ROWS_AT_ONCE = 4_000_000


def has_nulls(table: pl.DataFrame, keys: Sequence[str]) -> bool:
    """Whether any combination lacks a value."""
    return any(table[key].null_count() for key in keys)


def compatible_records(
    table: pl.DataFrame, keys: Sequence[str], sums: Sequence[str] = ("records",)
) -> pl.DataFrame:
    """For each combination (``class``) how many ``records`` are compatible with it; ``sums`` adds up other columns, too."""
    parts = []
    patterns = _by_pattern(table, keys)
    for missing, own in patterns.items():
        counts = []
        for shared, others in _by_shared(patterns, missing, keys).items():
            found = pl.concat(
                [other.select(*shared, *(_summed(name, other) for name in sums)) for other in others]
            )
            if not shared:
                counts.append(own.select("class").join(found.sum(), how="cross"))
                continue
            found = found.group_by(shared, maintain_order=True).agg(pl.col(name).sum() for name in sums)
            counts.append(own.select("class", *shared).join(found, on=shared).select("class", *sums))
        parts.append(pl.concat(counts).group_by("class", maintain_order=True).agg(pl.col(sums).sum()))
    return pl.concat(parts).sort("class")


def _summed(name: str, table: pl.DataFrame) -> pl.Expr:
    return pl.col(name) if table.schema[name].is_float() else pl.col(name).cast(pl.Int64)


def compatible_members(
    table: pl.DataFrame, keys: Sequence[str], members: pl.DataFrame, rows: pl.DataFrame
) -> Iterator[pl.DataFrame]:
    """The members of all classes compatible with each ``class``, some classes at a time.

    ``rows`` says how many records are compatible with a class (``size``), so that a piece stays small.
    """
    patterns = _by_pattern(table, keys)
    for missing, whole in patterns.items():
        needed = whole.select("class").join(rows, on="class", maintain_order="left")["size"].cum_sum()
        shares = _by_shared(patterns, missing, keys)
        for own in whole.with_columns(piece=needed // _ROWS_AT_ONCE).partition_by("piece"):
            pairs = []
            for shared, others in shares.items():
                found = pl.concat([other.select(*shared, other="class") for other in others])
                mine = own.select("class", *shared)
                both = mine.join(found, on=shared) if shared else mine.join(found, how="cross")
                pairs.append(both.select("class", "other"))
            yield pl.concat(pairs).join(members, left_on="other", right_on="class").drop("other")


def _by_pattern(table: pl.DataFrame, keys: Sequence[str]) -> dict[frozenset[str], pl.DataFrame]:
    """The combinations by the set of columns they lack."""
    lacking = [pl.col(key).is_null().alias(f"no {key}") for key in keys]
    parts = table.with_columns(lacking).partition_by([f"no {key}" for key in keys], as_dict=True)
    return {
        frozenset(key for key, lacks in zip(keys, pattern) if lacks): part for pattern, part in parts.items()
    }


def _by_shared(
    patterns: dict[frozenset[str], pl.DataFrame], missing: frozenset[str], keys: Sequence[str]
) -> dict[tuple[str, ...], list[pl.DataFrame]]:
    """All combinations, by the columns that they and one pattern both have."""
    found: dict[tuple[str, ...], list[pl.DataFrame]] = {}
    for lacking, part in patterns.items():
        shared = tuple(key for key in keys if key not in missing and key not in lacking)
        found.setdefault(shared, []).append(part)
    return found
