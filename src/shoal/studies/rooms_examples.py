"""§2.1 of Moro Lías (2024): sixteen people generalised and suppressed, and a list of voters linked to medical records."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shoal.studies.study import Row, Scope

if TYPE_CHECKING:
    import polars as pl

# Table 2.1: ethnicity, birth, sex, ZIP, marital status and problem.
_MEDICAL = """
Asian 09/21/1963 female 02139 Divorced hypertension
Asian 09/12/1963 female 02139 Divorced heart-disease
Asian 05/07/1963 female 02139 Married broken-arm
Asian 05/07/1963 female 02139 Married broken-arm
black 05/07/1964 female 02139 Married obesity
black 05/17/1964 male 02138 Married hypertension
white 04/30/1965 male 02142 Married cancer
white 07/17/1964 female 02142 Widow obesity
"""
# Tables 2.2 to 2.6: ethnicity, birth, sex, ZIP, marital status, age.
_PEOPLE = """
Asian 11/21/1962 male 02138 Married 60-65
Asian 09/12/1963 female 02139 Divorced 60-65
Asian 09/12/1963 female 02139 Divorced 60-65
Asian 05/07/1963 female 02139 Married 60-65
Asian 05/07/1963 female 02139 Married 60-65
Asian 07/17/1964 female 02142 Widow 55-60
Asian 11/21/1965 male 02138 Married 55-60
Black 05/07/1966 female 02139 Married 55-60
Black 05/17/1964 male 02138 Married 55-60
Black 08/16/1962 male 02138 Married 60-65
Black 02/11/1966 female 02142 Widow 55-60
White 04/30/1965 male 02142 Married 55-60
White 07/17/1964 female 02142 Widow 55-60
White 11/08/1966 male 02138 Divorced 55-60
White 03/23/1965 female 02139 Married 55-60
White 02/27/1965 male 02141 Divorced 55-60
"""
_KEYS = ["ZIP", "Birth", "Sex"]


def _frame(text: str, last: str) -> "pl.DataFrame":
    import polars as pl

    names = ["Ethnicity", "Birth", "Sex", "ZIP", "Marital", last]
    return pl.DataFrame([line.split() for line in text.strip().splitlines()], schema=names, orient="row")


def _postcodes(values: Sequence[str]) -> list[list[str]]:
    """Every postcode, without its last digit, and hidden."""
    return [[value, f"{value[:4]}*", "*"] for value in sorted(set(values))]


def _births(values: Sequence[str]) -> list[list[str]]:
    """Every date of birth, its year, and hidden."""
    return [[value, value[-4:], "*"] for value in sorted(set(values))]


def linking(scope: Scope) -> list[Row]:
    """Vectors of the sixteen people step by step, and whom a list of voters re-identifies before and after."""
    from shoal.microdata.anonymity.api import anonymity
    from shoal.microdata.recoding.api import recode

    people = _frame(_PEOPLE, "Age")
    table = "§2.1, sixteen people"
    rows = []
    for case, keys, printed in (
        ("identifiers removed", ["Ethnicity", "Birth", "Sex", "ZIP", "Marital", "Age"], "(12, 2)"),
        ("birth and marital status suppressed", ["Ethnicity", "Sex", "ZIP", "Age"], "(12, 0, 0, 1)"),
        ("ethnicity suppressed, too", ["Sex", "ZIP", "Age"], "(2, 2, 2, 1)"),
    ):
        rows.append(Row(table, case, "anonymity vector", printed, str(anonymity(people, keys).vector)))
    told = recode(
        people.select("Sex", "ZIP", "Age"),
        ["Sex", "ZIP", "Age"],
        2,
        hierarchies={"ZIP": _postcodes(people["ZIP"].to_list())},
        levels={"ZIP": 1},
        seed=scope.seed,
    )
    vector = str(anonymity(told.frame, ["Sex", "ZIP", "Age"]).vector)
    note = "all postcodes without their last digit; the work does so for two people, with the same vector"
    rows.append(Row(table, "postcodes generalised", "anonymity vector", "(0, 3, 2, 1)", vector, note))
    return [*rows, *_voters()]


def _voters() -> list[Row]:
    import polars as pl

    from shoal.microdata.recoding.api import recode
    from shoal.microdata.risk.linking import link

    records = _frame(_MEDICAL, "Problem")
    # The printed voter, and everybody else of the records, as a list would have them.
    listed = records.select(_KEYS)
    smith = listed.filter(pl.col("Birth") == "04/30/1965")
    table = "§2.1, a list of voters linked to medical records"
    rows = [Row(table, "Smith, before", "records that fit", 1, link(records, smith, _KEYS).one)]
    before = link(records, listed, _KEYS)
    rows.append(Row(table, f"{before.listed} people, before", "re-identified", None, before.one))
    trees = {
        "ZIP": _postcodes(records["ZIP"].to_list()),
        "Birth": _births(records["Birth"].to_list()),
        "Sex": [[value, "*"] for value in ("female", "male")],
    }
    told = recode(records.select([*_KEYS, "Problem"]), _KEYS, 2, hierarchies=trees)
    levels = {key: told.levels[key] or 0 for key in _KEYS}
    known = {key: {line[0]: line[levels[key]] for line in trees[key]} for key in _KEYS}
    coarse = listed.with_columns(pl.col(key).replace_strict(known[key]) for key in _KEYS)
    after = link(told.frame, coarse, _KEYS)
    note = ", ".join(f"{key} at level {level}" for key, level in levels.items())
    rows.append(Row(table, f"{after.listed} people, after recode -k 2", "re-identified", 0, after.one, note))
    return rows
