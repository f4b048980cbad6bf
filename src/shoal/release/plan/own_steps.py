"""Steps that only plans have: removing columns, and putting pseudonyms in the place of identifiers."""

import hashlib
import hmac
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np
import polars as pl

from shoal.errors import InputError, unknown
from shoal.exact_names import without
from shoal.microdata.columns.record_links import RecordLinks
from shoal.microdata.columns.sorting import sorted_by_release
from shoal.operation import Operation, Product, Workplace
from shoal.operation_release import RecordsRelease
from shoal.settings import Columns, Data, Settings, data_argument, setting

if TYPE_CHECKING:
    from shoal.release.plan.workplace import PlanWorkplace

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


@dataclass(frozen=True, eq=False)
class PreparedRecords:
    """Records with some columns ``removed`` or ``replaced by pseudonyms``, and which of them is which."""

    frame: "pl.DataFrame" = field(repr=False)
    record_links: RecordLinks = field(repr=False)
    what: str

    def verify(self, back: "pl.DataFrame") -> None:
        """Raise ``AssertionError`` unless what was read back has the shape of the release."""
        assert back.height == self.frame.height and back.columns == self.frame.columns, (
            "what was written is not what was released"
        )


def figures(result: PreparedRecords, settings: object) -> dict[str, Any]:
    """How many records there are, and their columns."""
    return {"records": result.frame.height, "columns": result.frame.columns}


def facts(result: PreparedRecords, settings: Any) -> list[tuple[str, str]]:
    """What was done with which columns."""
    columns = (f"columns {result.what}", ", ".join(settings.columns))
    return [("records", f"{result.frame.height:,}"), columns]


def _read(settings: Any, workplace: Workplace) -> pl.DataFrame:
    frame = workplace.records(settings.data).frame
    for name in settings.columns:
        if name not in frame.columns:
            raise unknown("column", name, frame.columns, where="in the data")
    return frame


def _in_order(frame: pl.DataFrame, order: Order, what: str) -> PreparedRecords:
    """The records as they go on.

    They are sorted anew although a step before sorted them: a column that is removed would still be told by their order.
    """
    rows = np.arange(frame.height)
    if order != "keep":
        ordered, rows = sorted_by_release(nw.from_native(frame, eager_only=True), ())
        frame = ordered.to_native()
    return PreparedRecords(frame, RecordLinks.of([True] * frame.height, rows.tolist()), what)


def drop(settings: DropSettings, workplace: Workplace) -> PreparedRecords:
    """The frame without some columns."""
    frame = _read(settings, workplace)
    if len(set(settings.columns)) == frame.width:
        raise InputError("every column would be removed")
    return _in_order(without(frame, settings.columns), settings.order, "removed")


def pseudonymise(settings: PseudonymiseSettings, workplace: "PlanWorkplace") -> PreparedRecords:
    """The frame with a keyed hash in the place of each value: the same one gets the same, and in another release another.

    HMAC-SHA-256 under a key made of the outer one and of the secret of the release; a missing value stays missing.
    """
    frame, secret = _read(settings, workplace), workplace.secret
    assert secret is not None
    own = hmac.new(
        read_key(settings.key, workplace.folder), b"shoal release " + secret.content, hashlib.sha256
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
    return _in_order(frame, settings.order, "replaced by pseudonyms")


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


def _own_step(settings: type[Settings], run: Any, release: RecordsRelease) -> Operation:
    return Operation(
        name=run.__name__,
        title="",
        summary="",
        settings=settings,
        run=run,
        reporter=__name__,
        function="",
        products=(
            Product(
                "output",
                "Where to write.",
                lambda result, settings: result.frame,
                check=lambda result, settings: result.verify,
                files=(("release.parquet", ""),),
            ),
        ),
        release=release,
    )


_NO_PSEUDONYMS = (
    "a public-use file has no pseudonyms: whoever gets the key links all of them; drop the columns"
)

OWN_STEPS = {
    step.name: step
    for step in (
        _own_step(DropSettings, drop, RecordsRelease(touches=("columns",), removes="columns")),
        _own_step(
            PseudonymiseSettings,
            pseudonymise,
            RecordsRelease(
                draws="key",
                touches=("columns",),
                renames=True,
                outer_key="key",
                refused_for={"public": _NO_PSEUDONYMS},
            ),
        ),
    )
}
