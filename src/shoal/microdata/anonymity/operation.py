"""``anonymity`` as an operation: one or several tables measured over the same columns."""

from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, parameter
from shoal.microdata.anonymity.settings import AnonymitySettings
from shoal.microdata.columns.hierarchies.operation import read_files, read_hierarchies
from shoal.operation import Engine, Operation, Workplace, call
from shoal.settings import EACH_RECORD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.microdata.anonymity.result import Anonymity
    from shoal.operation import DataName

    #: Each table by its name.
    Measured = list[tuple[str, Anonymity]]


def run(settings: AnonymitySettings, workplace: Workplace) -> "Measured":
    """Measure each table."""
    from shoal.microdata.anonymity.api import anonymity
    from shoal.microdata.columns.orders import read_orders, value_label_orders

    measured = []
    hierarchies = read_hierarchies(settings.hierarchies, workplace)
    for name in tables(settings):
        workplace.say(f"reading {name}")
        if (counted := _counted(settings, workplace, name)) is not None:
            measured.append(counted)
            continue
        records = workplace.records(name, columns=_columns(settings))
        if records.frame.is_empty():
            raise InputError(f"there are no records in '{records.name}'")
        orders: Any = read_orders(settings.ordinal)
        if records.labels is not None:
            orders = value_label_orders(orders, records.labels.values, records.labels.measures)
        population = None
        if settings.population is not None:
            population = workplace.records(
                settings.population, columns=settings.quasi, like=records
            ).as_written
        reference = None
        if settings.reference is not None:
            named = list(dict.fromkeys(c for c in [*settings.confidential, settings.unit] if c))
            reference = workplace.records(settings.reference, columns=named, like=records).as_written
        workplace.say(f"measuring {name}")
        result = call(
            anonymity,
            settings,
            workplace,
            records.as_written,
            hierarchies=hierarchies,
            ordinal=orders,
            population=population,
            reference=reference,
        )
        measured.append((records.name, result))
    return measured


def _columns(settings: AnonymitySettings) -> list[str] | None:
    """The columns to read: all of them where no column is named as the unit, since one of them may be it."""
    if settings.unit in (None, EACH_RECORD):
        return None
    wanted = [*settings.quasi, settings.unit, *settings.confidential]
    return [column for column in dict.fromkeys(wanted) if column]


def _counted(
    settings: AnonymitySettings, workplace: Workplace, name: "DataName"
) -> "tuple[str, Anonymity] | None":
    """What a database can count by itself: classes, without units or confidential values."""
    if (
        settings.unit is not None
        or settings.confidential
        or settings.models
        or settings.population is not None
    ):
        return None
    from shoal.microdata.anonymity.api import anonymity_of_counts

    if (classes := workplace.counted(name, list(settings.quasi))) is None:
        return None
    if classes.frame.is_empty():
        raise InputError(f"there are no records in '{classes.name}'")
    return classes.name, anonymity_of_counts(
        classes.frame, settings.quasi, classes.frame.columns[-1], settings.null
    )


def reads(settings: AnonymitySettings) -> "Sequence[DataName]":
    """The tables to measure, and what belongs to them."""
    beside = [place for place in (settings.population, settings.reference) if place is not None]
    return [*tables(settings), *read_files(settings.hierarchies), *beside]


def tables(settings: AnonymitySettings) -> "Sequence[DataName]":
    """The tables to measure."""
    if settings.tables == 1:
        return settings.data
    if len(settings.data) > 1:
        raise InputError(f"give several tables, or one with {parameter('tables')}, not both")
    from shoal.sources import numbered

    return numbered(settings.data[0], settings.tables)


def check(settings: AnonymitySettings, written: frozenset[str]) -> None:
    """Refuse a gate that nothing could pass or fail."""
    if settings.require_models and not settings.models:
        raise InputError(f"{parameter('require_models')} needs a model to hold: {parameter('models')}")


def gate(measured: "Measured", settings: AnonymitySettings) -> str | None:
    """The smallest K of all tables has to be what is required, and so every model in each of them."""
    worst = min(result.k for _, result in measured)
    refusals = []
    if settings.require_k is not None and worst < settings.require_k:
        refusals.append(f"K is {worst}, below the required {settings.require_k}")
    strict = min(result.k_strict for _, result in measured)
    if (
        settings.require_k is not None
        and strict < settings.require_k <= worst
        and not settings.accept_wildcard
    ):
        refusals.append(
            f"K is {worst} only where missing values match anything, and {strict} where they are values of their own, below the "
            f"required {settings.require_k}; {parameter('accept_wildcard')} lets it pass"
        )
    if settings.require_models:
        every = [outcome for _, result in measured for outcome in result.models if not outcome.holds]
        refusals += [f"{name} does not hold" for name in dict.fromkeys(outcome.named for outcome in every)]
    return "; ".join(refusals) or None


def titled(settings: AnonymitySettings) -> str:
    """A line by which the run is recognised."""
    which = settings.data[0] if len(settings.data) == 1 else f"{len(settings.data)} tables"
    return f"Risk of {which} by {', '.join(settings.quasi)}"


OPERATION = Operation(
    name="anonymity",
    title="Measure risk",
    summary="Report K, the class sizes and the anonymity vector.",
    description="Reports K, the class sizes, the anonymity vector and its exact rank. "
    f"With {parameter('models')} it measures models of privacy; with {parameter('require_models')} these are gates.",
    examples=(
        "shoal anonymity people.csv --quasi zip,age,sex",
        'shoal anonymity release.csv --quasi zip,age,sex --confidential illness --model "distinct(3)" --require-models',
        "shoal anonymity sqlite:///clinic.db::tabla --tables 5 --quasi AGE,CP,SEX",
    ),
    settings=AnonymitySettings,
    run=run,
    reads=reads,
    check=check,
    gate=gate,
    titled=titled,
    reporter="shoal.microdata.anonymity.report",
    function="shoal.microdata.anonymity.api:anonymity",
    apart=frozenset({"tables", "rank", "show_values", "require_k", "require_models", "accept_wildcard"}),
    engines={
        "stream": Engine(
            "shoal.stream.operations:run_anonymity",
            reporter="shoal.microdata.anonymity.report",
            takes=frozenset({"quasi", "unit", "rank", "require_k", "engine", "memory"}),
        ),
        "spark": Engine(
            "shoal.spark.operations:run_anonymity",
            reporter="shoal.microdata.anonymity.report",
            takes=frozenset(
                {"quasi", "unit", "confidential", "rank", "require_k", "engine", "master", "spark_conf"}
            ),
        ),
    },
)
