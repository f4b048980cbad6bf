"""The call of a public function, as the report of its result names it: frames by their size, everything else as it was given."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from shoal.report.definitions import Definitions
from shoal.report.provenance import Assurances, Chosen, Input, Provenance, without_password

if TYPE_CHECKING:
    from shoal.report.glance import Glance
    from shoal.report.page import Page

# What only says how somebody watches or limits the work, and is no setting.
_WATCHING = frozenset({"observer", "budget"})
_LONGEST = 300


@dataclass(frozen=True)
class Call:
    """A function by its public name, the frames it was given, and all its other arguments."""

    function: str
    frames: tuple[Input, ...]
    arguments: tuple[Chosen, ...]

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """What was chosen: the arguments that are no frames and not as by default, by name, as texts."""
        return tuple((item.label, item.value) for item in self.arguments if not item.default)

    def provenance(self) -> Provenance:
        """How the result was made, for its report."""
        names = ", ".join(f"{item.role}=…" for item in self.frames)
        return Provenance("call", f"shoal.{self.function}({names})", self.frames, self.arguments)


def described(function: str, passed: Mapping[str, Any], usual: Mapping[str, Any]) -> Call:
    """The call in words; it keeps no frame and no object that was passed.

    >>> import polars as pl
    >>> call = described("recode", {"data": pl.DataFrame({"a": [1, 2]}), "k": 3}, {"k": 5})
    >>> call.frames[0].records, [(item.label, item.value, item.default) for item in call.arguments]
    (2, [('k', '3', False)])
    """
    frames, arguments = [], []
    for name, value in passed.items():
        size = _size(value)
        if size is not None:
            records, columns = size
            frames.append(Input("a frame in memory", "", name, records, columns, lacking=_NO_FILE))
        elif name not in _WATCHING:
            same = name in usual and (value is usual[name] or (_plain(value) and value == usual[name]))
            arguments.append(Chosen(name, _text(value), same))
    return Call(function, tuple(frames), tuple(arguments))


_NO_FILE = "none: it was no file; whoever signs has to know which data this was"


def completed(
    page: "Page",
    result: "Glance",
    assurances: Assurances | None = None,
    definitions: Definitions = MappingProxyType({}),
) -> "Page":
    """The page of a result that was made in Python: what it is about, and how it was made, as far as that is known."""
    page.define((item.name, key, item.meaning) for key, item in definitions.items())
    call = result.made_by
    if call is None:
        frame = Input("a frame in memory", "", lacking=_NO_FILE)
        return page.complete(Provenance("call", "shoal, from Python", (frame,)), assurances)
    return page.complete(call.provenance(), assurances)


def _size(value: Any) -> tuple[int, tuple[str, ...]] | None:
    """Records and columns of whatever frame it is; an array has columns without names, and a lazy frame no size yet."""
    names = getattr(value, "column_names", None)
    if names is not None and hasattr(value, "num_rows"):
        return int(value.num_rows), tuple(map(str, names))
    shape = getattr(value, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2:
        return None
    columns = getattr(value, "columns", None)
    if columns is None:
        columns = [f"column {place + 1}" for place in range(shape[1])]
    return int(shape[0]), tuple(map(str, columns))


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, str | PurePath):
        return without_password(str(value))
    if isinstance(value, list | tuple | dict) and _simple(value):
        text = repr(value)
        return text if len(text) <= _LONGEST else f"{len(value):,} items"
    if _plain(value):
        return str(value)
    return f"a {type(value).__name__}"


def _simple(value: Any) -> bool:
    """Whether everything inside is a number, a text, or made of these."""
    if isinstance(value, dict):
        return all(_plain(name) and _simple(item) for name, item in value.items())
    if isinstance(value, list | tuple):
        return all(map(_simple, value))
    return _plain(value)
