"""The order of a column's values: its own, one that was declared, or one that somebody states, lowest first."""

import re
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import narwhals as nw
import numpy as np

from shoal.errors import InputError, parameter
from shoal.remarks import Remark, note

#: For each ordinal column the order of its values, or ``None`` where the column has one.
Orders = Mapping[str, Sequence[Any] | None]

_TOKEN = re.compile(r'\s*(?:"([^"]*)"|([,=<])|([^,=<"]+))\s*')
# A point or comma after the number may part thousands or decimals, so such texts say no order.
_LEADING = re.compile(r"\s*(\d+)(?![\d.,]*\d)")


def parse_orders(text: str | None) -> dict[str, list[str] | None]:
    """Ordinal columns from a text like "age,education=none<primary<higher"; names with , = or < stand in quotes.

    >>> parse_orders('age, size="up to 1,000"<more')
    {'age': None, 'size': ['up to 1,000', 'more']}
    """
    orders: dict[str, list[str] | None] = {}
    for part in _split(_tokens(text or ""), ","):
        if not part:
            continue
        column, *rest = _split(part, "=")
        stated = [_word(item) for item in _split(rest[0], "<")] if rest else None
        name = _word(column)
        if name is None or len(rest) > 1 or (stated is not None and None in stated):
            raise InputError(
                f"{parameter('ordinal')} needs columns, each with its values from the lowest on if it has no order of its own: "
                '"age,education=none<primary<higher"'
            )
        if name in orders:
            raise InputError(f"column '{name}' is named twice in {parameter('ordinal')}")
        orders[name] = stated  # type: ignore[assignment]
    return orders


def orders_in_words(ordinal: Sequence[str] | Orders) -> str:
    """The orders that are stated, as ``parse_orders`` reads them.

    >>> orders_in_words({"age": None, "size": ["up to 1,000", "more"]})
    'size="up to 1,000"<more'
    """
    orders = ordinal if isinstance(ordinal, Mapping) else {}

    def word(text: Any) -> str:
        return f'"{text}"' if re.search("[,=<]", str(text)) else str(text)

    return ",".join(
        f"{word(name)}={'<'.join(word(value) for value in stated)}"
        for name, stated in orders.items()
        if stated
    )


def _tokens(text: str) -> list[tuple[str, bool]]:
    """Words and marks; the second part says whether it is a mark."""
    found, place = [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise InputError(f"{parameter('ordinal')} has a quote without an end")
        quoted, mark, word = match.groups()
        if mark is not None:
            found.append((mark, True))
        elif quoted is not None or word.strip():
            found.append((quoted if quoted is not None else word.strip(), False))
        place = match.end()
    return found


def _split(tokens: Sequence[tuple[str, bool]], mark: str) -> list[list[tuple[str, bool]]]:
    parts: list[list[tuple[str, bool]]] = [[]]
    for token in tokens:
        if token == (mark, True):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _word(tokens: Sequence[tuple[str, bool]]) -> str | None:
    return tokens[0][0] if len(tokens) == 1 and not tokens[0][1] else None


def read_orders(ordinal: str | Sequence[str] | Orders) -> dict[str, tuple[Any, ...] | None]:
    """Ordinal columns as a user names them: one name, several, or each with the order of its values.

    >>> read_orders("age"), read_orders({"education": ["none", "higher"], "age": None})
    ({'age': None}, {'education': ('none', 'higher'), 'age': None})
    >>> read_orders("education=none<higher")
    {'education': ('none', 'higher')}
    """
    if isinstance(ordinal, str):
        # An order in words, as messages tell it; no usual name of a column has such a sign.
        ordinal = parse_orders(ordinal) if "<" in ordinal else [ordinal]
    if not isinstance(ordinal, Mapping):
        return dict.fromkeys(ordinal)
    orders: dict[str, tuple[Any, ...] | None] = {}
    for name, stated in ordinal.items():
        if isinstance(stated, str):
            raise InputError(f"the order of column '{name}' must be a list of its values, lowest first")
        orders[name] = None if stated is None else tuple(stated)
    return orders


def value_label_orders(
    orders: Orders, labels: Mapping[str, Mapping[Any, str]], measures: Mapping[str, str]
) -> dict[str, Sequence[Any] | None]:
    """Orders with what the value labels of SPSS or Stata say: a stated label is its code, and text codes of a variable
    that the file calls ordinal have the order of its labels.

    >>> value_label_orders({"edu": ["none", "higher"]}, {"edu": {1.0: "none", 2.0: "higher"}}, {})
    {'edu': [1.0, 2.0]}
    """
    found: dict[str, Sequence[Any] | None] = dict(orders)
    for name, stated in orders.items():
        of_column = labels.get(name, {})
        if (
            stated is None
            and measures.get(name) == "ordinal"
            and all(isinstance(code, str) for code in of_column)
        ):
            found[name] = list(of_column) or None
        elif stated is not None:
            codes = {text: code for code, text in of_column.items()}
            if len(codes) == len(of_column):
                found[name] = [codes.get(item, item) for item in stated]
    return found


def can_be_ordered(kind: Any) -> bool:
    """Whether values of a type can have an order: lists, records within records and bytes have none.

    >>> can_be_ordered(nw.String()), can_be_ordered(nw.List(nw.Int64)), can_be_ordered(nw.Binary())
    (True, False, False)
    """
    return not isinstance(kind, nw.List | nw.Array | nw.Struct | nw.Binary | nw.Unknown)


def ordered_values(column: nw.Series, present: Sequence[Any], stated: Sequence[Any] | None) -> list[Any]:
    """The values of a column from the lowest to the highest; an ``InputError`` if nothing says what comes first."""
    name = column.name
    try:
        distinct = set(present)
    except TypeError:
        raise InputError(f"column '{name}' holds lists or records, which have no order") from None
    if not distinct:
        raise InputError(f"column '{name}' is empty, so nothing in it has an order")
    if any(isinstance(value, bytes) for value in distinct):
        raise InputError(f"column '{name}' holds bytes, which have no order")
    if stated is not None:
        return _as_stated(column, distinct, stated)
    declared = declared_order(column)
    if declared is not None:
        return [value for value in declared if value in distinct]
    if all(isinstance(value, str) for value in distinct):
        return _numbered(name, distinct)
    try:
        return sorted(distinct)
    except TypeError:
        raise InputError(f"the values of column '{name}' have no order") from None


def remarks_on_orders(frame: nw.DataFrame, orders: Orders) -> list[Remark]:
    """Ordinal columns whose order was read from their texts: nobody stated it, so somebody should look at it."""
    read = [
        name
        for name, stated in orders.items()
        if stated is None
        and isinstance(frame.schema[name], nw.String | nw.Categorical)
        and declared_order(frame[name]) is None
    ]
    text = f"{', '.join(read)}: texts in the order of the numbers they begin with"
    return [note("order-of-texts", text, *read)] if read else []


def declared_order(column: nw.Series) -> list[Any] | None:
    """The categories of a column whose type says that they are in order."""
    native = column.to_native()
    if isinstance(column.dtype, nw.Enum):
        if column.implementation.is_pandas_like():
            return list(native.cat.categories.tolist())
        return list(column.dtype.categories)
    if column.implementation.is_pyarrow() and getattr(native.type, "ordered", False):
        whole = native.unify_dictionaries()
        return list(whole.chunk(0).dictionary.to_pylist()) if whole.num_chunks else []
    return None


def by_leading_number(texts: Collection[str]) -> list[str] | None:
    """Texts in the order of the numbers they begin with; ``None`` unless each begins with one of its own.

    >>> by_leading_number(["10-14", "5-9"]), by_leading_number(["5-9", "old"])
    (['5-9', '10-14'], None)
    """
    numbers = {text: int(match[1]) for text in texts if (match := _LEADING.match(text))}
    if len(set(numbers.values())) < len(texts):
        return None
    return sorted(texts, key=lambda text: numbers[text])


def _numbered(name: str, distinct: set[str]) -> list[str]:
    """Texts that all begin with a number of their own ("5-9", "10-14") are in the order of these numbers."""
    found = by_leading_number(distinct)
    if found is None:
        raise InputError(
            f"column '{name}' holds texts, and nothing says their order; state it from the lowest on: "
            f'{parameter("ordinal")} "{name}=low<middle<high"'
        )
    return found


def _as_stated(column: nw.Series, distinct: set[Any], stated: Sequence[Any]) -> list[Any]:
    name = column.name
    kind = column.dtype
    if kind.is_temporal():
        raise InputError(
            f"column '{name}' holds dates or times, which have an order of their own; state none"
        )
    order = [_of_type(value, kind) for value in stated]
    if len(order) < 2 or len(set(order)) < len(order):
        raise InputError(f"the order of column '{name}' must name at least two values, each once")
    known = set(order)
    if not distinct <= known:
        values = zip(column.to_list(), column.is_null().to_list(), strict=True)
        outside = [row for row, (value, gone) in enumerate(values) if not gone and value in distinct - known]
        raise InputError(
            f"{len(outside)} records of column '{name}' have a value that the stated order does not name, the first is "
            f"record {outside[0] + 1}; name every value, from the lowest on"
        )
    # 1 of the column and 1.0 as it was stated are equal; released is what the column holds.
    own = {value: value for value in distinct}
    return [own[value] for value in order if value in own]


def _of_type(value: Any, kind: Any) -> Any:
    """A stated value as the column holds it: on the command line every value is a text."""
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, str):
        return value
    if kind == nw.Boolean:
        return {"true": True, "false": False}.get(value.strip().lower(), value)
    if kind.is_numeric():
        number = Decimal if kind.is_decimal() else int if kind.is_integer() else float
        try:
            return number(value)
        except (ValueError, InvalidOperation):
            return value
    return value
