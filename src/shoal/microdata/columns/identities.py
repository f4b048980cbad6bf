"""Who a record is: a number that depends on a secret and on the record, and not on its place in the file."""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import narwhals as nw
import numpy as np

from shoal.errors import InputError, first_record
from shoal.microdata.columns.hierarchies.hierarchy import read_values
from shoal.runtime.secrets import Secret

# No value has this word; a gap does.
_GAP = np.uint64(0x7FF8_5348_4F41_4C00)


def record_identities(data: "nw.DataFrame[Any]", secret: Secret, key: str | None = None) -> np.ndarray:
    """An identity for each record: that of its key, which must be its own, or else of all its values.

    Records alike in all their values are told apart by their number among them: whichever of them gets which, the release as a
    whole is the same.

    >>> import polars as pl
    >>> people = nw.from_native(pl.DataFrame({"age": [31, 40, 31], "sex": ["f", "m", "f"]}))
    >>> ids = record_identities(people, Secret.of_seed(0))
    >>> turned = record_identities(people[::-1], Secret.of_seed(0))
    >>> sorted(ids) == sorted(turned), len(set(ids.tolist())), ids[1] == turned[1]
    (True, 3, np.True_)
    """
    from shoal.runtime import secret_kernels as kernels

    draws = secret.draws("identity")
    if key is not None:
        _check_key(data, key)
    hashes = np.zeros(len(data), dtype=np.uint64)
    # Lists are not released, and so tell nobody apart who is released.
    plain = sorted(name for name, kind in data.schema.items() if not kind.is_nested())
    for name in plain if key is None else [key]:
        hashes = kernels.chained(draws.key, hashes, _words(data[name], secret))
    found: np.ndarray = kernels.chained(draws.key, hashes, _occurrences(hashes))
    return found


def group_identities(columns: Iterable["nw.Series[Any]"], secret: Secret) -> np.ndarray:
    """The same number for all records that agree in these columns: the identity of a household."""
    from shoal.runtime import secret_kernels as kernels

    draws = secret.draws("group identity")
    hashes = np.zeros(0, dtype=np.uint64)
    for column in columns:
        words = _words(column, secret)
        hashes = kernels.chained(draws.key, hashes if hashes.size else np.zeros_like(words), words)
    return hashes


def _check_key(data: "nw.DataFrame[Any]", key: str) -> None:
    if data[key].dtype.is_nested():
        raise InputError(f"column '{key}' holds lists or records; it cannot be a key")
    again = ~data[key].is_first_distinct().to_numpy().astype(bool)
    if again.any():
        raise InputError(
            f"column '{key}' does not tell the records apart; a key that stood before: {first_record(np.flatnonzero(again))}"
        )


def _words(column: "nw.Series[Any]", secret: Secret) -> np.ndarray:
    """A word for every value; whole numbers have the same whatever type holds them."""
    if column.dtype.is_numeric() and not column.dtype.is_decimal():
        missing = column.is_null().to_numpy().astype(bool)
        floats = np.array(column.cast(nw.Float64).fill_null(0.0).to_numpy(), dtype=np.float64)
        words = (floats + 0.0).view(np.uint64).copy()
        if column.dtype.is_integer():
            wide = np.abs(floats) >= 2.0**53
            if wide.any():
                exact = np.array(column.fill_null(0).to_list(), dtype=object)[wide]
                words[wide] = [int(value) % 2**64 for value in exact]
        words[missing | np.isnan(floats)] = _GAP
        return words
    values = read_values(column)
    key = secret.draws("values").key.tobytes()
    each = [_GAP if text is None else _hashed(text, key) for text in values.texts]
    return np.array(each, dtype=np.uint64)[values.codes]


def _hashed(text: str, key: bytes) -> np.uint64:
    return np.frombuffer(blake2b(text.encode(), digest_size=8, key=key).digest(), dtype="<u8")[0]


def _occurrences(hashes: np.ndarray) -> np.ndarray:
    """The number of each record among those of the same hash."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    begin = np.repeat(first, np.diff(np.append(first, ordered.size)))
    found = np.empty(hashes.size, dtype=np.uint64)
    found[order] = np.arange(hashes.size) - begin
    return found
