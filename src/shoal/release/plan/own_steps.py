"""Steps that only plans have: removing columns, and putting pseudonyms in the place of identifiers."""

import hashlib
import hmac
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from shoal.errors import InputError, unknown
from shoal.exact_names import without
from shoal.settings import Columns, Data, Settings, data_argument, setting

if TYPE_CHECKING:
    from shoal.runtime.secrets import Secret

# 20 signs of base 32 hold 100 bits: two of a billion people get the same one with a chance of 1 in 2,000,000,000,000.
_SIGNS = 20
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
_SHORTEST_KEY = 16
_ORDER = "Order of the released records."

Order = Literal["keep", "sorted"]


class DropSettings(Settings):
    """Which columns to remove."""

    data: Data = data_argument()
    columns: Columns = setting(..., "Columns to remove.", min_length=1)
    order: Order = setting("keep", _ORDER)


class PseudonymiseSettings(Settings):
    """Which columns get pseudonyms, and where the key is."""

    data: Data = data_argument()
    columns: Columns = setting(..., "Columns to replace by pseudonyms.", min_length=1)
    key: str = setting(
        ..., "Where the key is: env:VARIABLE or file:PATH, never the key itself.", pattern=r"^(env|file):.+"
    )
    order: Order = setting("keep", _ORDER)


@dataclass(frozen=True)
class OwnStep:
    """A step on records that keeps all of them; in which order they go on is the same for each of these steps."""

    settings: type[Settings]
    run: "Callable[[pl.DataFrame, Any, Secret, Path], pl.DataFrame]"


def _check(frame: pl.DataFrame, columns: list[str]) -> None:
    for name in columns:
        if name not in frame.columns:
            raise unknown("column", name, frame.columns, where="in the data")


def drop(frame: pl.DataFrame, settings: DropSettings, secret: "Secret", folder: Path) -> pl.DataFrame:
    """The frame without some columns."""
    _check(frame, settings.columns)
    if len(set(settings.columns)) == frame.width:
        raise InputError("every column would be removed")
    return without(frame, settings.columns)


def pseudonymise(
    frame: pl.DataFrame, settings: PseudonymiseSettings, secret: "Secret", folder: Path
) -> pl.DataFrame:
    """The frame with a keyed hash in the place of each value: the same one gets the same, and in another release another.

    HMAC-SHA-256 under a key made of the outer one and of the secret of the release; a missing value stays missing.
    """
    _check(frame, settings.columns)
    own = hmac.new(
        read_key(settings.key, folder), b"shoal release " + secret.content, hashlib.sha256
    ).digest()
    for name in settings.columns:
        different = frame[name].cast(pl.String).drop_nulls().unique()
        names = [_pseudonym(own, name, value) for value in different.to_list()]
        texts = (
            frame[name]
            .cast(pl.String)
            .replace_strict(different, pl.Series(names, dtype=pl.String), default=None)
        )
        frame = frame.with_columns(texts.alias(name))
    return frame


def _pseudonym(key: bytes, column: str, value: str) -> str:
    digest = hmac.new(key, f"{column}\0{value}".encode(), hashlib.sha256).digest()
    number = int.from_bytes(digest, "big")
    return "".join(_ALPHABET[number >> (5 * place) & 31] for place in range(_SIGNS))


def read_key(where: str, folder: Path) -> bytes:
    """The key from outside the plan."""
    kind, _, name = where.partition(":")
    if kind == "env":
        if name not in os.environ:
            raise InputError(f"the environment has no variable {name} with the key of the pseudonyms")
        key = os.environ[name].encode()
    else:
        try:
            key = (folder / name).read_bytes().strip()
        except OSError:
            raise InputError("the key of the pseudonyms cannot be read from its file") from None
    if len(key) < _SHORTEST_KEY:
        raise InputError(
            f"the key of the pseudonyms is shorter than {_SHORTEST_KEY} bytes: it could be guessed"
        )
    return key


OWN_STEPS = {
    "drop": OwnStep(DropSettings, drop),
    "pseudonymise": OwnStep(PseudonymiseSettings, pseudonymise),
}
