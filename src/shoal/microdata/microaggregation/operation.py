"""``microaggregate`` as an operation: from data by its name to a checked release with its groups and links."""

from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, parameter
from shoal.microdata.columns.products import record_links, released_parts, released_records
from shoal.microdata.columns.roles import REMOVED
from shoal.microdata.microaggregation.settings import MicroaggregateSettings
from shoal.operation import DataName, Engine, Operation, Product, Records, Workplace, call
from shoal.operation_release import OF_PEOPLE, RecordsRelease

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from shoal.microdata.microaggregation.result import Microaggregation


def run(settings: MicroaggregateSettings, workplace: Workplace) -> "Microaggregation":
    """Protect the records."""
    from shoal.microdata.columns.orders import read_orders, value_label_orders
    from shoal.microdata.microaggregation.api import microaggregate
    from shoal.microdata.microaggregation.solution import read_labels
    from shoal.runtime.overall import Overall

    workplace.say("reading")
    records = workplace.records(settings.data)
    orders: Any = settings.ordinal
    if records.labels is not None:
        orders = value_label_orders(read_orders(orders), records.labels.values, records.labels.measures)
    start = None if settings.start is None else read_labels(workplace.file(settings.start))
    workplace.say("looking at the columns")
    return call(
        microaggregate,
        settings,
        workplace,
        records.frame,
        ordinal=orders,
        drop=removed(settings, records),
        roles=records.roles,
        start=start,
        # The curves of several searches would not make one picture.
        observer=Overall(workplace.observe) if in_groups(settings) or settings.by else workplace.observe,
    )


def in_groups(settings: MicroaggregateSettings) -> bool:
    """Whether columns are protected in several groups, or may be."""
    return settings.groups == "auto" or len(settings.groups or ()) > 1


def removed(settings: MicroaggregateSettings, records: Records) -> list[str]:
    """The columns to remove: those named, or else confirmed identifiers and units that nothing asks for."""
    if settings.drop is not None:
        return settings.drop
    groups = settings.groups if isinstance(settings.groups, list) else []
    wanted = {*(settings.columns or ()), *settings.ordinal, *settings.nominal, *(settings.quasi or ())}.union(
        *groups
    )
    roles = records.roles or {}
    return [name for name, role in roles.items() if role in REMOVED and name not in wanted]


def reads(settings: MicroaggregateSettings) -> list[DataName]:
    """The data, and the groups to begin from."""
    return [settings.data, *([settings.start] if settings.start is not None else [])]


def check(settings: MicroaggregateSettings, written: frozenset[str]) -> None:
    """Refuse what cannot be written with these settings, before anything is read."""
    if "labels" in written and in_groups(settings):
        raise InputError(
            f"{parameter('labels')} holds one partition; it cannot be used with several {parameter('groups')}"
        )
    if settings.require_k is not None and "output" not in written:
        raise InputError(
            f"{parameter('require_k')} is a gate before writing; name an output with {parameter('output')}"
        )


def gate(result: "Microaggregation", settings: MicroaggregateSettings) -> str | None:
    """K over all that could be known has to be what is required."""
    if settings.require_k is None or result.k_release >= settings.require_k:
        return None
    return (
        f"K of the release over {', '.join(result.quasi)} is {result.k_release}, below the required "
        f"{settings.require_k}"
    )


def _labels(result: "Microaggregation", settings: MicroaggregateSettings) -> str | None:
    """The group of every record: it says who was made equal to whom. Of several partitions there is no such list."""
    from shoal.sources.internal import marked_text

    if len(result.parts) > 1:
        return None
    return marked_text("\n".join(str(label) for label in result.labels.tolist()))


def _elsewhere(run: str, *own: str) -> Engine:
    """What is the same wherever nobody holds all records."""
    return Engine(
        run,
        reporter="shoal.microdata.microaggregation.leaves.report",
        checked=True,
        takes=frozenset(
            {
                *(
                    "columns",
                    "k",
                    "quasi",
                    "unit",
                    "require_k",
                    "by",
                    "drop",
                    "missing",
                    "aggregate",
                    "largest",
                ),
                *("attribute_weights", "order", "method", "options", "iterations", "seed"),
                *("engine", *own),
            }
        ),
        products=(released_parts("the protected records"),),
        methods="shoal.microdata.microaggregation.leaves.methods:METHODS",
    )


def _texts_to_average(settings: Any, source: "pl.DataFrame") -> "Iterator[tuple[str, str]]":
    import polars as pl

    for name in settings.columns or ():
        text = name in source.columns and source.schema[name] in (pl.String, pl.Categorical)
        if text and name not in settings.ordinal and name not in settings.nominal:
            why = f"column '{name}' holds texts, which have no mean; leave it out of {parameter('columns')}, or name it in "
            which = f"{parameter('ordinal')} if its values have an order, in {parameter('nominal')} if not"
            yield "columns", f"{why}{which}"


OPERATION = Operation(
    name="microaggregate",
    title="Protect records",
    summary="Make every record equal to at least k−1 others.",
    description="Records are replaced by the means of groups of at least k, with the least loss found and a bound on the least "
    "possible.\n\n"
    f"Ctrl-C or {parameter('time_limit')} end the search with the best found so far, checked like any other result; with another "
    f"{parameter('engine')} than local Ctrl-C gives up and nothing is written.",
    examples=(
        "shoal microaggregate survey.csv -k 5 -o safe.csv --report safe.html",
        "shoal microaggregate firms.csv -k 3 --columns turnover,staff --by region --time-limit 60 -o safe.csv",
    ),
    doing="microaggregating",
    settings=MicroaggregateSettings,
    run=run,
    reads=reads,
    check=check,
    gate=gate,
    titled=lambda settings: f"{settings.data}: k = {settings.k}, {settings.method}",
    products=(
        released_records("the protected records"),
        Product(
            "labels",
            "Write the groups here.",
            _labels,
            form="text",
            metavar="LABELS",
            internal=True,
            files=(("labels.csv", "Groups of the records, internal"),),
        ),
        record_links(),
    ),
    methods="shoal.microdata.microaggregation.methods:METHODS",
    reporter="shoal.microdata.microaggregation.report",
    function="shoal.microdata.microaggregation.api:microaggregate",
    apart=frozenset({"require_k", "roles"}),
    release=RecordsRelease(
        gates=(*OF_PEOPLE, "loss"),
        searches=True,
        touches=("columns",),
        touches_role="measurement",
        states_columns="columns",
        removed_roles=REMOVED,
        faults=_texts_to_average,
        recounts="shoal.microdata.microaggregation.recount:recounted",
        loss="shoal.microdata.microaggregation.recount:lost",
    ),
    engines={
        "stream": _elsewhere("shoal.stream.operations:run_microaggregate", "memory"),
        "spark": _elsewhere("shoal.spark.operations:run_microaggregate", "master", "spark_conf"),
    },
)
