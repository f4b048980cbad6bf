"""``shoal.anonymity``: how well the people in a table are hidden among each other."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from shoal.anonymity.vector import AnonymityVector
from shoal.arguments import checked
from shoal.errors import InputError, unknown
from shoal.report.glance import Glance

if TYPE_CHECKING:
    import polars as pl

    from shoal.anonymity.classes import Listing

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
class Anonymity(Glance):
    """The anonymity of a table under a choice of quasi-identifiers.

    ``vector`` counts the classes by size, and K is the smallest size. A size counts people: records, or distinct
    units where the unit is known. ``people`` says how many people have their smallest class of each size. ``null``
    says what a missing value means.

    Classes do not overlap unless missing values match anything, or one unit has records in several classes. Then the
    sizes add up to more than the number of people, and the vector has no rank among those of the population.
    """

    quasi: tuple[str, ...]
    unit: str | None
    null: Null
    records: int
    units: int
    vector: AnonymityVector
    people: dict[int, int]
    diversity: Diversity | None = None
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
        """The mean chance to be singled out: 1/size of each person's smallest class; classes/people without overlap."""
        return sum(people / size for size, people in self.people.items()) / self.units if self.units else 0.0

    def below(self, size: int) -> int:
        """How many people are in a class smaller than a size."""
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


@checked
def anonymity(
    frame: Any,
    quasi: Iterable[str] | str,
    *,
    unit: str | None = None,
    null: Null = "own",
    confidential: str | None = None,
) -> Anonymity:
    """Measure how well the people of a table are hidden among each other.

    Two records are alike when they agree in all quasi-identifiers; a class is a set of records that are alike, and K is
    the size of the smallest.

    Parameters
    ----------
    frame : DataFrame
        The records: a frame of pandas, Polars, Arrow or any other that Narwhals knows. An empty one has K = 0.
    quasi : str or iterable of str
        The quasi-identifiers: columns somebody may know of a person.
    unit : str, optional
        The column that says whose records these are. Sizes then count distinct units: somebody with several records
        counts once, and all records without a unit count as one. By default every record is a person.
    null : {"own", "wildcard"}, default "own"
        What a missing value (NaN is one, too) means. With ``"own"`` it is a value of its own. With ``"wildcard"`` it
        matches anything: the size of a record's class is then the number of records compatible with it, and classes
        may overlap.
    confidential : str, optional
        A column whose diversity within the classes is measured as well.

    Returns
    -------
    Anonymity
        ``k``, ``vector`` (how many classes there are of each size), its exact ``rank``, ``people`` by class size,
        ``maximum_risk``, ``average_risk`` and, if asked for, ``diversity``.

    Raises
    ------
    InputError
        A column is not in the frame or named twice, or the confidential one has no values.

    See Also
    --------
    microaggregate : make every record equal to at least k − 1 others.
    guess_roles : which columns could be quasi-identifiers.
    compare : K of a release beside its loss and risk.

    References
    ----------
    - P. Samarati and L. Sweeney, Protecting privacy when disclosing information: k-anonymity and its enforcement through
      generalization and suppression, 1998.
    - A. Machanavajjhala and others, l-diversity: privacy beyond k-anonymity, ICDE 2006.
    - R. J. Cabana Ramírez, master's thesis, Complutense University of Madrid, 2016 (anonymity vectors and their rank).

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"zip": [1, 1, 2, 2, None], "sex": ["f", "f", "m", "m", "m"]})
    >>> result = anonymity(people, ["zip", "sex"])
    >>> result
    Anonymity(records=5, classes=3, k=1, average_risk=0.6, quasi=('zip', 'sex'), unit=None, null='own')
    >>> result.k, str(result.vector), result.rank, result.people
    (1, '(1, 2)', 3, {1: 1, 2: 4})
    >>> anonymity(people, ["zip", "sex"], null="wildcard").k
    2
    """
    names = (quasi,) if isinstance(quasi, str) else _sequence(quasi)
    if null not in ("own", "wildcard"):
        raise unknown("meaning of missing values", str(null), ("own", "wildcard"))

    from shoal.anonymity.classes import find_classes
    from shoal.anonymity.columns import read_columns

    columns = read_columns(frame, names, unit, confidential)
    classes = find_classes(columns, null)
    sizes = classes.table["size"].value_counts()
    return Anonymity(
        quasi=names,
        unit=unit,
        null=null,
        records=int(classes.table["records"].sum()),
        units=classes.units,
        vector=AnonymityVector(dict(sizes.iter_rows())),
        people=dict(classes.people.iter_rows()),
        diversity=None if confidential is None else _diversity(confidential, classes.table),
        _smallest=classes.listing(columns),
    )


def _sequence(names: Iterable[str]) -> tuple[str, ...]:
    try:
        return tuple(names)
    except TypeError:
        raise InputError(
            f"quasi-identifiers are a list of column names, not {type(names).__name__}"
        ) from None


def _diversity(column: str, table: "pl.DataFrame") -> Diversity:
    distinct, entropy = table["distinct"].drop_nulls().to_list(), table["entropy"].drop_nulls().to_list()
    if table.height and not distinct:
        raise InputError(f"the confidential column '{column}' has no values")
    return Diversity(column, min(distinct, default=0), min(entropy, default=0.0))
