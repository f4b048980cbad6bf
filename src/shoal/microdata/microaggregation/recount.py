"""What microaggregated columns lost, computed again from the columns before and after."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from shoal.microdata.columns.attributes import read_attribute
from shoal.microdata.columns.class_figures import as_texts, class_figures
from shoal.microdata.columns.units import unit_column
from shoal.microdata.microaggregation.solution import read_labels
from shoal.microdata.microaggregation.verify import column_loss
from shoal.operation_release import Evidence, RecordPair


def squared_errors(
    before: pl.DataFrame, after: pl.DataFrame, columns: Sequence[str], weights: Mapping[str, float]
) -> dict[str, Any]:
    """Squared errors, in all and of a single group, and their share; both frames have the records in one order.

    >>> frame = pl.DataFrame({"pay": [1.0, 2.0, 3.0, 4.0]})
    >>> squared_errors(frame, frame, ["pay"], {})["loss_percent"]
    0.0
    """
    sse = sst = 0.0
    for name in columns:
        values = [read_attribute(nw.from_native(frame, eager_only=True), name) for frame in (before, after)]
        error, total, _ = column_loss(values[0], values[1].values)
        weight = weights.get(name, 1.0)
        sse, sst = sse + weight * error, sst + weight * total
    return {"sse": sse, "sst": sst, "loss_percent": 100.0 * sse / sst if sst > 0 else 0.0}


def recounted(evidence: Evidence) -> dict[str, Any]:
    """The figures of a microaggregation, as far as what was read and published tells them."""
    settings, links = evidence.settings, evidence.links
    columns, quasi = list(evidence.stated["columns"]), list(evidence.stated["quasi"])
    stated: dict[str, Any] = {
        "method": settings.method,
        "k": settings.k,
        "records": int((links >= 0).sum()),
        "set_aside": int((links < 0).sum()),
        "quasi_guessed": settings.quasi is None,
        "null": "own",
        **({} if settings.columns is None else {"columns": settings.columns}),
        **({} if settings.quasi is None else {"quasi": settings.quasi}),
    }
    labels = evidence.folder / "labels.csv"
    if labels.exists():
        sizes = Counter(read_labels(labels).tolist()).values()
        stated |= {"clusters": len(sizes), "min_cluster": min(sizes), "max_cluster": max(sizes)}
    pair = evidence.records()
    if pair is None:
        return stated
    unit = unit_column(settings.unit, pair.before.columns)
    if not pair.reads([] if unit is None else [unit]):
        return stated
    units = None if unit is None else pair.originals[unit]
    if pair.shows(columns):
        stated["k_protected"] = class_figures(as_texts(pair.released, columns), units)["k"]
        only_numbers = not settings.ordinal and not settings.nominal and settings.missing != "value"
        if only_numbers and pair.reads(columns):
            weights = settings.attribute_weights or {}
            stated |= squared_errors(pair.originals, pair.released, columns, weights)
    if pair.shows(quasi):
        classes = class_figures(as_texts(pair.released, quasi), units)
        stated |= {
            "k_release": classes.pop("k"),
            **{name: classes[name] for name in classes if name != "classes"},
        }
    return stated


def lost(settings: Any, folder: Path, pair: RecordPair, columns: Sequence[str]) -> float | None:
    """The share of the squared errors of a single group, in percent; not of categories, or with weights."""
    if settings.ordinal or settings.nominal or settings.missing == "value" or settings.attribute_weights:
        return None
    loss: float = squared_errors(pair.originals, pair.released, columns, {})["loss_percent"]
    return loss
