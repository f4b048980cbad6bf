"""The table that the settings name: built from records, or read as a matrix, a list of cells or a whole problem."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, parameter
from shoal.exact_names import exactly
from shoal.numbers import counted
from shoal.operation import Records, Workplace, call
from shoal.remarks import Remark, Remarked, note
from shoal.tables.as_problem import NotNumeric, already_sensitive, as_problem, as_table, share_of
from shoal.tables.files.argus_described import DESCRIBED, described
from shoal.tables.files.argus_metadata import Metadata, read_metadata
from shoal.tables.files.frames import as_list
from shoal.tables.files.hierarchies import as_hierarchy, read_hierarchy
from shoal.tables.files.loading import (
    is_list_of_cells,
    load,
    load_cells,
    load_general,
    read_cells,
    without_contributors,
)
from shoal.tables.model.apriori import apply_apriori
from shoal.tables.model.linked import link
from shoal.tables.model.rows_of_cells import unseen
from shoal.tables.model.table import Table
from shoal.tables.model.tabulated import NO_RULE, Tabulation
from shoal.tables.model.tabulation import tabulate
from shoal.tables.model.trees import Tree
from shoal.tables.problem import Problem
from shoal.tables.settings import TableSettings, TabulationSettings

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class TableToProtect(Remarked):
    """A table before anything is hidden, with what somebody said of it.

    ``sensitive`` are cells that were named besides those the table has itself; ``hidden`` are cells that a jj file marks
    as hidden already. A table that was built from records has its costs from there.
    """

    table: Problem | Tabulation | Table
    sensitive: Any = None
    hidden: np.ndarray | None = None
    of_reading: tuple[Remark, ...] = ()
    from_records: bool = False

    @property
    def base(self) -> Table:
        """The cells and their relations alone."""
        return self.table if isinstance(self.table, Table) else self.table.table

    @property
    def tabulation(self) -> Tabulation | None:
        """The table with its rules and contributors, where they are known."""
        return self.table if isinstance(self.table, Tabulation) else None

    @property
    def trees(self) -> Mapping[str, Tree]:
        """The hierarchies of the dimensions."""
        return {} if self.tabulation is None else self.tabulation.trees

    @property
    def by_rule(self) -> Mapping[str, int]:
        """How many cells each rule calls sensitive."""
        return {} if self.tabulation is None else self.tabulation.by_rule

    @property
    def contributors_known(self) -> bool:
        """Whether it is known who contributes how much to which cell."""
        return self.tabulation is not None and self.tabulation.contributions is not None

    @property
    def remarks(self) -> tuple[Remark, ...]:  # type: ignore[override]
        """What reading remarked on, and what is worth knowing of the table and of the cells that were named."""
        again = 0 if self.sensitive is None else already_sensitive(self.table, self.sensitive)
        words = ("of the cells named as sensitive is", "of the cells named as sensitive are")
        named = note("sensitive-already", f"{counted(again, *words)} so already: the larger levels hold")
        table = () if self.tabulation is None else self.tabulation.remarks
        # That no rule can be applied is warned of already.
        of_table = (item for item in table if item.kind != NO_RULE)
        return (*self.of_reading, *of_table, *([named] if again else []))

    def is_counts(self, settings: TableSettings) -> bool:
        """Whether the cells are counts: somebody says so, or it was counted."""
        return settings.counts or (self.tabulation is not None and self.tabulation.counts)

    def problem(self, settings: TableSettings, cost: Any = "value") -> Problem:
        """What has to be protected; ``cost`` is a name or a list of cells."""
        if self.sensitive is None and isinstance(self.table, Table):
            raise InputError(f"say which cells are sensitive with {parameter('sensitive_data')}")
        return as_problem(
            self.table,
            sensitive=self.sensitive,
            protection=share_of(self.table, self.sensitive, settings.protection),
            # What was built from records has the costs that have a name.
            cost="value" if self.from_records and isinstance(cost, str) else cost,
            sliding=settings.sliding,
            low=settings.low,
            high=settings.high,
            insiders=settings.insiders,
            zeros=settings.zeros,
        )


def table_to_protect(settings: TableSettings, workplace: Workplace, cost: str = "value") -> TableToProtect:
    """Read or build the table, link it with further ones, and take in which cells were named as sensitive."""
    found = _table(settings, workplace, cost)
    if settings.linked_tables:
        others = [load(str(name)) for name in settings.linked_tables]
        tables = [found.table, *(other.table for other in others)]
        if not all(isinstance(item, Tabulation) for item in tables):
            raise InputError(f"{parameter('linked_tables')} is for lists of cells made by shoal tabulate")
        remarks = dict.fromkeys([*found.of_reading, *(item for other in others for item in other.remarks)])
        found = replace(found, table=link(tables), of_reading=tuple(remarks))  # type: ignore[arg-type]
    for item in found.of_reading:
        workplace.warn(item.text)
    return replace(found, sensitive=_sensitive(settings, workplace, found.base.dimensions))


def _table(settings: TableSettings, workplace: Workplace, cost: str) -> TableToProtect:
    if settings.described is not None:
        return _described(settings, workplace, cost, read_metadata(workplace.file(settings.described)))
    if settings.data.lower().endswith((".tab", ".asc")):
        if not workplace.file(settings.data).is_file():
            raise InputError(f"file '{settings.data}' is not there")
        raise InputError(
            f"'{settings.data}' needs the metadata of τ-ARGUS that describe it: name them with {parameter('metadata')}"
        )
    whole = workplace.as_file(settings.data, "jj")
    if settings.source == "jj" and whole is None:
        raise InputError(f"'{settings.data}' did not come from a jj file")
    if whole is not None and settings.source is None and settings.dimensions:
        raise InputError(
            f"a jj file has its cells and relations already; leave out {parameter('dimensions')}"
        )
    if whole is not None and settings.source in (None, "jj"):
        _refuse_more(settings, "a jj file", ())
        loaded = load_general(whole, rounding=settings.rounding, tolerance=settings.tolerance)
        return TableToProtect(loaded.table, hidden=loaded.hidden)
    records = workplace.records(settings.data)
    source = settings.source or _looks_like(records, settings)
    if source == "matrix":
        _refuse_more(settings, "a matrix", ("zeros",))
        return TableToProtect(_matrix(settings, records))
    if source in ("records", "aggregated"):
        made = _tabulated(settings, workplace, records.as_written, cost)
        return TableToProtect(
            made,
            hidden=made.hidden,
            of_reading=unseen(made),
            from_records=True,
        )
    if not is_list_of_cells(records.as_written):
        raise InputError("a list of cells needs the columns 'value' and 'status'; tabulate writes such lists")
    if records.source is not None:
        _refuse_more(settings, "a list of cells", ("apriori",))
        found = load_cells(
            records.as_written, settings.data, rounding=settings.rounding, tolerance=settings.tolerance
        )
        table = found.table
        if settings.apriori is not None:
            assert isinstance(table, Tabulation)
            table = apply_apriori(table, apriori_of(settings, workplace, table.table.dimensions))
        return TableToProtect(table, of_reading=found.remarks)
    return _listed(settings, workplace, records.as_written)


def _matrix(settings: TableSettings, records: Records) -> Table:
    """The matrix; what only looked like one may be something whose dimensions nobody named."""
    try:
        return as_table(records.as_written, rounding=settings.rounding, tolerance=settings.tolerance)
    except NotNumeric as error:
        if settings.source is not None:
            raise
        raise InputError(
            f"{error.template}; if its rows are records or cells of a ready-made table, name {parameter('dimensions')}"
        ) from None


def _refuse_more(settings: TableSettings, what: str, known: tuple[str, ...]) -> None:
    """Refuse settings that would be passed over in silence."""
    if getattr(settings, "beside", None):
        known = (*known, "hierarchy", "total")
    for name, item in TabulationSettings.model_fields.items():
        if name in (*known, "source", "rounding", "tolerance", "dimensions"):
            continue
        if getattr(settings, name) != item.get_default(call_default_factory=True):
            raise InputError(
                f"{parameter(name)} is for records and ready-made tables; {what} has nothing to apply it to"
            )


def _described(
    settings: TableSettings, workplace: Workplace, cost: str, metadata: Metadata
) -> TableToProtect:
    """A table from data that metadata of τ-ARGUS describe; what somebody says besides comes before what they say."""
    fields = type(settings).model_fields
    given = {
        name: getattr(settings, name)
        for name in DESCRIBED
        if getattr(settings, name) != fields[name].get_default(call_default_factory=True)
    }
    found = described(workplace.file(settings.data), metadata, {**given, "hierarchies": settings.hierarchy})
    if cost == "value" and "cost" not in settings.model_fields_set:
        cost = found.cost or cost
    own = settings.model_copy(update=found.options)
    made = _tabulated(own, workplace, found.frame, cost, found.hierarchies)
    return TableToProtect(made, hidden=made.hidden, of_reading=unseen(made), from_records=True)


def _looks_like(records: Records, settings: TableSettings) -> str:
    if settings.dimensions:
        return "records"  # or cells of a ready-made table: what tabulates them looks at the rows
    return "cells" if is_list_of_cells(records.frame) else "matrix"


def _tabulated(
    settings: TableSettings,
    workplace: Workplace,
    frame: "pl.DataFrame",
    cost: str,
    trees: Mapping[str, dict[str, str]] | None = None,
) -> Tabulation:
    """The table of records or of ready-made cells, as one system with those over other dimensions of them."""
    if not settings.dimensions:
        raise InputError(f"name at least one dimension with {parameter('dimensions')}")
    tables = [settings.dimensions, *settings.linked]
    hierarchies = {**(trees or {}), **hierarchies_of(settings, workplace)}
    for name in hierarchies:
        if not any(name in dimensions for dimensions in tables):
            raise InputError(f"there is a hierarchy of '{name}', but no such dimension")
    apriori = None if settings.apriori is None else apriori_of(settings, workplace, settings.dimensions)
    return link(
        [
            call(
                tabulate,
                settings,
                workplace,
                frame,
                dimensions=dimensions,
                hierarchies={name: tree for name, tree in hierarchies.items() if name in dimensions},
                apriori=apriori if dimensions is settings.dimensions else None,
                cost=cost,
                total=settings.total or None,
                # What they say has been taken in.
                metadata=None,
            )
            for dimensions in tables
        ]
    )


def _listed(settings: TableSettings, workplace: Workplace, frame: "pl.DataFrame") -> TableToProtect:
    """A list of cells without files beside it: what belongs to it is named in the settings."""
    plan = {
        "hierarchies": hierarchies_of(settings, workplace),
        "rules": settings.rules or [],
        "counts": settings.counts,
    }
    shares = None if settings.contributions is None else workplace.listed(settings.contributions)
    made = read_cells(
        frame,
        plan,
        shares,
        f"'{settings.contributions}'",
        rounding=settings.rounding,
        tolerance=settings.tolerance,
    )
    remarks = without_contributors(made, "the contributions are")
    if settings.apriori is not None:
        made = apply_apriori(made, apriori_of(settings, workplace, made.table.dimensions))
    return TableToProtect(made, of_reading=remarks)


def apriori_of(settings: TableSettings, workplace: Workplace, dimensions: Sequence[str]) -> "pl.DataFrame":
    """What is known of cells beforehand: a list of them, or the file of τ-ARGUS."""
    from shoal.tables.files.argus_history import read_history

    name = str(settings.apriori)
    file = workplace.as_file(name, "hst")
    return workplace.listed(name) if file is None else read_history(file, dimensions)


def hierarchies_of(settings: Any, workplace: Workplace) -> dict[str, dict[str, str]]:
    """The hierarchies that were named, by dimension."""
    found = {}
    for dimension, name in settings.hierarchy.items():
        marked = workplace.as_file(name, "hrc")
        found[dimension] = (
            as_hierarchy(workplace.listed(name), f"of '{dimension}'")
            if marked is None
            else read_hierarchy(str(marked))
        )
    return found


def _sensitive(settings: TableSettings, workplace: Workplace, dimensions: tuple[str, ...]) -> Any:
    """The sensitive cells that were named, in a list or one by one; nothing if there are none."""
    given = None if settings.sensitive_data is None else workplace.listed(settings.sensitive_data)
    if not settings.sensitive:
        return given
    import polars as pl

    if any(len(cell) != len(dimensions) for cell in settings.sensitive):
        raise InputError(f"a sensitive cell is named by {', '.join(dimensions)}")
    named = pl.DataFrame(settings.sensitive, schema=dict.fromkeys(dimensions, pl.String), orient="row")
    if given is None:
        return named
    given = as_list(given, dimensions, "the list of sensitive cells").to_native()
    given = given.with_columns(exactly(*dimensions).cast(pl.String))
    more = named.join(given, on=[exactly(name) for name in dimensions], how="anti")
    return pl.concat([given, more], how="diagonal")
