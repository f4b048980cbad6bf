"""Invented people: age, postcode and sex, evenly or as in Spain."""

from typing import TYPE_CHECKING

from shoal.errors import InputError, unknown
from shoal.generate.limits import check_count
from shoal.runtime.seeds import Seeds

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

DISTRIBUTIONS = ("uniform", "spain")
SEXES = ("man", "woman")
FIRST_POSTCODE = 28_000
OLDEST = 200
MOST_POSTCODES = 100_000 - FIRST_POSTCODE

# Residents of Spain on 1 January 2015 by bands of five years of age, the last one open (INE, press note np917).
SPAIN_BY_BAND = (
    2_256_137, 2_484_228, 2_307_748, 2_152_888, 2_318_277,
    2_637_741, 3_267_325, 3_948_602, 3_888_532, 3_690_385,
    3_409_097, 2_978_760, 2_508_107, 2_357_956, 1_949_490,
    1_553_295, 1_425_513, 854_988, 356_755, 94_038,
)  # fmt: skip
SPAIN_MEN, SPAIN_WOMEN = 22_820_775, 23_619_089
_BAND = 5
_OPEN_BAND = _BAND * (len(SPAIN_BY_BAND) - 1)


def people(
    count: int,
    *,
    distribution: str = "uniform",
    sex: str | None = None,
    min_age: int = 0,
    max_age: int = 100,
    postcodes: int = 3,
    seeds: Seeds | None = None,
) -> "pl.DataFrame":
    """A table of people as the prototype of Cabana Ramírez (2016) makes it.

    ``ID`` counts from 0, ``CP`` is one of so many postcodes from 28000 on, and ``REC_RAND`` and ``REC_INTELLIGENT`` are −1:
    no appointment yet. With ``"uniform"`` every age of the range and both sexes are equally likely; with ``"spain"``
    ages follow the residents of 2015 within the range (evenly within a band of five years; the band of 95 and over ends
    at ``max_age``) and 49.14 % are men.

    >>> people(3, seeds=Seeds(1)).columns
    ['ID', 'AGE', 'CP', 'SEX', 'REC_RAND', 'REC_INTELLIGENT']
    """
    import numpy as np
    import polars as pl

    _check(count, distribution, sex, min_age, max_age, postcodes)
    seeds = seeds or Seeds()
    if distribution == "spain":
        weights = _ages_in_spain(min_age, max_age)
        men = SPAIN_MEN / (SPAIN_MEN + SPAIN_WOMEN)
    else:
        weights = np.ones(max_age - min_age + 1)
        men = 0.5
    share = {None: men, "man": 1.0, "woman": 0.0}[sex]
    # A stream for each column: a change of one option leaves the other columns as they are.
    ages = min_age + _draw(weights, seeds.child("age").generator().random(count))
    codes = seeds.child("postcode").generator().integers(FIRST_POSTCODE, FIRST_POSTCODE + postcodes, count)
    women = seeds.child("sex").generator().random(count) >= share
    nobody = pl.repeat(-1, count, dtype=pl.Int64, eager=True)
    return pl.DataFrame(
        {
            "ID": np.arange(count, dtype=np.int64),
            "AGE": ages,
            "CP": codes,
            "SEX": pl.Series(SEXES, dtype=pl.String).gather(women.astype(np.int64)),
            "REC_RAND": nobody,
            "REC_INTELLIGENT": nobody,
        }
    )


def _ages_in_spain(min_age: int, max_age: int) -> "np.ndarray":
    """How many people there are of each age of a range, if the ages of a band are equally frequent."""
    import numpy as np

    oldest = max(max_age, _OPEN_BAND)
    widths = np.full(len(SPAIN_BY_BAND), _BAND)
    widths[-1] = oldest - _OPEN_BAND + 1
    return np.repeat(np.array(SPAIN_BY_BAND) / widths, widths)[min_age : max_age + 1]


def _draw(weights: "np.ndarray", uniform: "np.ndarray") -> "np.ndarray":
    """Places drawn in proportion to their weights, from numbers uniform in [0, 1)."""
    import numpy as np

    bounds = np.cumsum(weights)
    return np.searchsorted(bounds[:-1], uniform * bounds[-1], side="right").astype(np.int64)


def _check(
    count: int, distribution: str, sex: str | None, min_age: int, max_age: int, postcodes: int
) -> None:
    check_count("the number of people", count)
    if distribution not in DISTRIBUTIONS:
        raise unknown("distribution", str(distribution), DISTRIBUTIONS)
    if sex is not None and sex not in SEXES:
        raise unknown("sex", str(sex), SEXES)
    if min_age < 0:
        raise InputError(f"the youngest age must be 0 or more, not {min_age}")
    if max_age < max(1, min_age):
        raise InputError(f"the oldest age must be at least {max(1, min_age)}, not {max_age}")
    check_count("the oldest age", max_age, most=OLDEST)
    if not 1 <= postcodes <= MOST_POSTCODES:
        raise InputError(f"the number of postcodes must be 1 to {MOST_POSTCODES:,}, not {postcodes:,}")
