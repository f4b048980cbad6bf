"""The figures of a perturbation, counted again from the records before and after."""

from typing import Any

import polars as pl

from shoal.operation_release import Evidence


def recounted(evidence: Evidence) -> dict[str, Any]:
    """All figures, where the same can be drawn once more; else how many values differ."""
    if evidence.on_source:
        return evidence.again()
    settings = evidence.settings
    columns = list(settings.columns or evidence.stated["columns"])
    stated: dict[str, Any] = {"method": settings.method, "for_release": True, "columns": columns}
    pair = evidence.records()
    if pair is None:
        return stated
    stated["records"] = pair.links.size
    if pair.shows(columns) and pair.reads(columns):
        changed = {name: _differing(pair.originals[name], pair.released[name]) for name in columns}
        shares = {name: count / pair.links.size for name, count in changed.items()}
        stated |= {"changed": changed, "changed_share": shares}
    return stated


def _differing(before: pl.Series, after: pl.Series) -> int:
    kind = pl.Float64 if before.dtype.is_numeric() and after.dtype.is_numeric() else pl.String
    return int((~before.cast(kind).eq_missing(after.cast(kind))).sum())
