"""``perturb`` as an operation: from data by its name to a checked release, with its secret and its matrices."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, parameter
from shoal.microdata.columns.products import record_links, released_records
from shoal.microdata.columns.roles import REMOVED
from shoal.microdata.perturbation.settings import PerturbSettings
from shoal.operation import DataName, Operation, Product, Records, Workplace, call
from shoal.operation_release import RecordsRelease

if TYPE_CHECKING:
    from shoal.microdata.perturbation.result import Perturbed


def run(settings: PerturbSettings, workplace: Workplace) -> "Perturbed":
    """Perturb the records."""
    from shoal.microdata.columns.orders import read_orders, value_label_orders
    from shoal.microdata.perturbation.api import perturb

    options = method_options(settings)
    workplace.say("reading")
    records = workplace.records(settings.data)
    orders: Any = read_orders(settings.ordinal)
    if records.labels is not None and orders:
        orders = value_label_orders(orders, records.labels.values, records.labels.measures)
    kept = None if settings.secret is None else workplace.file(settings.secret)
    workplace.say("perturbing")
    return call(
        perturb,
        settings,
        workplace,
        records.frame,
        options=options,
        ordinal=orders,
        matrix=None if settings.matrix is None else workplace.file(settings.matrix),
        secret=kept if kept is not None and kept.exists() else None,
        drop=removed(settings, records),
    )


def method_options(settings: PerturbSettings) -> dict[str, Any]:
    """The options of the method with the amounts that have settings of their own; one that does nothing is refused."""
    from shoal.microdata.perturbation.inputs import AMOUNTS
    from shoal.microdata.perturbation.methods import METHODS

    chosen = METHODS[settings.method]
    found = dict(settings.options)
    for name in AMOUNTS:
        value = getattr(settings, name)
        if value is None:
            continue
        if name not in chosen.options_model.model_fields:
            raise InputError(f"{parameter(name)} does nothing with method '{settings.method}'; leave it out")
        if name in found:
            raise InputError(f"{parameter(name)} is given twice, also as an option of the method")
        found[name] = value
    return found


def removed(settings: PerturbSettings, records: Records) -> list[str]:
    """The columns to remove: those named, or else confirmed identifiers and units that nothing asks for."""
    if settings.drop is not None:
        return settings.drop
    wanted = {*(settings.columns or ()), *settings.by, *settings.regions, *settings.quasi, settings.household}
    roles = records.roles or {}
    return [name for name, role in roles.items() if role in REMOVED and name not in wanted]


def reads(settings: PerturbSettings) -> list[DataName]:
    """The data, a matrix, and a secret that is there already."""
    secret = [settings.secret] if settings.secret is not None and Path(settings.secret).exists() else []
    return [settings.data, *([settings.matrix] if settings.matrix is not None else []), *secret]


def check(settings: PerturbSettings, written: frozenset[str]) -> None:
    """Refuse what does not go together, before anything is read."""
    if settings.secret is not None and settings.seed is not None:
        raise InputError(f"{parameter('secret')} and {parameter('seed')} do not go together")
    matrices = written & {"matrices", "published_matrices"}
    if matrices and settings.method != "pram":
        raise InputError(
            f"{parameter(min(matrices))} is for PRAM; method '{settings.method}' has no matrices"
        )
    method_options(settings)


def _internal_matrices(result: "Perturbed", settings: PerturbSettings) -> str | None:
    from shoal.microdata.perturbation.matrices import internal_matrices

    return internal_matrices(result)


def _published_matrices(result: "Perturbed", settings: PerturbSettings) -> str | None:
    from shoal.microdata.perturbation.matrices import published_matrices

    return published_matrices(result)


OPERATION = Operation(
    name="perturb",
    title="Perturb records",
    summary="Change values by chance: PRAM, swapping, noise, shuffling.",
    description="What the method promises (shares, means, values, households) is checked on what is written. Perturbation "
    "promises no k: measure what it bought with 'shoal compare'.\n\n"
    f"The randomness comes from a secret of the operating system; {parameter('secret')} keeps it, to repeat the release.",
    examples=(
        "shoal perturb survey.csv --method pram --columns job,education --change 0.1 --by region -o safe.csv "
        "--secret secret.txt",
        "shoal perturb firms.csv --method rank-swap --columns turnover,staff --window 5 -o safe.csv",
    ),
    doing="perturbing",
    settings=PerturbSettings,
    run=run,
    reads=reads,
    check=check,
    titled=lambda settings: f"{settings.data}: {settings.method}",
    products=(
        released_records("the perturbed records"),
        Product(
            "secret",
            "",
            lambda result, settings: result.secret.text(),
            form="text",
            internal=True,
            named_by="secret",
            files=(("secret.txt", "The secret that repeats this release, internal"),),
        ),
        Product(
            "matrices",
            "Write the matrices of PRAM as they were used, as JSON; internal.",
            _internal_matrices,
            form="text",
            internal=True,
            ending=".json",
            files=(("matrices.json", "Transition matrices as they were used, internal"),),
        ),
        Product(
            "published_matrices",
            "Write matrices of PRAM made of rounded counts of large strata as JSON, to publish with the release.",
            _published_matrices,
            form="text",
            ending=".json",
            files=(("published-matrices.json", "Rounded transition matrices, to publish"),),
        ),
        record_links("Which released record is which, internal"),
    ),
    methods="shoal.microdata.perturbation.methods:METHODS",
    reporter="shoal.microdata.perturbation.report",
    function="shoal.microdata.perturbation.api:perturb",
    apart=frozenset({"change", "window", "amount", "share"}),
    release=RecordsRelease(
        draws="secret",
        touches=("columns",),
        states_columns="columns",
        written=replace(RecordsRelease.written, options_hold_others=True),
        recounts="shoal.microdata.perturbation.recount:recounted",
        removed_roles=REMOVED,
    ),
)
