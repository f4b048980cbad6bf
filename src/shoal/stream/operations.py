"""The operations as commands run them on files larger than memory."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, unknown
from shoal.exact_names import exactly
from shoal.operation import call
from shoal.stream.records import Source

if TYPE_CHECKING:
    from shoal.microdata.anonymity.operation import Measured
    from shoal.microdata.microaggregation.leaves.result import LargeMicroaggregation


def run_microaggregate(settings: Any, workplace: Any) -> "LargeMicroaggregation":
    """Protect the records of Parquet files, slice by slice."""
    from shoal.stream.microaggregate import microaggregate

    result = call(
        microaggregate,
        settings,
        workplace,
        aggregate=settings.aggregate or "mean",
        missing=settings.missing or "refuse",
        drop=settings.drop or [],
        roles=None,
    )
    workplace.lasting.callback(result.close)
    return result


def run_anonymity(settings: Any, workplace: Any) -> "Measured":
    """Count the classes of each table, as many at a time as fit."""
    from shoal.microdata.columns.inputs import check_quasi
    from shoal.microdata.columns.units import unit_column, unit_remarks
    from shoal.stream.classes import count_classes
    from shoal.stream.memory import room_for, row_bytes

    measured = []
    for name in settings.data:
        source = Source(name)
        unit = unit_column(settings.unit, source.schema.names())
        for column in (*settings.quasi, unit):
            if column is not None and column not in source.schema:
                raise unknown("column", column, source.schema.names(), where="in the data")
        check_quasi(settings.quasi, unit, ())
        if not source.records:
            raise InputError(f"there are no records in '{name}'")
        some = source.plan.select(exactly(*settings.quasi)).head(10_000).collect(engine="streaming")
        room = room_for(settings.memory, row_bytes(some), len(settings.quasi), 1_000)
        found = count_classes(source.plan, settings.quasi, source.records, room.classes, unit)
        remarks = unit_remarks(source.plan, settings.unit, but=settings.quasi)
        measured.append((name, replace(found, remarks=tuple(remarks))))
    return measured
