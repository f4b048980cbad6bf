"""Who may come where: a column of the people that names slots or their attributes, or a table that joins both."""

from typing import Any

import numpy as np
import polars as pl

from shoal.appointments.people.slots import Slots
from shoal.errors import InputError, parameter, unknown
from shoal.exact_names import exactly, only


def allowed_slots(people: pl.DataFrame, slots: Slots, eligible: Any) -> tuple[np.ndarray, np.ndarray]:
    """The eligibility class of everybody, and the slots (a row of booleans) that each class may be given.

    ``eligible`` is nothing (everybody everywhere), the name of a column, or a frame.
    """
    if eligible is None:
        return np.zeros(people.height, np.int64), np.ones((1, slots.ids.len()), bool)
    if isinstance(eligible, str):
        if eligible not in people.columns:
            raise unknown("column", eligible, people.columns, where="in the people")
        texts = people[eligible].cast(pl.String).fill_null("")
        wanted = texts.unique(maintain_order=True).to_list()
        patterns = np.array([_named(text, slots) for text in wanted])
        place = {text: number for number, text in enumerate(wanted)}
        return _merged(np.array([place[text] for text in texts.to_list()]), patterns)
    return _joined(people, slots, eligible)


def _named(text: str, slots: Slots) -> np.ndarray:
    """The slots a text such as ``A;B;hour=9`` allows: alternatives within an attribute, all attributes together."""
    parts = [part.strip() for part in text.replace("|", ";").split(";") if part.strip()]
    if not parts:
        return np.ones(slots.ids.len(), bool)
    values = {name: np.array(texts, object) for name, texts in slots.texts.items()}
    allowed: dict[str, np.ndarray] = {}
    for part in parts:
        name, equals, value = part.partition("=")
        name, value = name.strip(), value.strip()
        if not equals:
            value = part
            name = next((column for column, found in values.items() if (found == value).any()), "")
        if name not in values or not (values[name] == value).any():
            raise InputError(
                f"{parameter('eligible')} names something that is neither a slot nor a value of a slot attribute"
            )
        here = values[name] == value
        allowed[name] = allowed[name] | here if name in allowed else here
    pattern: np.ndarray = np.logical_and.reduce(list(allowed.values()))
    return pattern


def _joined(people: pl.DataFrame, slots: Slots, table: Any) -> tuple[np.ndarray, np.ndarray]:
    """Eligibility from a table: a person may go to a slot if some line agrees with both."""
    slot_columns = slots.texts
    theirs = [name for name in table.columns if name in slot_columns]
    ours = [name for name in table.columns if name in people.columns and name not in theirs]
    for name in table.columns:
        if name not in theirs and name not in ours:
            raise unknown(
                "column", name, [*people.columns, *slot_columns], where="in the people or the slots"
            )
    if not ours or not theirs:
        raise InputError("the table of eligibility needs a column of the people and a column of the slots")
    text = table.select(pl.all().cast(pl.String).fill_null(""))
    own = people.select(exactly(*ours).cast(pl.String).fill_null(""))
    from shoal.appointments.people.rows import codes

    both = codes(pl.concat([own, only(text, ours)]), ours)
    person, line = both[: people.height], both[people.height :]
    places: dict[tuple[str, ...], list[int]] = {}
    for place, key in enumerate(zip(*(slot_columns[name] for name in theirs), strict=True)):
        places.setdefault(key, []).append(place)
    patterns = np.zeros((int(both.max()) + 1, slots.ids.len()), bool)
    for code, wanted in zip(line.tolist(), only(text, theirs).rows(), strict=True):
        patterns[code, places.get(wanted, [])] = True
    return _merged(person, patterns)


def _merged(classes: np.ndarray, patterns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Classes that may go to the same slots are one."""
    found, inverse = np.unique(patterns, axis=0, return_inverse=True)
    return inverse.reshape(-1)[classes], found
