"""What is measured of a table: classes, K, the vector, diversity, and the models it meets."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from shoal.anonymity.vector import AnonymityVector
from shoal.errors import InputError
from shoal.remarks import Remark, Remarked
from shoal.report.glance import Glance

if TYPE_CHECKING:
    import polars as pl

    from shoal.anonymity.classes import Listing
    from shoal.microdata.models.outcome import ModelOutcome

Null = Literal["own", "wildcard"]


@dataclass(frozen=True)
class Diversity:
    """How mixed the confidential values of a class are at least (Machanavajjhala and others, 2007).

    ``distinct`` is the smallest number of different values in a class, ``entropy`` the smallest exponential of a
    class's entropy, which reaches the number of values only if all are equally frequent. Missing values say nothing
    and are not counted; a class that has only missing values is left out.
    """

    column: str
    distinct: int
    entropy: float


@dataclass(frozen=True, repr=False)
class Anonymity(Remarked, Glance):
    """The anonymity of a table under a choice of quasi-identifiers.

    ``vector`` counts the classes by size, and K is the smallest size. A size counts records, or distinct units where the
    ``unit`` is known. ``people`` says how many of them have their smallest class of each size. ``null`` says what a missing
    value means. ``diversities`` are those of the confidential columns, and ``models`` what became of each
    model that was asked for.

    Classes do not overlap unless missing values match anything, or one unit has records in several classes. Then the
    sizes add up to more than the number of units, and the vector has no rank among those of the population.
    """

    quasi: tuple[str, ...]
    unit: str | None
    null: Null
    records: int
    units: int
    vector: AnonymityVector
    people: dict[int, int]
    diversities: tuple[Diversity, ...] = ()
    models: "tuple[ModelOutcome, ...]" = ()
    remarks: tuple[Remark, ...] = ()
    _k_own: int | None = field(default=None, repr=False, compare=False)
    _smallest: "Listing | None" = field(default=None, repr=False, compare=False)

    def glance(self) -> dict[str, Any]:
        """How many there are, K, and over what."""
        units = {} if self.unit is None else {"units": self.units}
        return {
            "records": self.records,
            **units,
            "classes": self.classes,
            "k": self.k,
            "average_risk": self.average_risk,
            "quasi": self.quasi,
            "unit": self.unit,
            "null": self.null,
        }

    @property
    def classes(self) -> int:
        """How many different combinations of values occur."""
        return self.vector.classes

    @property
    def k(self) -> int:
        """The size of the smallest class; 0 when there are no records."""
        return self.vector.k

    @property
    def k_strict(self) -> int:
        """K where a missing value is one of its own, whatever it means in the other figures."""
        return self.k if self._k_own is None else self._k_own

    @property
    def diversity(self) -> Diversity | None:
        """The diversity of the confidential column whose classes are least mixed, by entropy."""
        return min(self.diversities, key=lambda one: one.entropy, default=None)

    @property
    def meets_models(self) -> bool:
        """Whether every model that was asked for holds."""
        return all(outcome.holds for outcome in self.models)

    @property
    def overlapping(self) -> bool:
        """Whether somebody is in more than one class."""
        return self.vector.population != self.units

    @property
    def rank(self) -> int | None:
        """The exact place of the vector among all of this population, from 0 at the worst; none if classes overlap."""
        return None if self.overlapping else self.vector.rank

    @property
    def vectors(self) -> int | None:
        """How many vectors this population has; none if classes overlap."""
        return None if self.overlapping else self.vector.vectors

    @property
    def maximum_risk(self) -> float:
        """The highest chance to be singled out, 1/K; 0 when there are no records."""
        return self.vector.maximum_risk

    @property
    def average_risk(self) -> float:
        """The mean chance to be singled out: 1/size of each unit's smallest class; classes/units without overlap."""
        return sum(people / size for size, people in self.people.items()) / self.units if self.units else 0.0

    def below(self, size: int) -> int:
        """How many records, or units, are in a class smaller than a size."""
        return sum(people for own, people in self.people.items() if own < size)

    def smallest(self, number: int = 10) -> "pl.DataFrame":
        """The smallest classes by value, with their sizes. These values are confidential.

        Classes of one size come in order of their values.
        """
        if number < 1:
            raise InputError(f"show at least one class, not {number}")
        if self._smallest is None:
            raise InputError("this result was made without its classes")
        return self._smallest.first(number)

    def report(self) -> Any:
        """The report as a page; ``.write(path)`` writes it."""
        from shoal.microdata.anonymity.report import DEFINITIONS, assurances, page
        from shoal.microdata.anonymity.settings import AnonymitySettings
        from shoal.report.python_call import completed

        if self.records == 0:
            raise InputError("there are no records to report of")
        measured = [("a frame in memory", self)]
        settings = AnonymitySettings(
            data=["a frame in memory"], quasi=list(self.quasi), unit=self.unit, null=self.null
        )
        return completed(page(measured, settings), self, assurances(measured), DEFINITIONS)
