"""What the settings of ``assign`` name: tables of people with their slots, who may go where, who came, and sizes in a file."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.appointments.settings import AssignSettings
from shoal.errors import InputError, parameter, unknown, unreadable
from shoal.operation import DataName, Workplace

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

_CAME = {
    **dict.fromkeys(("1", "true", "yes", "y"), True),
    **dict.fromkeys(("0", "false", "no", "n", ""), False),
}


def has_sizes(settings: AssignSettings) -> bool:
    """Whether there are sizes in place of people."""
    return any(item is not None for item in (settings.group_sizes, settings.capacities, settings.instance))


@dataclass(frozen=True)
class Question:
    """What an instance asks: whether a plan with this K exists, and the numbers it stands for, if it is a reduction."""

    name: str
    numbers: list[int]
    padding: int
    k: int


def sizes_and_seats(
    settings: AssignSettings, workplace: Workplace
) -> tuple[Sequence[int], Sequence[int], Question | None]:
    """The sizes of groups and the capacities, as given or from a file, and what the file asks."""
    if settings.instance is not None:
        return _read_instance(workplace.file(settings.instance))
    return settings.group_sizes or (), settings.capacities or (), None


def _read_instance(path: Path) -> tuple[list[int], list[int], Question | None]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        groups, seats = content.get("groups", content.get("f")), content.get("capacities", content.get("c"))
        asked = None
        if content.get("k_asked") is not None:
            numbers = [int(number) for number in content.get("numbers", ())]
            name, padding = str(content.get("name", "")), int(content.get("padding", 1))
            asked = Question(name if numbers else "", numbers, padding, int(content["k_asked"]))
        return [int(number) for number in groups], [int(number) for number in seats], asked
    except OSError as error:
        raise unreadable("instance", path, error) from None
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise InputError(f"'{path}' is not an instance: a JSON object with groups and capacities") from None


def tables_of_people(settings: AssignSettings) -> list[DataName]:
    """The tables of people."""
    if settings.people is None:
        return []
    if settings.tables > 1:
        from shoal.sources import numbered

        return [*numbered(str(settings.people), settings.tables)]
    return [settings.people] if isinstance(settings.people, str) else [*settings.people]


def pairs(settings: AssignSettings) -> list[tuple[DataName, DataName]]:
    """The slots of each table of people."""
    people, slots = tables_of_people(settings), settings.slots
    if not people:
        raise InputError("name the people and the slots")
    if not settings.quasi:
        raise InputError(f"name the columns that may be known of a person with {parameter('quasi')}")
    if len(set(people)) < len(people):
        raise InputError("a table of people is named twice")
    if slots is None:
        return [(name, _resource(name)) for name in people]
    named = [slots] if isinstance(slots, str) else slots
    if len(named) != len(people):
        raise InputError(
            f"{len(people)} tables of people need {len(people)} tables of slots, not {len(named)}"
        )
    return list(zip(people, named, strict=True))


def _resource(people: DataName) -> DataName:
    """The slots that go with people if none are named: 'tabla_resource' for 'tabla'."""
    from shoal.sources import TableAddress, parse

    address = parse(people) if isinstance(people, str) and "://" in people else people
    if isinstance(address, TableAddress):
        return replace(address, table=f"{address.table}_resource")
    return f"{address}_resource"


def method_of(settings: AssignSettings) -> tuple[str, dict[str, Any]]:
    """The method and its options; levels are proved by one of them."""
    if settings.level is None:
        return settings.method, settings.options
    return "lexicographic", {**settings.options, "level": settings.level}


def diverse_in(settings: AssignSettings, columns: list[str]) -> tuple[str | None, int]:
    """The column that varies in every crowd and how much: "illness", "illness=3", or a column that is called so."""
    text = settings.diverse
    if text is None or text in columns or "=" not in text:
        return text, settings.diversity
    name, _, number = text.rpartition("=")
    try:
        wanted = int(number)
    except ValueError:
        raise InputError(f"{parameter('diverse')} needs COLUMN=NUMBER, not '{text}'") from None
    if wanted < 2:
        raise InputError("diversity begins at 2 different values")
    return name.strip(), wanted


def eligible_where(
    settings: AssignSettings, frame: "pl.DataFrame", workplace: Workplace
) -> "str | pl.DataFrame | None":
    """The column that says where people may go, or the table that joins both."""
    if settings.eligible_table is not None:
        if settings.eligible is not None:
            raise InputError("say where people may go by a column or by a table, not by both")
        return workplace.companion(settings.eligible_table).frame
    name = settings.eligible
    if name is None or name in frame.columns or not is_location(name):
        return name
    return workplace.companion(name).frame


def is_location(name: str) -> bool:
    """Whether a name that is no column is meant for a file or a table.

    >>> is_location("near.csv"), is_location("sqlite:///clinic.db::near"), is_location("near")
    (True, True, False)
    """
    return "::" in name or bool(Path(name).suffix)


def who_came(people: "pl.DataFrame", column: str) -> "np.ndarray":
    """Who kept their appointment, by a column that says yes or no.

    >>> import polars as pl
    >>> who_came(pl.DataFrame({"came": ["yes", "No", None]}), "came").tolist()
    [True, False, False]
    """
    import numpy as np

    if column not in people.columns:
        raise unknown("column", column, people.columns, where="in the people")
    texts = ["" if value is None else str(value).strip().lower() for value in people[column].to_list()]
    if not _CAME.keys() >= set(texts):
        raise InputError(f"column '{column}' must say yes or no (or 1 and 0) who came")
    return np.array([_CAME[text] for text in texts], bool)
