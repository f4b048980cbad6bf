"""What an operation releases, declared once: records, a table, a table with changed figures, or appointments.

Plans, gates, manifests, checks, exports and the workbench work from this declaration and know no operation by its name. What is
computed stands as an import path, so that nothing is loaded before it is needed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from shoal.operation import Workplace

#: The gates that any release of records can be judged by, where somebody said what an intruder knows.
OF_PEOPLE = ("k", "reidentifications", "risk", "linkage", "attacks")


@dataclass(frozen=True, kw_only=True)
class Written:
    """How a step is written down as a command, and as a call of the function of its operation.

    The data of the settings ``first`` begins the call; where they name several there are several calls. ``builds`` is the
    operation that makes a table of records before. Of the ``result`` the call ``writes`` something, by the settings of the step,
    into a file with this ``ending``, and ``passes_on`` what the next call reads. ``compares`` is the setting whose data is linked
    to other data record by record, ``needs`` the one without which only a command reads what there is. A command takes settings
    that are ``joined`` in one option; with ``options_hold_others`` the function takes what it has no parameter for among its
    options.
    """

    first: tuple[str, ...] = ("data",)
    builds: str = ""
    ending: str = "csv"
    writes: str = ""
    passes_on: str = ""
    compares: str = ""
    needs: str = ""
    joined: tuple[tuple[str, str], ...] = ()
    options_hold_others: bool = False


class RecordPair(Protocol):
    """The records that a step read, and a published file that shows them as the step released them.

    ``links`` has the row in ``after`` of each record of ``before``, −1 where the step removed it; ``originals`` are the records
    before that were ``released``, both in the order of the source.
    """

    before: "pl.DataFrame"
    after: "pl.DataFrame"
    links: "np.ndarray"
    originals: "pl.DataFrame"
    released: "pl.DataFrame"

    def shows(self, columns: Sequence[str]) -> bool:
        """Whether the published file has columns as the step released them."""

    def reads(self, columns: Sequence[str]) -> bool:
        """Whether the step read columns as the source has them."""


class Evidence(Protocol):
    """What somebody has who checks a step that was released.

    ``settings`` say where data is as far as it is there, and ``complete`` is whether all of it is; ``on_source`` is whether the
    step reads a source, and not what another step released. ``stated`` are its figures, ``folder`` has the files it left, and
    ``links`` is for each record that it read the row of the released one, −1 where there is none.
    """

    name: str
    settings: Any
    complete: bool
    on_source: bool
    stated: Mapping[str, Any]
    workplace: "Workplace"
    folder: Path
    links: "np.ndarray"

    def records(self, *, written: bool = False) -> RecordPair | None:
        """The records before and after, if they are published; ``written`` as the texts of their files."""

    def source(self, columns: Sequence[str]) -> "pl.DataFrame | None":
        """The records of the source, unless a step before changed some columns."""

    def table(self) -> Any:
        """The table that the step protects, built again."""

    def again(self) -> dict[str, Any]:
        """The figures of the same operation run once more, with the same secret."""


@dataclass(frozen=True, kw_only=True)
class OperationRelease:
    """What all kinds have.

    ``passes_on`` is the file of a step's folder that the next step reads, ``product`` what is published if a plan names nothing
    else, ``gates`` what can judge it. It ``draws`` from a secret that is derived for each step (for all steps of the operation if
    these must draw ``alike``), begins at a seed made from it, or takes it as a key. Where ``secret_if`` does not hold for the
    values of its settings it gets none, and where ``draws_if`` does not hold nothing is drawn from it. With ``searches`` its seed
    is that of a search. ``recounts`` counts its figures again from the evidence.
    """

    passes_on: str = "release.parquet"
    product: str = "output"
    gates: tuple[str, ...] = ()
    draws: Literal["secret", "seed", "key"] | None = None
    secret_if: Callable[[Mapping[str, Any]], bool] = lambda values: True
    draws_if: Callable[[Mapping[str, Any]], bool] = lambda values: True
    alike: bool = False
    searches: bool = False
    recounts: str = ""
    written: Written = Written()

    @property
    def repeated_by_secret(self) -> bool:
        """Whether its secret alone repeats it, so that no seed may stand beside."""
        return self.draws == "secret" and not self.searches

    def needs_secret(self, values: Mapping[str, Any]) -> bool:
        """Whether it gets a secret."""
        return self.draws == "secret" and self.secret_if(values)

    def drawn(self, values: Mapping[str, Any]) -> bool:
        """Whether what it releases depends on the secret of the release."""
        return self.draws is not None and self.secret_if(values) and self.draws_if(values)


@dataclass(frozen=True, kw_only=True)
class RecordsRelease(OperationRelease):
    """Records, linked one by one to those before.

    It changes the columns named by the settings ``touches``, or else all with the role ``touches_role``; the figure
    ``states_columns`` lists them afterwards. It removes those named by the setting ``removes``, or else those with
    ``removed_roles``. The columns named by the settings ``keys`` are quasi-identifiers of what it releases; with ``renames`` the
    columns it touches name nobody any more. ``outer_key`` is the setting that says where a key lies that no plan holds, and
    ``refused_for`` says why a type of release does without it. ``loss`` measures in percent what it lost; ``faults``
    names settings that the data of the source does not allow, and why.
    """

    gates: tuple[str, ...] = OF_PEOPLE
    written: Written = Written(ending="parquet", writes="{result}.frame", passes_on="{result}.frame")
    touches: tuple[str, ...] = ()
    touches_role: str = ""
    states_columns: str = ""
    removes: str = "drop"
    removed_roles: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    renames: bool = False
    outer_key: str = ""
    refused_for: Mapping[str, str] = field(default_factory=dict)
    loss: str = ""
    faults: Callable[[Any, "pl.DataFrame"], Iterable[tuple[str, str]]] = lambda settings, source: ()

    def touched(self, settings: Any) -> set[str]:
        """The columns whose values its settings say it changes."""
        return {name for part in self.touches for name in getattr(settings, part) or ()}

    def removed(self, settings: Any) -> "list[str] | None":
        """The columns that its settings say it removes, if they do."""
        names: list[str] | None = getattr(settings, self.removes, None)
        return names


@dataclass(frozen=True, kw_only=True)
class TableRelease(OperationRelease):
    """A table; ``sums`` checks its cells against the records of the source, where it was made of these."""

    sums: str = ""


@dataclass(frozen=True, kw_only=True)
class ChangedTableRelease(OperationRelease):
    """A table with changed figures, which add up unless ``adds_up`` is false.

    ``confirms`` checks a published file against all that it was made of and gives its figures. ``known`` is the table with what
    everybody knows of its true figures, which is ``all_known`` that follows from the method.
    """

    gates: tuple[str, ...] = ("safe",)
    draws: Literal["secret", "seed", "key"] | None = "secret"
    alike: bool = True
    written: Written = Written(writes="{result}.published")
    adds_up: bool = True
    confirms: str
    known: str
    all_known: bool = True


@dataclass(frozen=True, kw_only=True)
class AppointmentsRelease(OperationRelease):
    """People with their slots."""

    gates: tuple[str, ...] = ("k",)
    draws: Literal["secret", "seed", "key"] | None = "seed"
    written: Written = Written(first=("people", "slots"), ending="parquet", writes="{result}.people")
