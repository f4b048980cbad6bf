"""How rules are written: a name, and in brackets what they need, like ``intervals(5,10,20,top=85)``."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from shoal.errors import InputError, unknown

#: A word, or a mark between words.
Token = tuple[str, bool]

_RULE = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\((.*)\))?\s*", re.DOTALL)
_TOKEN = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([,;=<|])|([^,;=<|"]+))\s*', re.DOTALL)
_NEEDS_QUOTES = re.compile(r'[,;=<|"()]|^\s|\s$|^$')


@dataclass(frozen=True)
class RuleText:
    """A rule as it was written, taken apart.

    >>> text = read_rule_text('intervals(5, 10, top=85)')
    >>> text.name, text.words(), text.options
    ('intervals', ['5', '10'], {'top': '85'})
    """

    name: str
    tokens: tuple[Token, ...] = ()

    @property
    def options(self) -> dict[str, str]:
        """What is given by name."""
        found: dict[str, str] = {}
        for part in self._items():
            if ("=", True) in part:
                key, value = self._pair(part)
                if key in found:
                    raise InputError(f"the rule '{self.name}' says '{key}' twice")
                found[key] = value
        return found

    def words(self) -> list[str]:
        """What is given without a name, in order."""
        return [word for group in self.groups() for word in group]

    def groups(self) -> list[list[str]]:
        """The same, in groups that semicolons part."""
        found: list[list[str]] = []
        for group in _split(self.tokens, ";"):
            items = [part for part in _split(group, ",") if part and ("=", True) not in part]
            found.append([self._word(part) for part in items])
        return [group for group in found if group]

    def check_options(self, *allowed: str) -> None:
        """An ``InputError`` for an option that the rule does not have."""
        for key in self.options:
            if key not in allowed:
                raise unknown(f"option of '{self.name}'", key, allowed)

    def _items(self) -> list[list[Token]]:
        return [part for group in _split(self.tokens, ";") for part in _split(group, ",")]

    def _pair(self, part: Sequence[Token]) -> tuple[str, str]:
        if len(part) != 3 or part[0][1] or part[2][1]:
            raise InputError(f"the rule '{self.name}' has a '=' that is not between a name and a value")
        return part[0][0], part[2][0]

    def _word(self, part: Sequence[Token]) -> str:
        if len(part) != 1:
            raise InputError(f"what stands in the brackets of '{self.name}' cannot be read")
        return part[0][0]


def read_rule_text(text: str) -> RuleText:
    """A rule taken apart; words with one of , ; = < | in them stand in quotes, and a quote within them is written twice."""
    match = _RULE.fullmatch(text)
    if match is None:
        raise InputError("a rule is a name with what it needs in brackets, like intervals(5,10,20)")
    tokens: list[Token] = []
    inside, place = match[2] or "", 0
    while place < len(inside):
        found = _TOKEN.match(inside, place)
        if found is None:
            raise InputError(f"the rule '{match[1]}' has a quote without an end")
        quoted, mark, word = found.groups()
        if mark is not None:
            tokens.append((mark, True))
        elif quoted is not None:
            tokens.append((quoted.replace('""', '"'), False))
        elif word.strip():
            tokens.append((word.strip(), False))
        place = found.end()
    return RuleText(match[1].lower(), tuple(tokens))


def _split(tokens: Sequence[Token], mark: str) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token == (mark, True):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def written(name: str, words: Iterable[str], options: Mapping[str, object] | None = None) -> str:
    """A rule as ``read_rule_text`` reads it; options that are ``None`` are left out.

    >>> written("prefix", ["3", "2"], {"length": 5, "zeros": None})
    'prefix(3,2,length=5)'
    """
    pairs = [f"{key}={quoted(str(value))}" for key, value in (options or {}).items() if value is not None]
    inside = ",".join([*words, *pairs])
    return f"{name}({inside})" if inside else name


def quoted(word: str) -> str:
    """A word in quotes if it needs them.

    >>> quoted("up to 1,000"), quoted("low")
    ('"up to 1,000"', 'low')
    """
    return '"' + word.replace('"', '""') + '"' if _NEEDS_QUOTES.search(word) else word


def number_in(rule: str, word: str) -> Decimal:
    """A number from a rule."""
    try:
        found = Decimal(word)
    except InvalidOperation:
        found = Decimal("nan")
    if not found.is_finite() or abs(found.adjusted()) > 400:
        raise InputError(f"the rule '{rule}' needs numbers, not '{word}'")
    return found


def whole_in(rule: str, word: str, *, least: int = 0) -> int:
    """A whole number from a rule."""
    found = number_in(rule, word)
    if found != found.to_integral_value() or found < least:
        raise InputError(f"the rule '{rule}' needs whole numbers of at least {least}, not '{word}'")
    return int(found)


def plain(number: Decimal | int) -> str:
    """A number as rules and labels write it, without zeros that say nothing.

    >>> plain(Decimal("0.50")), plain(Decimal("2E+1")), plain(20)
    ('0.5', '20', '20')
    """
    text = format(Decimal(number), "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"
