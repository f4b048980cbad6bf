"""What the name of a column says, in the languages of those who keep registers and surveys."""

import re
import tomllib
import unicodedata
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files


class Meaning(StrEnum):
    """What a name can say, as a phrase that ends "it looks like …"."""

    CONTACT = "how to reach somebody"
    NUMBER = "a number given to somebody"
    NAME = "a name"
    FIRM = "the name of a firm"
    IDENTIFIER = "an identifier"
    PERSON = "the one whose record it is"
    NUMBERED = "a number in a list"
    FREE_TEXT = "free text"
    HOUSEHOLD = "a household"
    WEIGHT = "a weight"
    BODY = "a measure of the body"
    POSTCODE = "a postcode"
    PLACE = "a place"
    BIRTH = "a time of birth"
    AGE = "an age"
    PERSONAL = "a personal trait"
    BUSINESS = "a trait of a firm"
    YEAR = "a year"
    TIME = "a time"
    CODE = "a code"
    CLASS = "a class"
    COUNT = "a count"
    AMOUNT = "an amount"
    CONFIDENTIAL = "something confidential"
    TECHNICAL = "something technical"


# Each meaning's words, which are data and kept as such.
_WORDS = {
    Meaning[name.upper()]: words.split()
    for name, words in tomllib.loads(files(__package__).joinpath("names.toml").read_text("utf-8")).items()
}


def words_of(name: str) -> str:
    """The words of a name in small letters without accents, separated by blanks; digits are words of their own.

    >>> words_of("fechaNacimiento"), words_of("Größenklasse_2"), words_of("UTILITYID")
    ('fecha nacimiento', 'grossenklasse 2', 'utilityid')
    """
    plain = name.translate(_LETTERS)
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(sign))
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])", " ", plain)
    return " ".join(re.findall(r"[a-z]+|\d+", apart.lower()))


_LETTERS = str.maketrans(
    {"ß": "ss", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "Ae", "ł": "l", "Ł": "L", "đ": "d", "’": ""}
)


def meanings(name: str) -> frozenset[Meaning]:
    """All that a name says.

    >>> sorted(meanings("código_postal")), sorted(meanings("blue"))
    ([<Meaning.CODE: 'a code'>, <Meaning.POSTCODE: 'a postcode'>], [])
    """
    words = words_of(name)
    return frozenset(
        meaning for meaning in _WORDS if _may_match(meaning, words) and _pattern(meaning).search(words)
    )


def only_says(name: str, *allowed: Meaning) -> bool:
    """Whether every word of a name belongs to these meanings; digits and articles count for nothing.

    >>> only_says("num_hogar", Meaning.HOUSEHOLD, Meaning.NUMBERED), only_says("household size", Meaning.HOUSEHOLD)
    (True, False)
    """
    rest = words_of(name)
    for meaning in allowed:
        if _may_match(meaning, rest):
            rest = _pattern(meaning).sub(" ", rest)
    return not re.sub(
        r"\b(\d+|de|del|der|des|du|di|do|da|of|the|la|el|le|ori|orig|original)\b", "", rest
    ).strip()


def _may_match(meaning: Meaning, words: str) -> bool:
    """Whether all letters of one of its words are there; if not, its pattern, which takes long to compile, cannot match."""
    return any(all(part in words for part in parts) for parts in _parts(meaning))


@lru_cache
def _parts(meaning: Meaning) -> list[list[str]]:
    return [word.replace("*", "+").split("+") for word in _WORDS[meaning]]


@lru_cache
def _pattern(meaning: Meaning) -> re.Pattern[str]:
    words = sorted(_WORDS[meaning], key=len, reverse=True)
    items = (word.replace("*", r"[a-z]*").replace("+", r"(?:\s(?:de|del|di|of)\s|\s?)") for word in words)
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(items)})(?![a-z0-9])")
