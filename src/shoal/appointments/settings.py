"""The settings of ``assign``."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from shoal.runtime.settings import SearchSettings
from shoal.settings import Column, Columns, Data, Options, Spelling, setting, switch
from shoal.written_values import split_names

_ATTACKER = "Eligibility and attacker"
_PEOPLE = "Pinned people, diversity, attendance"
_WRITING = "Write back, calendars"
_SIZES = "Sizes in place of people"

#: One table by its name, or several.
Tables: TypeAlias = (
    str
    | Annotated[
        list[str],
        Field(min_length=1, max_length=50),
        Spelling(
            "several-data",
            "DATA",
            str,
            lambda names: names if isinstance(names, str) else ",".join(names),
            places=lambda names: [names] if isinstance(names, str) else names,
        ),
    ]
)


def split_numbers(text: str) -> list[int]:
    """Whole numbers from a text with commas between them.

    >>> split_numbers("4, 4,5")
    [4, 4, 5]
    """
    try:
        return [int(part) for part in split_names(text)]
    except ValueError:
        raise ValueError("must be whole numbers with commas between them") from None


Numbers: TypeAlias = Annotated[
    list[int], Spelling("numbers", "4,2,4", split_numbers, lambda numbers: ",".join(map(str, numbers)))
]


def _without_number(diverse: str) -> list[str]:
    # "illness=3" may be a column of that name, or three values of "illness".
    return [] if "=" in diverse else [diverse]


class AssignSettings(SearchSettings):
    """People, slots, and what counts."""

    people: Tables | None = setting(
        None,
        "A file, or URL::table of a database.",
        argument=True,
        metavar="PEOPLE",
        label="People",
        needed_in="workbench",
    )
    slots: Tables | None = setting(
        None,
        "Slots with capacity: a file (.csv, .ics, FHIR .json, …) or URL::table; of a database PEOPLE_resource.",
        argument=True,
        metavar="SLOTS",
        label="Slots",
    )
    quasi: Columns | None = setting(
        None,
        "What may be known of a person.",
        label="Quasi-identifiers",
        needed_in="workbench",
        min_length=1,
    )
    objective: Literal["k", "vector"] = setting(
        "k",
        "The smallest crowd, or the whole vector.",
        label="Aim",
        words={"k": "the smallest crowd, K", "vector": "the whole anonymity vector"},
    )
    k: int = setting(
        5,
        "Crowds below this count as exposed.",
        short="-k",
        label="k, crowds below it count as exposed",
        ge=1,
        le=1_000_000,
    )
    require_k: int | None = setting(
        None,
        "Release nothing if K is below this.",
        label="Required K",
        ge=1,
        le=10**9,
    )
    tables: int = setting(
        1, "Number of tables: PEOPLE0, PEOPLE1, … (1: PEOPLE itself).", only="command", ge=1, le=10_000
    )
    known: Columns | None = setting(
        None,
        "Slot attributes an attacker knows.",
        section=_ATTACKER,
        label="What an attacker knows of a slot",
        otherwise="the slot",
        blank=True,
    )
    eligible: Column | None = setting(
        None,
        "Where people may go: a column like 'A;B;hour=9', or a table of both.",
        section=_ATTACKER,
        label="Where people may go: column",
        metavar="COLUMN|FILE",
        otherwise="anywhere",
    )
    eligible_table: Data | None = setting(
        None,
        "Data that joins people to the slots they may go to.",
        section=_ATTACKER,
        label="Where people may go: table",
        only="workbench",
    )
    eligibility_known: bool = switch(
        "An attacker knows who may go where.", section=_ATTACKER, label="An attacker knows who may go where"
    )
    pinned: Column | None = setting(
        None, "Slots given already, to be kept.", section=_PEOPLE, label="Slots given already: column"
    )
    diverse: Annotated[str, Spelling("column", "COLUMN=L", str, names=_without_number)] | None = setting(
        None,
        "Every crowd at a slot holds L values of it.",
        section=_PEOPLE,
        label="Varied in each crowd: column",
        metavar="COLUMN=L",
    )
    diversity: int = setting(
        2,
        "How many different values, where only the column is named.",
        section=_PEOPLE,
        label="Different values in each crowd",
        only="workbench",
        ge=2,
        le=100,
    )
    attended: Column | None = setting(
        None, "Also K of those who came.", section=_PEOPLE, label="Who came: column"
    )
    key: Column | None = setting(
        None,
        "Identifies a person.",
        section=_WRITING,
        label="Identifies a person: column",
        otherwise="ID",
    )
    timezone: str | None = setting(
        None,
        "Zone of the slots' times.",
        section=_WRITING,
        label="Time zone of the slots",
        otherwise="none; UTC in FHIR",
        metavar="ZONE",
        max_length=60,
    )
    group_sizes: Numbers | None = setting(
        None, "Group sizes in place of files.", section=_SIZES, metavar="4,4,5,2", only="command"
    )
    capacities: Numbers | None = setting(
        None, "Capacities in place of files.", section=_SIZES, only="command"
    )
    instance: str | None = setting(
        None, "Sizes from 'generate instance'.", section=_SIZES, metavar="FILE.json", only="command"
    )
    method: str = setting(
        "auto", "How to find the plan; 'list' shows all methods.", section="Search", max_length=40
    )
    options: Options = setting(
        {}, "An option of the method; may be repeated.", section="Search", flag="--option"
    )
    level: int | None = setting(
        None,
        "How many components of the vector to prove.",
        section="Search",
        otherwise="all",
        only="command",
        ge=1,
        le=10**9,
    )
    # Which seat a person gets protects them, and so is no matter of a search that can be repeated by anybody.
    seed: int | None = setting(  # type: ignore[assignment]
        None,
        "Repeat a run.",
        section="Search",
        otherwise="seats are truly random",
        ge=0,
        served={"le": 2**53 - 1},
    )
