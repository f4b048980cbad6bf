"""By what a record is known again in another release: keyed digests, never its place in a file, and never a value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import polars as pl

from shoal.errors import InputError

#: The folder of the internal part in which they are, one file for each source.
RECORD_KEYS = "records"
_BYTES = 16
_GAP = "\0"
_BETWEEN = "\x1f"


@dataclass(frozen=True, eq=False)
class RecordKeys:
    """For each record of a source who it is of (``who``), all it says (``rows``), and whose it is if that was said (``units``).

    Who a record is of is told by its identifiers, if each has its own, else by all it says.
    """

    who: np.ndarray
    rows: np.ndarray
    units: np.ndarray | None = None

    @classmethod
    def of(cls, frame: pl.DataFrame, roles: Mapping[str, str], key: bytes) -> "RecordKeys":
        """Those of a source, under the key of the folder in which its releases are.

        >>> frame = pl.DataFrame({"name": ["Ode", "Rim"], "age": [31, 40]})
        >>> keys = RecordKeys.of(frame, {"name": "identifier"}, b"k" * 16)
        >>> later = RecordKeys.of(frame.reverse().with_columns(age=41), {"name": "identifier"}, b"k" * 16)
        >>> [pairs.tolist() for pairs in keys.matched(later)], keys.shared_rows(later)
        ([[0, 1], [1, 0]], 0)
        """
        columns = {name: _texts(frame[name]) for name in sorted(frame.columns)}
        rows = _digests(list(columns.values()), key)
        named = [columns[name] for name, role in roles.items() if role == "identifier" and name in columns]
        who = _digests(named, key) if named else rows
        if np.unique(who).size < frame.height:
            who = rows
        unit = next(
            (columns[name] for name, role in roles.items() if role == "unit" and name in columns), None
        )
        return cls(who, rows, None if unit is None else _digests([_distinct(unit)], key))

    def matched(self, other: "RecordKeys") -> tuple[np.ndarray, np.ndarray]:
        """The places of the records that are the same here and there; equal ones in their order."""
        mine, theirs = _numbered(self.who), _numbered(other.who)
        both = [(place, theirs[key]) for key, place in mine.items() if key in theirs]
        found = np.array(both, dtype=np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def shared_rows(self, other: "RecordKeys") -> int:
        """How many records say the same in both."""
        return len(_numbered(self.rows).keys() & _numbered(other.rows).keys())

    def write(self, path: Path) -> None:
        """Keep them."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        arrays = {"who": self.who, "rows": self.rows, "units": self.units}
        np.savez(path, **{name: array for name, array in arrays.items() if array is not None})  # type: ignore[arg-type]

    @classmethod
    def read(cls, path: Path) -> "RecordKeys":
        """From what was kept."""
        try:
            with path.open("rb") as file, np.load(file) as kept:
                found = cls(kept["who"], kept["rows"], kept.get("units"))
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):
            raise InputError(f"the record keys '{path.name}' of a release cannot be read") from None
        return found


def keys_path(internal: Path, source: str) -> Path:
    """Where those of a source are."""
    return internal / RECORD_KEYS / f"{source}.npz"


def codes_of(units: pl.Series) -> np.ndarray:
    """A number for each unit; a record that does not say whose it is, is of somebody else."""
    found: np.ndarray = _distinct(_texts(units)).rank("dense").to_numpy().astype(np.int64)
    return found


def _distinct(units: pl.Series) -> pl.Series:
    own = pl.Series([f"{_GAP}{place}" for place in range(units.len())], dtype=pl.String)
    return units.zip_with(units != _GAP, own)


def _texts(column: pl.Series) -> pl.Series:
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        return pl.Series(column.name, [repr(item) for item in column.to_list()], dtype=pl.String)
    return column.cast(pl.String).fill_null(_GAP)


def _digests(columns: Sequence[pl.Series], key: bytes) -> np.ndarray:
    names = "".join(f"{column.name}{_BETWEEN}" for column in columns).encode()
    lines = pl.select(pl.concat_str(columns, separator=_BETWEEN)).to_series().to_list()
    start = blake2b(names, digest_size=_BYTES, key=key, person=b"shoal record")
    found = np.empty(len(lines), dtype=f"V{_BYTES}")
    for place, line in enumerate(lines):
        own = start.copy()
        own.update(line.encode())
        found[place] = own.digest()
    return found


def _numbered(keys: np.ndarray) -> "dict[tuple[bytes, int], int]":
    seen: dict[bytes, int] = {}
    found = {}
    for place, key in enumerate(keys.tolist()):
        seen[key] = seen.get(key, -1) + 1
        found[key, seen[key]] = place
    return found
