"""``recode`` as an operation: from data by its name to a checked release with the mapping that was applied."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, parameter
from shoal.microdata.columns.hierarchies.operation import read_files, read_hierarchies
from shoal.microdata.columns.products import record_links, released_parts, released_records
from shoal.microdata.recoding.settings import RecodeSettings
from shoal.operation import DataName, Engine, Operation, Product, Records, Workplace, call
from shoal.operation_release import OF_PEOPLE, RecordsRelease

if TYPE_CHECKING:
    from shoal.microdata.recoding.result import Recoded


def run(settings: RecodeSettings, workplace: Workplace) -> "Recoded":
    """Recode the records."""
    from shoal.microdata.columns.orders import read_orders, value_label_orders
    from shoal.microdata.recoding.api import recode
    from shoal.microdata.recoding.mapping import AppliedMapping
    from shoal.runtime.overall import Overall

    workplace.say("reading")
    records = workplace.records(settings.data)
    orders: Any = read_orders(settings.ordinal)
    if records.labels is not None:
        orders = value_label_orders(orders, records.labels.values, records.labels.measures)
    population = None if settings.population is None else workplace.records(settings.population, like=records)
    earlier = None if settings.apply is None else AppliedMapping.read(workplace.file(settings.apply))
    kept = None if settings.secret is None else workplace.file(settings.secret)
    workplace.say("searching")
    return call(
        recode,
        settings,
        workplace,
        records.as_written,
        hierarchies=read_hierarchies(settings.hierarchies, workplace),
        ordinal=orders,
        population=None if population is None else population.as_written,
        apply=earlier,
        secret=kept if kept is not None and kept.exists() else None,
        drop=removed(settings, records),
        roles=records.roles,
        # The curves of several searches would not make one picture.
        observer=Overall(workplace.observe) if settings.by else workplace.observe,
    )


def removed(settings: RecodeSettings, records: Records) -> list[str]:
    """The columns to remove: those named, or else confirmed identifiers that nothing asks for."""
    if settings.drop is not None:
        return settings.drop
    named = (settings.unit, settings.household, settings.sample_weights)
    wanted = {*settings.quasi, *settings.confidential, *settings.by, *settings.average, *named}
    roles = records.roles or {}
    return [name for name, role in roles.items() if role == "identifier" and name not in wanted]


def reads(settings: RecodeSettings) -> list[DataName]:
    """The data, and what belongs to it."""
    beside = [settings.population, settings.apply]
    if settings.secret is not None and Path(settings.secret).exists():
        beside.append(settings.secret)
    return [settings.data, *read_files(settings.hierarchies), *[name for name in beside if name is not None]]


def check(settings: RecodeSettings, written: frozenset[str]) -> None:
    """Refuse what cannot be written with these settings, before anything is read."""
    from shoal.microdata.recoding.methods import METHODS
    from shoal.microdata.recoding.requirements import check_uniform

    if settings.method in METHODS:
        check_uniform(settings)
    if "mapping" in written and settings.by:
        raise InputError(
            f"every stratum of {parameter('by')} has a recoding of its own; one mapping cannot hold them"
        )
    if "mapping" in written and settings.apply is None and "uniform" not in METHODS[settings.method].traits:
        raise InputError(
            f"a mapping holds one recoding for all records, and method '{settings.method}' may release records of one value "
            f"in several ways; add {parameter('method', 'lattice')}, or leave out the mapping"
        )


def gate(result: "Recoded", settings: RecodeSettings) -> str | None:
    """K has to hold without wildcards: whoever knows a person links the values that are shown, whatever a blank may match."""
    if result.k_strict >= result.k or settings.accept_wildcard:
        return None
    return (
        f"K is {result.k_strict} where a blank is a value of its own, below k = {result.k}; it is {result.k_release} only where "
        f"blanks match anything, which hides nobody whose values are shown. {parameter('null', 'own')} makes k hold; "
        f"{parameter('accept_wildcard')} releases it as it is"
    )


def _mapping(result: "Recoded", settings: RecodeSettings) -> str | None:
    """What every value became; where records of one value differ there is no such list."""
    return None if result.mapping is None else result.mapping.text()


_MAPPING = Product(
    "mapping",
    f"Write what every value became, for {parameter('apply')} next time; internal.",
    _mapping,
    form="text",
    metavar="MAPPING",
    internal=True,
    files=(("mapping.json", "The mapping that was applied, internal"),),
)


def _chooses(values: Mapping[str, Any]) -> bool:
    """Whether records that are equal may be treated differently; whole columns treat them alike."""
    from shoal.microdata.recoding.methods import METHODS

    return "uniform" not in METHODS[values.get("method", "auto")].traits and "apply" not in values


OPERATION = Operation(
    name="recode",
    title="Recode keys",
    summary="Generalise or suppress key variables until every class has at least k units.",
    description="Finds the recoding that loses least, and says how far it is from the best possible. Works without a hierarchy "
    "file: a rule is proposed for each key and printed.\n\n"
    f"Ctrl-C or {parameter('time_limit')} end the search with the best found so far, checked like any other result; with "
    f"{parameter('engine', 'spark')} Ctrl-C gives up and nothing is written.",
    examples=(
        "shoal recode survey.csv --quasi age,sex,municipality,education -k 5 -o safe.csv --report safe.html",
        'shoal recode survey.csv --quasi age,sex -k 3 --hierarchy "age=intervals(5,10,20)" --suppress 0.05 --method lattice',
    ),
    doing="recoding",
    settings=RecodeSettings,
    run=run,
    reads=reads,
    check=check,
    gate=gate,
    titled=lambda settings: f"{settings.data}: k = {settings.k} over {', '.join(settings.quasi)}",
    products=(
        released_records("the recoded records"),
        _MAPPING,
        Product(
            "secret",
            "",
            lambda result, settings: result.secret.text() if result.drawn or settings.secret else None,
            form="text",
            internal=True,
            named_by="secret",
            files=(("secret.txt", "The secret that repeats this release, internal"),),
        ),
        record_links(),
    ),
    methods="shoal.microdata.recoding.methods:METHODS",
    reporter="shoal.microdata.recoding.report",
    function="shoal.microdata.recoding.api:recode",
    apart=frozenset({"roles", "accept_wildcard"}),
    release=RecordsRelease(
        gates=(*OF_PEOPLE, "loss"),
        draws="secret",
        draws_if=_chooses,
        searches=True,
        touches=("quasi", "average"),
        removed_roles=("identifier",),
        keys=("quasi",),
        states_columns="quasi",
        recounts="shoal.microdata.recoding.recount:recounted",
        loss="shoal.microdata.recoding.recount:lost",
    ),
    engines={
        "spark": Engine(
            "shoal.spark.operations:run_recode",
            reporter="shoal.microdata.recoding.large_report",
            takes=frozenset(
                {
                    *(
                        "quasi",
                        "k",
                        "hierarchies",
                        "suppress",
                        "ordinal",
                        "measure",
                        "weights",
                        "stay",
                        "levels",
                        "drop",
                        "unit",
                    ),
                    *("method", "order", "iterations", "time_limit", "engine", "master", "spark_conf"),
                }
            ),
            products=(released_parts("the recoded records"), _MAPPING),
        )
    },
)
