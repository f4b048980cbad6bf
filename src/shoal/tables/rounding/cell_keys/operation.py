"""``perturb-table`` as an operation: from records by their name to counts that are perturbed by the keys of their records."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, parameter
from shoal.numbers import counted
from shoal.operation import Operation, Product, Workplace, call
from shoal.operation_release import ChangedTableRelease
from shoal.tables.operations.products import INTERVALS_FILES, layout_of
from shoal.tables.rounding.cell_keys.settings import PerturbTableSettings
from shoal.tables.rounding.changed_operation import check_changed
from shoal.tables.rounding.changed_products import LAYOUT, published_files, published_product
from shoal.tables.rounding.randomness import read_secret, reads, secret_product

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from shoal.tables.rounding.cell_keys.result import PerturbedTable
    from shoal.tables.rounding.changed_layout import ChangedLayout
    from shoal.tables.table_to_protect import TableToProtect


@dataclass(frozen=True)
class PerturbedCounts:
    """The perturbed table, and what it is to look like."""

    changed: "PerturbedTable"
    layout: "ChangedLayout"

    @property
    def table(self) -> "TableToProtect":
        """The table of true counts."""
        from shoal.tables.table_to_protect import TableToProtect

        return TableToProtect(self.changed.tabulation)


def run(settings: PerturbTableSettings, workplace: Workplace) -> PerturbedCounts:
    """Count, perturb, and have every count checked."""
    from shoal.tables.rounding.cell_keys.api import perturb_table
    from shoal.tables.rounding.cell_keys.files import read_text
    from shoal.tables.rounding.changed_layout import ChangedLayout
    from shoal.tables.table_to_protect import hierarchies_of

    workplace.say("reading")
    records = workplace.records(settings.data)
    given = None
    if settings.ptable is not None:
        text = workplace.as_file(settings.ptable, "txt")
        given = workplace.listed(settings.ptable) if text is None else read_text(text)
    workplace.say("perturbing")
    found = call(
        perturb_table,
        settings,
        workplace,
        records.as_written,
        hierarchies=hierarchies_of(settings, workplace),
        # Keys that the records have need no secret.
        secret=read_secret(settings, workplace) if settings.record_key is None else None,
        ptable=given,
    )
    made = found.tabulation
    return PerturbedCounts(
        found,
        ChangedLayout(
            made.table, found.values, made.trees, layout_of(settings, workplace.decimal), settings.dataflow
        ),
    )


def check(settings: PerturbTableSettings, written: frozenset[str]) -> None:
    """What says where keys come from, or how counts change, is said once; before anything is read."""
    check_changed(settings, written)
    if settings.record_key is not None and settings.secret is not None:
        raise InputError(
            f"{parameter('record_key')} names the keys, so there is nothing to draw: leave out {parameter('secret')}"
        )


def gate(result: PerturbedCounts, settings: PerturbTableSettings) -> str | None:
    """Nothing goes out from which a sensitive count could be computed too closely, nor what keys change that are none."""
    if result.changed.uneven:
        return (
            f"column '{settings.record_key}' holds no record keys: drawn evenly between 0 and 1 they would hardly ever be spread "
            "like this, and changes would have other chances than planned"
        )
    from shoal.tables.rounding.cell_keys.posterior import whole_groups

    audit = result.changed.audit
    bad = len({*audit.unsafe.tolist(), *audit.integer})
    if result.changed.safe:
        return None
    if audit.safe:
        return (
            f"a sensitive count stays as it is with a probability of {result.changed.staying:.3g}, so that what is published is "
            f"as good as true: take a larger {parameter('variance')}"
        )
    if whole := len(whole_groups(result.changed.tabulation.problem(insiders=False))):
        return (
            f"{counted(whole, 'sensitive count has', 'sensitive counts have')} all records of a total, which keys do not hide: "
            "merge categories, or hide such cells instead (suppress, with the rule group(n))"
        )
    words = ("sensitive count", "sensitive counts")
    return (
        f"{counted(bad, *words)} can be computed too closely, since true counts add up and change by at most "
        f"{result.changed.problem.deviation}; a larger {parameter('deviation')} helps"
    )


def check_perturbed(perturbed: "PerturbedTable", read: "np.ndarray") -> None:
    """Raise ``AssertionError`` unless the figures of a table, as they were read back, are the counts that were checked."""
    assert (read == perturbed.values).all(), "a count is another one"


def _internal(name: str) -> "Callable[[Any, Any], Any]":
    def make(result: PerturbedCounts, settings: object) -> Any:
        from shoal.sources.internal import marked

        return marked(getattr(result.changed, name))

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
        "shoal perturb-table people.csv --dimensions area,sex --record-key rkey --ptable ptable.txt -o counts.csv",
    ),
    doing="perturbing",
    settings=PerturbTableSettings,
    run=run,
    reads=reads,
    check=check,
    gate=gate,
    titled=lambda settings: f"{settings.data}: {' × '.join(settings.dimensions)}",
    products=(
        published_product(
            "The perturbed counts",
            "the perturbed counts",
            published_files("counts", "Perturbed counts"),
            check_perturbed,
        ),
        Product(
            "perturbation_table",
            "The chances of every change, in the format of ptable and cellKey (internal).",
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
    reporter="shoal.tables.rounding.cell_keys.report",
    function="shoal.tables.rounding.cell_keys.api:perturb_table",
    release=ChangedTableRelease(
        passes_on="counts.csv",
        secret_if=lambda values: values.get("record_key") is None,
        adds_up=False,
        confirms="shoal.tables.rounding.cell_keys.confirm:confirm",
        known="shoal.tables.rounding.known_bounds:perturbed",
    ),
    apart=LAYOUT | {"hierarchy", "hierarchies"},
)
