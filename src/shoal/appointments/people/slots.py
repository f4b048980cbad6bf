"""A table of slots: what each is called, how many seats it has left, and what else is known of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.appointments.problem import whole_numbers
from shoal.errors import InputError, parameter, unknown
from shoal.exact_names import only

NAMES, SEATS, TAKEN = ("slot", "resource"), ("capacity",), ("booked",)
# What tells where and when a slot is, so that nothing else needs to name it.
WHERE_AND_WHEN = ("center", "centre", "room", "date", "day", "hour", "time", "start", "end")


def with_names(frame: pl.DataFrame) -> pl.DataFrame:
    """The slots with a column that names them: without one each row is a slot, numbered from 1, if all is where and when.

    >>> with_names(pl.DataFrame({"Center": ["A", "A"], "Hour": [9, 13], "Capacity": [4, 2]}))["slot"].to_list()
    [1, 2]
    """
    columns = [name.lower() for name in frame.columns]
    others = [name for name in columns if name not in (*SEATS, *TAKEN)]
    if (
        any(name in NAMES for name in columns)
        or not others
        or any(name not in WHERE_AND_WHEN for name in others)
    ):
        return frame
    return frame.select(slot=pl.int_range(1, pl.len() + 1, dtype=pl.Int64)).hstack(frame.get_columns())


@dataclass(frozen=True)
class Slots:
    """The slots of a table: ``ids`` as written there, seats, and the attributes (centre, hour, …) in ``attributes``."""

    ids: pl.Series
    capacities: np.ndarray
    booked: np.ndarray
    attributes: pl.DataFrame

    @property
    def frame(self) -> pl.DataFrame:
        """The slots as a frame: names, ``capacity``, ``booked`` and the attributes."""
        seats = [pl.Series("capacity", self.capacities), pl.Series("booked", self.booked)]
        return pl.DataFrame([self.ids, *seats, *self.attributes.get_columns()])

    @classmethod
    def read(cls, frame: pl.DataFrame) -> "Slots":
        """The slots of a frame with columns ``slot`` (or RESOURCE) and ``capacity``; ``booked`` seats are taken already.

        Columns that only say where and when a slot is (center, hour …) may stand without ``slot``: then each row is one.
        """
        frame = with_names(frame)
        name = _column(frame, NAMES, "slot")
        seats = _column(frame, SEATS, "capacity")
        taken = next((column for column in frame.columns if column.lower() in TAKEN), None)
        ids = frame[name]
        if frame.height == 0:
            raise InputError("the table of slots is empty")
        if ids.null_count():
            raise InputError("a slot has no name")
        if ids.is_duplicated().any():
            twice = int(ids.is_duplicated().sum() - ids.filter(ids.is_duplicated()).n_unique())
            raise InputError(
                f"{twice} slot{'s are' if twice > 1 else ' is'} listed twice; every slot needs a name of its own"
            )
        capacities = _whole(frame[seats], f"column '{seats}' of the slots")
        if (capacities <= 0).any():
            raise InputError(f"column '{seats}' of the slots must be 1 or more")
        booked = np.zeros(frame.height, np.int64)
        if taken is not None:
            booked = _whole(frame[taken], f"column '{taken}' of the slots")
            if (booked < 0).any() or (booked > capacities).any():
                raise InputError(f"column '{taken}' of the slots must be between 0 and the capacity")
        rest = [column for column in frame.columns if column not in (name, seats, taken)]
        return cls(ids.alias(name), capacities, booked, only(frame, rest))

    @property
    def texts(self) -> dict[str, list[str]]:
        """The names of the slots and their attributes, as texts by column."""
        columns = [self.ids, *self.attributes.get_columns()]
        return {str(column.name): column.cast(pl.String).fill_null("").to_list() for column in columns}

    @property
    def free(self) -> np.ndarray:
        """Seats not booked."""
        free: np.ndarray = self.capacities - self.booked
        return free

    def labels(self, known: Sequence[str] | None) -> tuple[np.ndarray, list[str]]:
        """Which slots an attacker who knows these attributes cannot tell apart, and what to call them."""
        if known is None:
            return np.arange(self.ids.len()), [str(name) for name in self.ids.to_list()]
        columns = []
        for name in known:
            if name == self.ids.name or name.lower() in NAMES:
                columns.append(self.ids.cast(pl.String))
            elif name in self.attributes.columns:
                columns.append(self.attributes[name].cast(pl.String))
            else:
                raise unknown("slot attribute", name, self.attributes.columns, where="in the slots")
        if not columns:
            return np.zeros(self.ids.len(), np.int64), ["anywhere"]
        keys = [" ".join(str(part) for part in parts) for parts in zip(*columns, strict=True)]
        names = list(dict.fromkeys(keys))
        return np.array([names.index(key) for key in keys]), names

    def places(self, values: pl.Series) -> np.ndarray:
        """The place of each named slot; −1 where there is none (nothing, empty or −1)."""
        known = {str(name): place for place, name in enumerate(self.ids.to_list())}
        found = np.full(values.len(), -1, np.int64)
        for place, value in enumerate(values.to_list()):
            text = "" if value is None else _plain(value)
            if text in ("", "-1"):
                continue
            if text not in known:
                raise InputError(
                    f"column '{values.name}' names a slot that is not in the table of slots ({parameter('pinned')})"
                )
            found[place] = known[text]
        return found


def _plain(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _column(frame: pl.DataFrame, names: Sequence[str], wanted: str) -> str:
    for column in frame.columns:
        if column.lower() in names:
            return column
    error = unknown("column", wanted, frame.columns, where="in the slots")
    if wanted != "slot" or error.template.endswith("?"):
        raise error
    raise InputError(
        f"{error.template}; add a column 'slot' that names each. It may be missing only where every other column but the "
        "capacity says where or when a slot is (center, room, date, hour): then each row is one"
    )


def _whole(values: pl.Series, what: str) -> np.ndarray:
    if not values.dtype.is_numeric() or values.null_count():
        raise InputError(f"{what} must hold whole numbers")
    return whole_numbers(values.to_numpy(), what)
