"""What each column is to an intruder: one guess with its reason, shared by every front end, for others to correct."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import narwhals as nw

from shoal.errors import unknown
from shoal.microdata.columns.inputs import read_frame
from shoal.microdata.columns.names import Meaning, meanings, only_says, words_of
from shoal.microdata.columns.shapes import Shape

Role = Literal[
    "identifier", "quasi-identifier", "measurement", "weight", "household", "unit", "confidential", "other"
]

#: The roles of a column, in the words of those who use sdcMicro.
ROLES: tuple[str, ...] = get_args(Role)

#: What the roles mean, for a page or a manual.
ROLES_IN_WORDS: dict[str, str] = {
    "identifier": "says who somebody is, alone: a name, an e-mail, a number given out; removed from a release",
    "quasi-identifier": "could be known of somebody, and singles out records together with others: age, place, job (a key)",
    "measurement": "a number that measures something: income, turnover, blood pressure; averaged",
    "weight": "how much of the population a record stands for; never averaged, and known to who knows the sample",
    "household": "the number of a household or another group that joins records; never averaged",
    "unit": "whose records these are, where one has several: K counts each once; proposed where numbers repeat, never taken",
    "confidential": "what an intruder wants to learn and does not know: a diagnosis, a verdict",
    "other": "says nothing of anybody: empty, the same for all, or technical",
}

#: The kind of a column whose numbers join records, by the look of them alone.
GROUP_NUMBER = "the number of a group"

#: The reason of a measurement that may be none: nobody can tell by the look of it.
AMOUNTS_OR_NUMBERS = "nearly all its whole numbers are different: are they amounts, or were they given out and identify somebody?"

#: Roles of columns that say who somebody is, and go from a release unless somebody says otherwise.
REMOVED: tuple[Role, ...] = ("identifier", "unit")

#: Roles that an intruder could know of somebody when the column is released as it is.
KNOWABLE: tuple[Role, ...] = ("identifier", "quasi-identifier", "measurement", "weight")


@dataclass(frozen=True)
class Guess:
    """What a column seems to be.

    ``kind`` says it in a few words ("a postcode"), ``reason`` in a sentence; neither holds a value. ``averaged`` says
    whether a mean of its numbers means something, so that it is protected when nobody names columns. ``fault`` names the
    records that keep a column from being the one of numbers that it is meant to be ("record 16 and 3 more").
    """

    column: str
    role: Role
    kind: str
    reason: str
    averaged: bool = False
    fault: str = ""


def guess_roles(frame: Any) -> tuple[Guess, ...]:
    """Guess what each column of a frame is to an intruder, by its name and by its values.

    The guess decides what ``microaggregate`` protects and what K is counted over where nobody says it.

    Parameters
    ----------
    frame : DataFrame
        The records: a frame of pandas, Polars, Arrow or any other that Narwhals knows.

    Returns
    -------
    tuple of Guess
        For each column its ``role`` (identifier, quasi-identifier, measurement, weight, household, confidential or other;
        ``unit`` is for those who correct them), the ``kind`` of values in a few words and the ``reason`` in a sentence; none
        of them holds a value.

    Raises
    ------
    InputError
        What was given is no frame.

    See Also
    --------
    microaggregate : takes corrected roles as ``roles``.
    anonymity : measure K over the columns that could be known.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> people = pl.DataFrame({"Nachname": ["Ode", "Rim", "Sol"], "Alter": [31, 40, 31], "Einkommen": [1500, 2500, 900]})
    >>> [(guess.column, guess.role) for guess in shoal.guess_roles(people)]
    [('Nachname', 'identifier'), ('Alter', 'quasi-identifier'), ('Einkommen', 'measurement')]
    >>> shoal.guess_roles(people)[0].reason
    'the name of the column says that it is a name'
    """
    data = read_frame(frame)
    names = data.columns
    of_bodies = any(_HEIGHT.search(words_of(name)) for name in names)
    return tuple(
        _guess(name, Shape(column), of_bodies)
        for name, column in zip(names, data.iter_columns(), strict=True)
    )


def _guess(name: str, shape: Shape, of_bodies: bool) -> Guess:
    """The guess for one column; ``of_bodies`` if heights stand beside it, so that a weight may be one of a body."""
    if shape.count == 0:
        return Guess(name, "other", "empty", "it is empty")
    said = meanings(name)
    return (
        _numbers_with_faults(name, said, shape, of_bodies)
        or _by_clear_name(name, said, shape, of_bodies)
        or _by_clear_shape(name, shape)
        or _by_name(name, said, shape)
        or _by_shape(name, shape)
    )


def _numbers_with_faults(
    name: str, meanings: frozenset[Meaning], shape: Shape, of_bodies: bool
) -> Guess | None:
    """The guess for numbers that would be averaged but for a few values that are none: what is meant counts."""
    if Meaning.CONFIDENTIAL in meanings or (faults := shape.faults) is None:
        return None
    numbers = nw.new_series(name, faults.numbers, nw.Float64, backend=shape.column.implementation)
    meant = _guess(name, Shape(numbers), of_bodies)
    if not meant.averaged:
        return None
    kind = f"numbers but for {faults}"
    return Guess(name, meant.role, kind, f"its values are {kind}", fault=str(faults))


def guess_with_nested(names: Sequence[str], looked_at: Any) -> tuple[Guess, ...]:
    """The guesses for all columns of records that are elsewhere, of which some were looked at.

    Lists and structures are not among those: they measure nothing and may be known, as they are judged in a frame.

    >>> import polars as pl
    >>> [(guess.column, guess.role) for guess in guess_with_nested(["visits", "age"], pl.DataFrame({"age": [31, 40]}))]
    [('visits', 'quasi-identifier'), ('age', 'quasi-identifier')]
    """
    seen = {guess.column: guess for guess in guess_roles(looked_at)}
    why = "it may be known, and it measures nothing"
    return tuple(seen.get(name) or Guess(name, "quasi-identifier", "a class", why) for name in names)


def with_roles(guesses: Sequence[Guess], roles: Mapping[str, str]) -> tuple[Guess, ...]:
    """The guesses, corrected by what somebody has said; an ``InputError`` for a column or a role that does not exist.

    >>> with_roles([Guess("water", "measurement", "", "", averaged=True)], {"water": "other"})[0].averaged
    False
    """
    known = [guess.column for guess in guesses]
    for column, role in roles.items():
        if column not in known:
            raise unknown("column", column, known, where="in the data")
        if role not in ROLES:
            raise unknown("role", role, ROLES)
    return tuple(_corrected(guess, roles.get(guess.column)) for guess in guesses)


def _corrected(guess: Guess, role: Any) -> Guess:
    if role is None or role == guess.role:
        return guess
    return Guess(
        guess.column,
        role,
        f"said to be {'an' if role[0] in 'aeio' else 'a'} {role}",
        "somebody has said so",
        averaged=role == "measurement" or (role == "quasi-identifier" and guess.averaged),
    )


def knowable(guesses: Sequence[Guess]) -> list[str]:
    """The columns an intruder could know of somebody: over them K of a release is counted when nobody says otherwise.

    >>> knowable([Guess("sex", "quasi-identifier", "", ""), Guess("hid", "household", "", "")])
    ['sex']
    """
    return [guess.column for guess in guesses if guess.role in KNOWABLE]


def _named(name: str, role: Role, kind: str, *, averaged: bool = False) -> Guess:
    return Guess(name, role, kind, f"the name of the column says that it is {kind}", averaged)


def _by_clear_name(name: str, meanings: frozenset[Meaning], shape: Shape, of_bodies: bool) -> Guess | None:
    """Names that leave no doubt, whatever the values are."""
    if Meaning.CONTACT in meanings and not shape.is_few:
        return _named(name, "identifier", str(Meaning.CONTACT))
    if Meaning.NUMBER in meanings and not shape.is_few:
        return _named(name, "identifier", str(Meaning.NUMBER))
    numbered = (Meaning.HOUSEHOLD, Meaning.NUMBERED, Meaning.IDENTIFIER, Meaning.CODE)
    if (
        Meaning.HOUSEHOLD in meanings
        and only_says(name, *numbered)
        and (shape.is_whole or shape.is_numbered_text)
        and not shape.is_few
    ):
        return _named(name, "household", "the number of a household")
    if Meaning.WEIGHT in meanings and shape.is_number:
        if Meaning.BODY in meanings or (of_bodies and _EITHER_WEIGHT.search(words_of(name))):
            return _named(name, "measurement", str(Meaning.BODY), averaged=True)
        return _named(name, "weight", str(Meaning.WEIGHT))
    return None


# Words for the weight of a body as well as for that of a record: what stands beside them decides.
_EITHER_WEIGHT = re.compile(r"^(body )?(weight|peso|pes|poids|gewicht|vekt|vikt|vaegt|paino|waga)( \d+)?$")
_HEIGHT = re.compile(r"\b(height|talla|altura|alcada|estatura|altezza|korpergrosse|hoyde|langd|bmi|imc)\b")


def _by_clear_shape(name: str, shape: Shape) -> Guess | None:
    """Values that leave no doubt, whatever the name is."""
    if shape.is_email:
        return Guess(name, "identifier", "an e-mail address", "its texts look like addresses of e-mail")
    if shape.is_moment:
        return Guess(name, "quasi-identifier", "a date", "it holds dates")
    if shape.is_date_text:
        return Guess(name, "quasi-identifier", "a date", "its texts look like dates")
    return None


def _by_name(name: str, meanings: frozenset[Meaning], shape: Shape) -> Guess | None:
    """Names, as far as the values do not speak against them."""
    found = next(_readings(meanings, shape), None)
    if found is None:
        return None
    role, meaning = found
    an_age = meaning is Meaning.AGE and shape.is_number and not shape.is_few
    return _named(name, role, str(meaning), averaged=role == "measurement" or an_age)


# Words by which an intruder finds people, whatever else a name says.
_TELLING = {
    *(Meaning.BIRTH, Meaning.AGE, Meaning.POSTCODE, Meaning.PLACE),
    *(Meaning.PERSONAL, Meaning.BUSINESS, Meaning.IDENTIFIER),
}


def _readings(meanings: frozenset[Meaning], shape: Shape) -> Iterator[tuple[Role, Meaning]]:
    """What a name may say, the more telling first, if the values can be that."""
    amount = shape.is_number and not shape.is_class_number
    whole_or_text = not shape.is_number or shape.is_whole
    given_out = shape.is_issued or shape.counts_on or (shape.is_running and shape.is_unique)
    if given_out and meanings & {Meaning.IDENTIFIER, Meaning.NUMBERED}:
        yield "identifier", Meaning.IDENTIFIER
    # What says who or where somebody is does so beside any other word: "treatment city", "tax id". And texts that are
    # all different are no answer that many give.
    alone = not meanings & _TELLING and not (shape.is_text and shape.is_nearly_unique)
    if Meaning.CONFIDENTIAL in meanings and alone and not (shape.is_number and not shape.is_few):
        yield "confidential", Meaning.CONFIDENTIAL
    if Meaning.BIRTH in meanings and whole_or_text:
        yield "quasi-identifier", Meaning.BIRTH
    if Meaning.AGE in meanings:
        yield "quasi-identifier", Meaning.AGE
    if Meaning.AMOUNT in meanings and amount:
        yield "measurement", Meaning.AMOUNT
    if Meaning.AMOUNT in meanings and alone and not amount:
        yield "confidential", Meaning.AMOUNT
    for meaning in (Meaning.POSTCODE, Meaning.PLACE, Meaning.PERSONAL, Meaning.BUSINESS):
        # A place may be a pair of coordinates; the others are never broken numbers.
        if meaning in meanings and (whole_or_text or meaning is Meaning.PLACE):
            yield "quasi-identifier", meaning
    if Meaning.BODY in meanings and amount and not shape.is_few:
        yield "measurement", Meaning.BODY
    if Meaning.COUNT in meanings and amount and not shape.is_few:
        yield "measurement", Meaning.COUNT
    if Meaning.FREE_TEXT in meanings and shape.is_text and (shape.is_nearly_unique or shape.holds_names):
        yield "identifier", Meaning.FREE_TEXT
    if Meaning.IDENTIFIER in meanings and whole_or_text:
        yield "identifier", Meaning.IDENTIFIER
    if Meaning.NAME in meanings and shape.is_text:
        yield "identifier", Meaning.NAME
    if Meaning.FIRM in meanings and whole_or_text:
        yield "identifier", Meaning.FIRM
    if Meaning.PERSON in meanings and whole_or_text and not shape.is_few:
        yield "identifier", Meaning.PERSON
    if Meaning.NUMBERED in meanings and (
        shape.is_issued or shape.is_running or shape.counts_on or (shape.is_text and shape.is_nearly_unique)
    ):
        yield "identifier", Meaning.IDENTIFIER
    if (
        Meaning.CODE in meanings or (Meaning.NUMBERED in meanings and shape.is_class_number)
    ) and whole_or_text:
        yield "quasi-identifier", Meaning.CODE
    for meaning in (Meaning.YEAR, Meaning.TIME):
        if meaning in meanings and whole_or_text:
            yield "quasi-identifier", meaning
    if Meaning.CLASS in meanings and whole_or_text and not shape.is_nearly_unique:
        yield "quasi-identifier", Meaning.CLASS
    if Meaning.TECHNICAL in meanings and not shape.is_nearly_unique:
        yield "other", Meaning.TECHNICAL


def _by_shape(name: str, shape: Shape) -> Guess:
    """Values alone, where the name says nothing."""
    role, kind, reason = _of_texts(shape) if shape.is_text and shape.distinct > 1 else _of_values(shape)
    return Guess(name, role, kind, reason, averaged=role == "measurement")


def _of_values(shape: Shape) -> tuple[Role, str, str]:
    """Role, kind and reason by the look of numbers and of what is neither number nor text."""
    if shape.distinct == 1:
        return "other", "constant", "it has the same value everywhere"
    if not shape.is_number:
        return "quasi-identifier", "a class", "it may be known, and it measures nothing"
    if not shape.is_whole:
        return "measurement", "a measurement", "its numbers are not whole"
    if shape.is_year:
        return "quasi-identifier", "a year", "its numbers lie where years do"
    if shape.is_unique and shape.is_running:
        return "identifier", "a running number", "its numbers are all different and count on"
    if shape.counts_on:
        return "identifier", "a running number", "nearly all its numbers count on, one by one"
    if shape.is_issued:
        spread = (
            "its numbers are all different and evenly spread, as numbers given out are and amounts are not"
        )
        return "identifier", "a unique integer", spread
    if shape.joins_records:
        return "household", GROUP_NUMBER, "its numbers count on, each on a few records in a row"
    if shape.is_few:
        return "quasi-identifier", "a code with few values", "a few whole numbers come again and again"
    if shape.is_code_of_one_length:
        again = "its numbers have one length, come again and again and are not rounded"
        return "quasi-identifier", "a code", again
    if shape.is_nearly_unique:
        return "measurement", "a measurement", AMOUNTS_OR_NUMBERS
    return "measurement", "a measurement", "its numbers look like amounts or counts"


def _of_texts(shape: Shape) -> tuple[Role, str, str]:
    """Role, kind and reason by the look of texts."""
    if shape.is_phone:
        return "identifier", "a telephone number", "its texts look like numbers of telephones"
    if shape.is_firm:
        return "identifier", str(Meaning.FIRM), "many of its texts end in a form of company"
    if shape.is_nearly_unique:
        how = "every" if shape.is_unique else "nearly every"
        return "identifier", f"an identifier ({how} text is unique)", f"{how} text is different"
    if shape.is_person:
        return "identifier", str(Meaning.NAME), "its texts look like personal names"
    if shape.holds_names:
        return "identifier", str(Meaning.FREE_TEXT), "some of its texts look like personal names"
    if shape.is_postcode_text:
        return "quasi-identifier", "a postcode", "its texts have one length and the shape of postcodes"
    return "quasi-identifier", "a class", "its texts come again, and may be known of somebody"
