"""What each column is to an intruder: a first guess, for a person to correct."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

#: The roles of a column, in the words of the command line.
ROLES = ("identifier", "quasi-identifier", "confidential", "other")

_IDENTIFIER = re.compile(
    r"(^|[_\W])(id|ident|identifier|name|surname|firstname|lastname|email|mail|phone|telephone|mobile|ssn|nif|dni|uuid|"
    r"passport|iban|address|street|rec_rand|rec_intelligent)($|[_\W]|\d)|[a-z](ID|Id)$",
    re.IGNORECASE,
)
_QUASI = re.compile(
    r"(^|[_\W])(age|sex|gender|zip|zipcode|postcode|postal|cp|plz|birth|born|dob|birthday|birthdate|city|town|region|"
    r"province|county|country|nation|nationality|race|ethnic|ethnicity|marital|married|occupation|job|profession|"
    r"education|sector|industry|nace|size|centre|center|hour|slot|district|municipality|year|religion)($|[_\W]|\d)",
    re.IGNORECASE,
)
_CONFIDENTIAL = re.compile(
    r"(^|[_\W])(income|salary|wage|wages|pay|turnover|revenue|profit|cost|costs|tax|taxes|wealth|debt|diagnosis|disease|"
    r"result|test|hiv|illness|treatment|drug|score|expenditure|sales|assets|capital|loan|balance|value|blood|cholesterol)"
    r"($|[_\W]|\d)",
    re.IGNORECASE,
)
_OTHER = re.compile(r"(^|[_\W])(capacity|booked|places|seats|start|end|duration)($|[_\W]|\d)", re.IGNORECASE)
_FEW = 60


def suggest_roles(frame: "pl.DataFrame") -> dict[str, str]:
    """A role for each column, by its name first and by its values where the name says nothing.

    >>> import polars as pl
    >>> suggest_roles(pl.DataFrame({"person_id": [1, 2, 3], "age": [31, 40, 31], "income": [1.5, 2.5, 9.0]}))
    {'person_id': 'identifier', 'age': 'quasi-identifier', 'income': 'confidential'}
    """
    return {name: _role(name, frame[name]) for name in frame.columns}


def _role(name: str, values: "pl.Series") -> str:
    if _IDENTIFIER.search(name):
        return "identifier"
    if _QUASI.search(name):
        return "quasi-identifier"
    if _CONFIDENTIAL.search(name):
        return "confidential"
    if _OTHER.search(name):
        return "other"
    present = values.drop_nulls()
    if present.len() == 0:
        return "other"
    if values.dtype.is_float() or values.dtype.is_decimal():
        return "confidential"
    distinct = present.n_unique()
    if distinct == present.len() and distinct > 1:
        return "identifier"
    if values.dtype.is_integer() and distinct > _FEW:
        return "confidential"
    return "quasi-identifier" if distinct <= _FEW else "other"
