"""``perturb-table`` as an operation: from records by their name to counts that are perturbed by the keys of their records."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, parameter
from shoal.numbers import counted
from shoal.operation import Operation, Product, Workplace, call
from shoal.tables.operations.products import INTERVALS_FILES
from shoal.tables.rounding.cell_keys.settings import PerturbTableSettings
from shoal.tables.rounding.randomness import check_secret, read_secret, reads, secret_product

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.tables.rounding.cell_keys.api import PerturbedTable


@dataclass(frozen=True)
class PerturbedCounts:
    """The perturbed table."""

    found: "PerturbedTable"


def run(settings: PerturbTableSettings, place: Workplace) -> PerturbedCounts:
    """Count, perturb, and have every count checked."""
    from shoal.tables.rounding.cell_keys.api import perturb_table

    place.say("reading")
    records = place.records(settings.data)
    place.say("perturbing")
    found = call(
        perturb_table,
        settings,
        place,
        records.as_written,
        hierarchies={name: _hierarchy(name, given, place) for name, given in settings.hierarchy.items()},
        secret=read_secret(settings, place),
    )
    return PerturbedCounts(found)


def _hierarchy(name: str, given: str, place: Workplace) -> dict[str, str] | str:
    """The parent of each code: a list of them, or the file of τ-ARGUS."""
    file = place.as_file(given, "hrc")
    if file is not None:
        return str(file)
    frame = place.listed(given)
    if not {"code", "parent"} <= set(frame.columns):
        raise InputError(f"the hierarchy of '{name}' needs the columns 'code' and 'parent'")
    rows = frame.select("code", "parent").iter_rows()
    return {str(code): "" if parent is None else str(parent) for code, parent in rows}


def gate(result: PerturbedCounts, settings: PerturbTableSettings) -> str | None:
    """Nothing goes out from which a sensitive count could be computed too closely."""
    bad = int(result.found.audit.unsafe.size)
    if result.found.audit.safe:
        return None
    words = ("sensitive count", "sensitive counts")
    return (
        f"{counted(bad, *words)} can be computed too closely, since true counts add up and change by at most "
        f"{settings.deviation}; a larger {parameter('deviation')} helps"
    )


def check_perturbed(found: "PerturbedTable", frame: Any) -> None:
    """Raise ``AssertionError`` unless a table, as it was read back, has the counts that were checked."""
    from shoal.tables.rounding.changed_tables import figures_of

    assert (figures_of(found.tabulation.table, frame) == found.values).all(), "a count is another one"


def _internal(name: str) -> "Callable[[Any, Any], Any]":
    def make(result: PerturbedCounts, settings: object) -> Any:
        from shoal.sources.internal import marked

        return marked(getattr(result.found, name))

    return make


OPERATION = Operation(
    name="perturb-table",
    title="Perturb counts",
    summary="Count records and perturb every count by the keys of its records (cell-key method).",
    description="The same records give the same figure in every table that is made with the same secret, so that tables cannot "
    "be compared to undo it. Empty cells stay empty; totals need not add up.\n\n"
    f"Keep the secret with {parameter('secret')}: the next table needs it. The perturbation table and all keys are internal.",
    examples=(
        "shoal perturb-table people.csv --dimensions area,sex --record id -o counts.csv --secret secret.txt",
        "shoal perturb-table people.csv --dimensions area,age --record id --deviation 5 --variance 2 --small 2 -o counts.csv "
        "--secret secret.txt",
    ),
    doing="perturbing",
    settings=PerturbTableSettings,
    run=run,
    reads=reads,
    check=check_secret,
    gate=gate,
    titled=lambda settings: f"{settings.data}: {' × '.join(settings.dimensions)}",
    products=(
        Product(
            "output",
            "The perturbed counts, to publish.",
            lambda result, settings: result.found.published,
            short="-o",
            metavar="TABLE",
            check=lambda result, settings: partial(check_perturbed, result.found),
            like_input=False,
            files=(("counts.csv", "Perturbed counts (CSV)"), ("counts.xlsx", "Perturbed counts (Excel)")),
            subject="the perturbed counts",
        ),
        Product(
            "perturbation_table",
            "The chances of every change (internal).",
            _internal("perturbation_table"),
            internal=True,
            files=(("chances.csv", "Perturbation table, internal (CSV)"),),
        ),
        Product(
            "intervals",
            "What can be computed of the cells (internal).",
            _internal("intervals"),
            internal=True,
            files=INTERVALS_FILES,
        ),
        secret_product(),
    ),
    methods="shoal.tables.rounding.cell_keys.methods:METHODS",
    telling="shoal.tables.rounding.cell_keys.report",
    function="shoal.tables.rounding.cell_keys.api:perturb_table",
    apart=frozenset({"hierarchy", "hierarchies"}),
)
