"""The mapping that was applied: what each value became. Internal; it can be applied to next year's file."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw

from shoal.errors import InputError, parameter, unreadable
from shoal.microdata.columns.hierarchies.builders import builder
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy, read_values

_KIND = "shoal recoding"


@dataclass(frozen=True, eq=False)
class RecodedColumn:
    """One key: its hierarchy and the level at which it is released."""

    name: str
    hierarchy: Hierarchy
    level: int


@dataclass(frozen=True, eq=False)
class AppliedMapping:
    """The recoding of whole columns, and what was asked for when it was found."""

    columns: tuple[RecodedColumn, ...]
    k: int

    @property
    def names(self) -> list[str]:
        """The keys."""
        return [column.name for column in self.columns]

    def text(self) -> str:
        """As a file; it holds the values of the data that were recoded."""
        about = {
            "kind": _KIND,
            "note": "internal: it holds values of the data",
            "k": self.k,
            "columns": [
                {
                    "name": column.name,
                    "level": column.level,
                    "rule": column.hierarchy.rule,
                    "origin": column.hierarchy.origin,
                    "rows": None
                    if column.hierarchy.rule is not None
                    else [list(row) for row in column.hierarchy.rows],
                }
                for column in self.columns
            ],
        }
        return json.dumps(about, ensure_ascii=False, indent=1) + "\n"

    def hierarchies(self, data: nw.DataFrame) -> dict[str, Hierarchy]:
        """The hierarchies for other data; an ``InputError`` if values are there that the mapping does not know."""
        found = {}
        for column in self.columns:
            values = read_values(data[column.name])
            hierarchy = column.hierarchy
            if hierarchy.rule is not None:
                hierarchy = builder(hierarchy.rule).hierarchy(values, column.name)
            found[column.name] = hierarchy.with_missing() if values.has_missing else hierarchy
        return found

    @property
    def levels(self) -> dict[str, int]:
        """The level of each key."""
        return {column.name: column.level for column in self.columns}

    @classmethod
    def read(cls, path: str | Path) -> "AppliedMapping":
        """The mapping of a file; an ``InputError`` says what is wrong with it."""
        try:
            about: Any = json.loads(Path(path).read_text(encoding="utf-8"))
            if about.get("kind") != _KIND:
                raise ValueError
            columns = tuple(_column(item) for item in about["columns"])
            return cls(columns, int(about["k"]))
        except OSError as error:
            raise unreadable("mapping", path, error) from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError(
                f"'{Path(path).name}' is no mapping of a recoding; {parameter('apply')} takes what an earlier one has written"
            ) from None


def _column(item: Any) -> RecodedColumn:
    rows = item["rows"]
    if rows is None:
        hierarchy = Hierarchy([(None,)], item["origin"], item["rule"])
    else:
        hierarchy = Hierarchy([tuple(row) for row in rows], item["origin"])
    return RecodedColumn(str(item["name"]), hierarchy, int(item["level"]))
