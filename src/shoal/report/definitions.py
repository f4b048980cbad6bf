"""Figures that are named, told and defined once: terminal, report, workbench and manual take them from here."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Definition:
    """A figure: the name it has everywhere, how its value is written, and what it means.

    ``unknown`` is told where there is no value.

    >>> gap = Definition("gap", "100·(cost − bound)/cost.", percent(2))
    >>> gap.text(1.234567), gap.text(None)
    ('1.23 %', 'unknown')
    """

    name: str
    meaning: str
    write: Callable[[Any], str]
    unknown: str = "unknown"

    def text(self, value: Any) -> str:
        """The value as everybody sees it."""
        return self.unknown if value is None else self.write(value)


#: The figures of an operation by their names in JSON.
Definitions: TypeAlias = Mapping[str, Definition]


def percent(digits: int) -> Callable[[float], str]:
    """Percents with so many decimals."""
    return lambda value: f"{value:.{digits}f} %"


def share(value: float) -> str:
    """A share as percents.

    >>> share(0.2), share(1 / 3)
    ('20 %', '33.3 %')
    """
    return f"{100 * value:.3g} %"


def count(value: int) -> str:
    """How many.

    >>> count(12000)
    '12,000'
    """
    return f"{value:,}"


def amount(value: float) -> str:
    """Any number, with six digits.

    >>> amount(49816.123), amount(0.1234567)
    ('49,816.1', '0.123457')
    """
    return f"{value:,.6g}"


def decimals(digits: int) -> Callable[[float], str]:
    """A number with so many decimals."""
    return lambda value: f"{value:,.{digits}f}"


def yes_or_no(value: bool) -> str:
    """Whether it is so."""
    return "yes" if value else "no"


def in_words(
    definitions: Definitions, figures: Mapping[str, Any], names: Iterable[str]
) -> list[tuple[str, str]]:
    """Figures by their names in JSON, each with the name it has everywhere and its value in words.

    >>> in_words({"k": Definition("K", "The smallest class.", count)}, {"k": 5}, ["k"])
    [('K', '5')]
    """
    return [(definitions[name].name, definitions[name].text(figures[name])) for name in names]


def defined(definitions: Definitions, figures: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The name in words, that in JSON and the meaning of each figure there is; of several results those of any."""
    several = [
        item for name in ("tables", "releases") for item in figures.get(name, ()) if isinstance(item, Mapping)
    ]
    there = set(figures).union(*several)
    return [(item.name, key, item.meaning) for key, item in definitions.items() if key in there]
