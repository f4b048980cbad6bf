"""Whether the cells of a table are the sums of their records, and sensitive by the rules, added up again by other means."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal import sources
from shoal.exact_names import exactly
from shoal.operation_release import Evidence
from shoal.sources.internal import marked
from shoal.sources.same_values import same_values
from shoal.tables.model.columns import MISSING
from shoal.tables.operations.tabulate import run


def check_sums(evidence: Evidence) -> Iterator[tuple[str, bool | None, str]]:
    """What was looked at, whether it holds, and what was seen."""
    settings, step = evidence.settings, f"step '{evidence.name}'"
    used = [*settings.dimensions, *[name for name in (settings.value, settings.weight) if name]]
    original = evidence.source(used)
    if original is None:
        yield "table", None, f"the records of {step} were changed before they were added up"
        return
    amount = pl.lit(1.0) if settings.value is None else exactly(settings.value).cast(pl.Float64)
    weight = pl.lit(1.0) if settings.weight is None else exactly(settings.weight).cast(pl.Float64)
    names = [exactly(name).cast(pl.String) for name in settings.dimensions]
    sums = (
        _taking_part(original, settings)
        .select(*names, (amount * weight).alias("sum of it"))
        .group_by(exactly(*settings.dimensions))
        .sum()
    )
    cells = sources.read(str(evidence.folder / "cells.csv")).as_written
    stated = cells.select(*names, pl.col("value").cast(pl.Float64).alias("as stated"))
    both = sums.join(stated, on=[exactly(name) for name in settings.dimensions], how="left")
    same = np.isclose(both["sum of it"].to_numpy(), both["as stated"].to_numpy(), rtol=1e-8)
    wrong = int((~same).sum())
    yield "table", not wrong, f"{wrong} cells of {step} are not the sum of their records, of {both.height}"
    if evidence.on_source:
        differing = _differing(evidence, cells)
        found = "are not what the rules give" if differing else "are sensitive by the rules of the plan"
        of = f"{', '.join(differing)} of the cells" if differing else "the cells"
        yield "rules", not differing, f"{of} of {step} {found}"


def _taking_part(original: pl.DataFrame, settings: Any) -> pl.DataFrame:
    """The records that a table is made of, with the code that missing ones get where they have one."""

    def text_of(name: str) -> pl.Expr:
        text = exactly(name).cast(pl.String)
        return pl.when(text != "").then(text)

    own_code = settings.missing == "category"
    needed = [name for name in (settings.value, settings.weight, settings.cost) if name in original.columns]
    if not own_code:
        needed += [*settings.dimensions, *([settings.contributor] if settings.contributor else [])]
    records = original.filter(*(text_of(name).is_not_null() for name in needed)) if needed else original
    if own_code:
        records = records.with_columns(text_of(name).fill_null(MISSING) for name in settings.dimensions)
    return records


def _differing(evidence: Evidence, cells: pl.DataFrame) -> list[str]:
    """The columns of the cells that the same rules give otherwise."""
    made = run(evidence.settings, evidence.workplace)
    with tempfile.TemporaryDirectory(dir=evidence.folder) as aside:
        sources.write(marked(made.frame), Path(aside) / "cells.csv")
        again = sources.read(str(Path(aside) / "cells.csv")).as_written
    same = again.columns == cells.columns and again.height == cells.height
    return [name for name in cells.columns if not same or not same_values(again[name], cells[name])]
