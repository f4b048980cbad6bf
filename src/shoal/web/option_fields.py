"""The options of a method as fields of a form: read from its options model, so that a new method needs no page."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from shoal.report.page import shown

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

Kind = Literal["switch", "choice", "whole", "number", "text"]


@dataclass(frozen=True)
class OptionField:
    """One option: its name on the command line, what it may be, and what it does."""

    name: str
    kind: Kind
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    may_be_empty: bool = False

    @property
    def label(self) -> str:
        """The name as a person writes it."""
        text = self.name.replace("_mb", ", MB").replace("_", " ")
        return text[:1].upper() + text[1:]

    @property
    def hint(self) -> str:
        """What it does, what it may be, and what it is if nobody says otherwise."""
        parts = [self.help] if self.help else []
        if self.least is not None and self.most is not None:
            parts.append(f"{shown(self.least)} to {shown(self.most)}")
        else:
            for word, limit in (
                ("at least", self.least or None),
                ("above", self.above),
                ("at most", self.most),
                ("below", self.below),
            ):
                parts += [] if limit is None else [f"{word} {shown(limit)}"]
        if self.kind in ("whole", "number", "text") and self.default is not None:
            parts.append(f"usually {shown(self.default)}")
        text = "; ".join(parts)
        return text[:1].upper() + text[1:]


def option_fields(model: "type[BaseModel]") -> list[OptionField]:
    """The fields of an options model, in its order.

    >>> from shoal.microdata.microaggregation.construct.v_mdav import VMdavOptions
    >>> [(field.name, field.kind, field.default, field.least) for field in option_fields(VMdavOptions)]
    [('gamma', 'number', 0.2, 0.0)]
    """
    return [_field(name, info) for name, info in model.model_fields.items()]


def changed_options(model: "type[BaseModel]", values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that differ from what the model takes anyway; whole numbers as such, empty ones left out.

    >>> from shoal.microdata.microaggregation.search.ils import IlsOptions
    >>> changed_options(IlsOptions, {"streams": 4.0, "growth": 1.5, "recombine": True})
    {'streams': 4}
    """
    found: dict[str, Any] = {}
    for field in option_fields(model):
        value = values.get(field.name)
        if value is None or value == "":
            continue
        if field.kind == "whole" and isinstance(value, float) and value.is_integer():
            value = int(value)
        if value != field.default:
            found[field.name] = value
    return found


def as_command(options: Mapping[str, Any]) -> str:
    """The options as the command line takes them.

    >>> as_command({"streams": 4, "recombine": False})
    '--option streams=4 --option recombine=false'
    """
    return " ".join(
        f"--option {name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in options.items()
    )


def _field(name: str, info: "FieldInfo") -> OptionField:
    annotation, empty = _without_none(info.annotation)
    choices: tuple[str, ...] = ()
    kind: Kind = "text"
    if get_origin(annotation) is Literal:
        kind, choices = "choice", tuple(str(item) for item in get_args(annotation))
    elif annotation is bool:
        kind = "switch"
    elif annotation is int:
        kind = "whole"
    elif annotation is float:
        kind = "number"
    limits = {
        what: next((getattr(item, what) for item in info.metadata if hasattr(item, what)), None)
        for what in ("ge", "le", "gt", "lt")
    }
    return OptionField(
        name,
        kind,
        info.default,
        info.description or "",
        choices,
        least=limits["ge"],
        most=limits["le"],
        above=limits["gt"],
        below=limits["lt"],
        may_be_empty=empty,
    )


def _without_none(annotation: Any) -> tuple[Any, bool]:
    if get_origin(annotation) in (Union, UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        if len(kinds) == 1:
            return kinds[0], True
    return annotation, False
