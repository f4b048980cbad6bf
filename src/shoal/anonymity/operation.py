"""``anonymity`` as an operation: one or several tables measured over the same columns."""

from typing import TYPE_CHECKING

from shoal.anonymity.settings import AnonymitySettings
from shoal.errors import InputError, parameter
from shoal.operation import Operation, Workplace, call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.anonymity.measure import Anonymity
    from shoal.operation import Place

    #: Each table by its name.
    Measured = list[tuple[str, Anonymity]]


def run(settings: AnonymitySettings, place: Workplace) -> "Measured":
    """Measure each table."""
    from shoal.anonymity.measure import anonymity

    measured = []
    for name in reads(settings):
        place.say(f"measuring {name}")
        wanted = [*settings.quasi, settings.unit, settings.confidential]
        records = place.records(name, columns=[column for column in dict.fromkeys(wanted) if column])
        if records.frame.is_empty():
            raise InputError(f"there are no records in '{records.name}'")
        result = call(anonymity, settings, place, records.as_written)
        measured.append((records.name, result))
    return measured


def reads(settings: AnonymitySettings) -> "Sequence[Place]":
    """The tables to measure."""
    if settings.tables == 1:
        return settings.data
    if len(settings.data) > 1:
        raise InputError(f"give several tables, or one with {parameter('tables')}, not both")
    from shoal.sources import numbered

    return numbered(settings.data[0], settings.tables)


def gate(measured: "Measured", settings: AnonymitySettings) -> str | None:
    """The smallest K of all tables has to be what is required."""
    worst = min(result.k for _, result in measured)
    if settings.require_k is None or worst >= settings.require_k:
        return None
    return f"K is {worst}, below the required {settings.require_k}"


def titled(settings: AnonymitySettings) -> str:
    """A line by which a person recognises the run."""
    which = settings.data[0] if len(settings.data) == 1 else f"{len(settings.data)} tables"
    return f"Risk of {which} by {', '.join(settings.quasi)}"


OPERATION = Operation(
    name="anonymity",
    title="Measure risk",
    summary="Measure how well people are hidden: K and the vector.",
    description="Prints classes, K, the anonymity vector and its exact rank, and how many people are in crowds of which size.",
    examples=(
        "shoal anonymity people.csv --quasi zip,age,sex",
        "shoal anonymity sqlite:///clinic.db::tabla --tables 5 --quasi AGE,CP,SEX",
    ),
    settings=AnonymitySettings,
    run=run,
    reads=reads,
    gate=gate,
    titled=titled,
    telling="shoal.anonymity.report",
    function="shoal.anonymity.measure:anonymity",
    apart=frozenset({"tables", "rank", "show_values", "require_k"}),
)
