"""Worked examples of the published works, as frames.

Sweeney (2002) by way of Cabana Ramírez (2016); Moro Lías (2024) for the sixteen people and the linking attack.
"""

import polars as pl


def table(header: str, rows: str) -> pl.DataFrame:
    names = [name.strip() for name in header.split("|")]
    cells = [[cell.strip() for cell in row.split("|")] for row in rows.strip().splitlines()]
    return pl.DataFrame(cells, schema=names, orient="row")


MEDICAL = table(
    "Race | Birth | Gender | ZIP | Problem",
    """
    Black | 1965 | m | 0214* | short breath
    Black | 1965 | m | 0214* | chest pain
    Black | 1965 | f | 0213* | hypertension
    Black | 1965 | f | 0213* | hypertension
    Black | 1964 | f | 0213* | obesity
    Black | 1964 | f | 0213* | chest pain
    White | 1964 | m | 0213* | chest pain
    White | 1964 | m | 0213* | obesity
    White | 1964 | m | 0213* | short breath
    White | 1967 | m | 0213* | chest pain
    White | 1967 | m | 0213* | chest pain
    """,
)

# Fifteen people: without appointments, with random ones and with the best ones.
FIFTEEN = table(
    "Zip | Gender | Age | Test | RandomCenter | RandomHour | BestCenter | BestHour",
    """
    88888 | male   | 20-25 | yes | A | 9  | B | 9
    11111 | male   | 25-30 | yes | A | 9  | A | 9
    11111 | female | 25-30 | yes | A | 9  | B | 13
    88888 | female | 25-30 | no  | A | 9  | A | 13
    88888 | male   | 20-25 | yes | A | 13 | B | 9
    11111 | female | 25-30 | yes | A | 13 | B | 13
    11111 | female | 25-30 | yes | B | 9  | B | 13
    11111 | male   | 25-30 | yes | B | 9  | A | 9
    11111 | female | 25-30 | yes | B | 9  | C | 13
    88888 | female | 25-30 | yes | B | 9  | A | 13
    11111 | male   | 25-30 | no  | B | 13 | A | 9
    11111 | female | 25-30 | yes | B | 13 | C | 13
    88888 | male   | 20-25 | yes | C | 13 | B | 9
    88888 | male   | 20-25 | no  | C | 13 | B | 9
    11111 | male   | 25-30 | yes | B | 13 | A | 9
    """,
)

# Four tables of one column, all with K = 1.
FOUR = {"a": "ABCDDDDD", "b": "ABCCCCCC", "c": "ABBCCCCC", "d": "ABBBCCCC"}

GENERATED = table(
    "ID | AGE | CP | SEX",
    """
    0 | 14 | 28004 | man
    1 | 33 | 28003 | woman
    2 | 66 | 28006 | man
    3 | 95 | 28005 | woman
    4 | 15 | 28005 | woman
    5 | 52 | 28002 | man
    6 | 88 | 28008 | man
    7 | 48 | 28008 | man
    8 | 33 | 28003 | woman
    9 | 87 | 28007 | woman
    """,
)

ASSIGNED = table(
    "ID | AGE | CP | SEX | REC_RAND | REC_INTELLIGENT",
    """
    0  | 52 | 28003 | woman | 5 | 5
    1  | 51 | 28002 | man   | 3 | 2
    2  | 57 | 28000 | woman | 5 | 1
    3  | 59 | 28002 | man   | 4 | 2
    4  | 52 | 28003 | man   | 2 | 3
    5  | 52 | 28003 | woman | 2 | 5
    6  | 56 | 28003 | man   | 3 | 3
    7  | 57 | 28000 | woman | 1 | 1
    8  | 45 | 28000 | man   | 1 | 3
    9  | 47 | 28002 | man   | 4 | 2
    10 | 47 | 28002 | man   | 1 | 2
    11 | 48 | 28003 | woman | 1 | 5
    12 | 49 | 28000 | woman | 2 | 1
    13 | 50 | 28001 | man   | 3 | 4
    14 | 46 | 28001 | woman | 5 | 2
    15 | 50 | 28001 | man   | 2 | 4
    16 | 48 | 28003 | woman | 2 | 5
    17 | 58 | 28001 | man   | 5 | 4
    18 | 52 | 28003 | man   | 4 | 3
    19 | 47 | 28002 | woman | 3 | 1
    """,
).with_columns(pl.exclude("SEX").cast(pl.Int64))

LINKED = table(
    "Ethnicity | Birth | Sex | ZIP | Marital | Problem",
    """
    Asian | 09/21/1963 | female | 02139 | Divorced | hypertension
    Asian | 09/12/1963 | female | 02139 | Divorced | heart disease
    Asian | 05/07/1963 | female | 02139 | Married  | Broken Arm
    Asian | 05/07/1963 | female | 02139 | Married  | Broken Arm
    black | 05/07/1964 | female | 02139 | Married  | obesity
    black | 05/17/1964 | male   | 02138 | Married  | hypertension
    white | 04/30/1965 | male   | 02142 | married  | cancer
    white | 7/17/1964  | female | 02142 | widow    | obesity
    """,
)
VOTER = {"ZIP": "02142", "Birth": "04/30/1965", "Sex": "male"}

SIXTEEN = table(
    "Ethnicity | Birth | Sex | ZIP | Marital | Age",
    """
    Asian | 11/21/1962 | male   | 02138 | Married  | 60-65
    Asian | 09/12/1963 | female | 02139 | Divorced | 60-65
    Asian | 09/12/1963 | female | 02139 | Divorced | 60-65
    Asian | 05/07/1963 | female | 02139 | Married  | 60-65
    Asian | 05/07/1963 | female | 02139 | Married  | 60-65
    Asian | 7/17/1964  | female | 02142 | Widow    | 55-60
    Asian | 11/21/1965 | male   | 02138 | Married  | 55-60
    Black | 05/07/1966 | female | 02139 | Married  | 55-60
    Black | 05/17/1964 | male   | 02138 | Married  | 55-60
    Black | 08/16/1962 | male   | 02138 | Married  | 60-65
    Black | 02/11/1966 | female | 02142 | Widow    | 55-60
    White | 04/30/1965 | male   | 02142 | Married  | 55-60
    White | 7/17/1964  | female | 02142 | Widow    | 55-60
    White | 11/08/1966 | male   | 02138 | Divorced | 55-60
    White | 03/23/1965 | female | 02139 | Married  | 55-60
    White | 02/27/1965 | male   | 02141 | Divorced | 55-60
    """,
)
