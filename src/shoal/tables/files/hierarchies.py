"""Hierarchies of dimensions in files: codes with their parents, correspondence of levels, and ``.hrc`` files of τ-ARGUS."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import InputError, unreadable
from shoal.tables.model.trees import EitherWay

if TYPE_CHECKING:
    import polars as pl


def read_hierarchy(path: str, mark: str = "@") -> dict[str, str]:
    """A hierarchy from a file: ``code`` and ``parent``, a column for each level, or an ``.hrc`` file of τ-ARGUS.

    ``mark`` is what an ``.hrc`` file puts before a code once for each level it is below the top.
    """
    if path.lower().endswith(".hrc"):
        return _read_hrc(Path(path), mark)
    from shoal import sources

    return as_hierarchy(sources.read_list(path).as_written, Path(path).name)


def as_hierarchy(frame: "pl.DataFrame", source: str) -> dict[str, str]:
    """The parent of each code, which has one: from ``code`` and ``parent``, or from columns that are levels in either order.

    >>> import polars as pl
    >>> regions = pl.DataFrame({"state": ["N", "N", "S"], "district": ["n1", "n2", "s1"]})
    >>> as_hierarchy(regions, "regions.csv")
    {'n1': 'N', 'N': '', 'n2': 'N', 's1': 'S', 'S': ''}
    """
    if frame.is_empty():
        raise InputError(f"the hierarchy {source} has no codes")
    if {"code", "parent"} <= set(frame.columns):
        return _parents(frame.select("code", "parent").rows(), source)
    # Polars is loaded by those who have such a table.
    from shoal.sources.header import codes_and_labels

    rows = codes_and_labels(frame.columns, frame.rows())
    levels = len(frame.columns)
    if levels < 2:
        raise InputError(f"the hierarchy {source} needs the columns 'code' and 'parent'")
    finest_first = _determined(rows, range(levels))
    if levels == 2 and (finest_first or not _determined(rows, (1, 0))):
        return _parents(rows, source)
    if not finest_first and not _determined(rows, range(levels - 1, -1, -1)):
        raise InputError(
            f"the hierarchy {source} needs the columns 'code' and 'parent', or a column for each level in their order"
        )
    return _of_levels([row if finest_first else row[::-1] for row in rows], source)


def _determined(rows: Sequence[tuple[object, ...]], order: Sequence[int]) -> bool:
    """Whether in this order every column tells the next one."""
    for fine, coarse in pairwise(order):
        found: dict[object, object] = {}
        if any(found.setdefault(row[fine], row[coarse]) != row[coarse] for row in rows):
            return False
    return True


def _parents(rows: Sequence[tuple[object, ...]], source: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for row, (code, parent) in enumerate(rows, 1):
        if code is None:
            raise InputError(f"the hierarchy {source} has no code in row {row}")
        above = "" if parent is None or parent == code else str(parent)
        if found.setdefault(str(code), above) != above:
            raise InputError(f"the hierarchy {source} gives a code a second parent in row {row}")
    return found


def _of_levels(rows: Sequence[tuple[object, ...]], source: str) -> dict[str, str]:
    """The parents of codes from rows that go from the finest level up; a code that stays the same is one code."""
    found: dict[str, str] = {}
    for row, codes in enumerate(rows, 1):
        line = list(dict.fromkeys(str(code) for code in codes if code is not None))
        if not line:
            raise InputError(f"the hierarchy {source} has no code in row {row}")
        for code, above in pairwise([*line, ""]):
            if found.setdefault(code, above) != above:
                raise InputError(f"the hierarchy {source} gives a code a second parent in row {row}")
    return found


def _read_hrc(path: Path, mark: str) -> dict[str, str]:
    # One code per line, as many leading marks (usually @) as it is levels below the top; parents before their children,
    # or all children before their parents. Where levels allow both, the data decide.
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise unreadable("hierarchy", path, error) from None
    except UnicodeDecodeError:
        raise InputError(f"{path.name} is not a text in UTF-8") from None
    coded = [(number, *_code(line.strip(), mark)) for number, line in enumerate(lines, 1) if line.strip()]
    if not coded:
        raise InputError(f"the hierarchy {path.name} has no codes")
    seen: set[str] = set()
    for number, _, code in coded:
        if not code:
            raise InputError(f"{path.name}, line {number}: there is no code after the marks")
        if code in seen:
            raise InputError(f"{path.name}, line {number}: the code was there before")
        seen.add(code)
    backwards = coded[::-1]
    before, after = _jump(coded), _jump(backwards)
    if before is None and after is None and any(depth for _, depth, _ in coded):
        # A code without children that comes first or last allows both orders; τ-ARGUS writes parents first.
        return EitherWay(_below(coded), _below(backwards))
    if before is not None and after is not None:
        line = after if coded[0][1] > 0 and coded[-1][1] == 0 else before
        raise InputError(f"{path.name}, line {line}: the code is more than one level below the one before")
    return _below(coded if before is None else backwards)


def _jump(coded: Sequence[tuple[int, int, str]]) -> int | None:
    """The number of the first line whose code is more than one level below the one before, if there is one."""
    level = -1
    for number, depth, _ in coded:
        if depth > level + 1:
            return number
        level = depth
    return None


def _below(coded: Sequence[tuple[int, int, str]]) -> dict[str, str]:
    """The parent of each code where parents come before their children."""
    parents: list[str] = []
    found: dict[str, str] = {}
    for _, depth, code in coded:
        parents[depth:] = [code]
        found[code] = parents[depth - 1] if depth else ""
    return found


def _code(line: str, mark: str) -> tuple[int, str]:
    depth = 0
    while line.startswith(mark):
        depth, line = depth + 1, line[len(mark) :]
    # τ-ARGUS pads codes to one width.
    return depth, line.strip()
