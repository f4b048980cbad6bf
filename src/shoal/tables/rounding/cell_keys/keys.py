"""Record keys and cell keys: a record has one number in every table, and a cell one that the sum of those gives."""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from shoal.errors import InputError, first_record
from shoal.runtime.secrets import Secret
from shoal.tables.rounding.cell_keys.solution import PerturbationTable

#: Keys are whole numbers below this: sums of them wrap around exactly.
KEYS = 2**53


def record_keys(records: Sequence[Any], secret: Secret) -> np.ndarray:
    """The key of each record from the secret and what the record is known by; permanent as long as the secret is kept."""
    who = np.array([_identity(record) for record in records], dtype=np.uint64)
    draws = secret.draws("record keys").uniforms(who)
    return (draws * KEYS).astype(np.uint64)


def _identity(record: Any) -> int:
    return int.from_bytes(
        blake2b(repr(record).encode(), digest_size=8, person=b"shoal record").digest(), "little"
    )


def known_by_column(values: Iterable[Any], name: str) -> list[str]:
    """What records are known by, from a column that tells them apart."""
    texts = [_text(value) for value in values]
    missing = [place for place, text in enumerate(texts) if not text]
    if missing:
        raise InputError(
            f"column '{name}' does not tell all records apart: {first_record(missing)} has no value"
        )
    times = Counter(texts)
    again = [place for place, text in enumerate(texts) if times[text] > 1]
    if again:
        raise InputError(
            f"column '{name}' does not tell the records apart: {first_record(again)} share their values"
        )
    return texts


def _text(value: Any) -> str:
    """A number is the same record whether it was read as a whole number or not, as where another record has none."""
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def known_by_values(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """What records are known by where no column tells them apart: all values, and for equal ones how many came before."""
    seen: Counter[tuple[Any, ...]] = Counter()
    found = []
    for row in rows:
        texts = tuple("" if value is None else str(value) for value in row)
        found.append((*texts, seen[texts]))
        seen[texts] += 1
    return found


def keys_in_column(values: np.ndarray, name: str) -> np.ndarray:
    """The keys that a column of the records holds: numbers between 0 and 1, which is 0 again.

    >>> keys_in_column(np.array([0.5, 0.25]), "key").tolist() == [2**52, 2**51]
    True
    """
    outside = np.flatnonzero((values < 0) | (values > 1))
    if outside.size:
        raise InputError(
            f"column '{name}' holds no record keys: {first_record(outside)}, not between 0 and 1; of keys that are whole numbers "
            "divide each by how many keys there can be"
        )
    return np.rint(values * KEYS).astype(np.uint64) & np.uint64(KEYS - 1)


def are_uneven(keys: np.ndarray) -> bool:
    """Whether chance would spread keys so unevenly less than once in a million times, by Massart's bound."""
    places = np.sort(keys.astype(np.float64) / KEYS)
    size = places.size
    away = max(
        float((np.arange(1, size + 1) / size - places).max()), float((places - np.arange(size) / size).max())
    )
    return bool(2.0 * np.exp(-2.0 * size * away**2) < 1e-6)


def are_shared(keys: np.ndarray) -> bool:
    """Whether there are fewer keys than one for two records: then they are not drawn record by record, or rounded too much."""
    return bool(2 * np.unique(keys).size < keys.size)


def are_in_a_row(keys: np.ndarray) -> bool:
    """Whether chance would keep all keys so far apart less than once in a million times, as numbers in a row are.

    That no two of n keys are nearer than x has the probability (1 − (n − 1)·x)ⁿ.
    """
    places = np.sort(keys.astype(np.float64) / KEYS)
    if places.size < 2:
        return False
    left = 1.0 - (places.size - 1) * float(np.diff(places).min())
    return bool(max(left, 0.0) ** places.size < 1e-6)


def cell_keys(starts: np.ndarray, records: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The sum of the keys of each cell's records, wrapped around."""
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(keys[records], dtype=np.uint64)])
    found: np.ndarray = (sums[starts[1:]] - sums[starts[:-1]]) & np.uint64(KEYS - 1)
    return found


def scattered(sums: np.ndarray, secret: Secret) -> np.ndarray:
    """Another number for each sum of keys, by which its cell is looked up: those of parts say nothing of that of their total.

    Keys add up, and changes come in the order of the keys, so that by the sums themselves not all changes go together.
    """
    draws = secret.draws("cell keys").uniforms(sums)
    return (draws * KEYS).astype(np.uint64)


def perturbed_by(counts: np.ndarray, keys: np.ndarray, design: PerturbationTable) -> np.ndarray:
    """The published counts; of a table that was given the change up to whose end the cell's key reaches, as others read it."""
    if not design.is_external:
        return perturbed(counts, keys, design.chances)
    rows = design.row(counts)
    found = np.empty(counts.size, dtype=np.int64)
    for row in np.unique(rows):
        mine = rows == row
        changes, ends = design.row_intervals(int(row))
        at = np.searchsorted(np.rint(ends * KEYS).astype(np.uint64), keys[mine], side="left")
        found[mine] = counts[mine] + changes[at]
    return found


def perturbed(counts: np.ndarray, keys: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """The published counts: of each row of chances the change at which its running sum passes the cell's key."""
    wide = (chances.shape[1] - 1) // 2
    sums = np.cumsum(chances, axis=1)
    rows = np.minimum(counts, chances.shape[0] - 1)
    place = keys.astype(np.float64) / KEYS
    found = np.empty(counts.size, dtype=np.int64)
    for row in np.unique(rows):
        mine = rows == row
        at = np.searchsorted(sums[row], place[mine], side="right")
        # The running sum of the last possible change may fall short of 1 by a rounding error.
        last = int(np.flatnonzero(chances[row] > 0)[-1])
        found[mine] = counts[mine] + np.minimum(at, last) - wide
    return found
