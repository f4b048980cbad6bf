"""Settings that say all about themselves, so that command line, REST, forms and manual are made from one declaration.

An operation has one frozen model of settings. Each field is declared with ``setting``: its default and limits, what it
does in a sentence, the section it belongs to, and where needed a short flag, a label and the words for its choices.
``fields`` reads such a model; whoever asks a person for settings (a command, a form) works from what it says.

>>> class Sample(Settings):
...     k: int = setting(5, "Smallest number of equal records.", section="Protection", short="-k", ge=2)
...     columns: Columns | None = setting(None, "Columns to protect.", otherwise="all that measure something")
>>> [(field.name, field.kind, field.option, field.least) for field in fields(Sample)]
[('k', 'whole', '--k', 2), ('columns', 'columns', '--columns', None)]
>>> Sample(k=3).columns is None
True
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from shoal.errors import InputError, unknown
from shoal.written_values import (
    but_star,
    groups_in_words,
    in_groups,
    joined_names,
    split_groups,
    split_names,
    split_options,
    split_weights,
)

Model = TypeVar("Model", bound=BaseModel)
Front = Literal["command", "workbench"]


class Settings(BaseModel):
    """The base of all settings: frozen; unknown names are refused, and numbers that are none or have no end."""

    # A model that others are made from need not be built itself; those that are asked for build themselves.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


def called_with(model: type[Model], arguments: Mapping[str, Any]) -> Model:
    """The settings that a call of a function names: its arguments as they are, which may be frames and objects, too.

    >>> class Sample(Settings):
    ...     k: int = setting(5, "Smallest number of equal records.", ge=2)
    >>> called_with(Sample, {"k": 3, "frame": None}).k
    3
    """
    return model.model_construct(
        **{name: value for name, value in arguments.items() if name in model.model_fields}
    )


def setting(
    default: Any,
    sentence: str,
    *,
    section: str = "",
    short: str | None = None,
    flag: str | None = None,
    label: str | None = None,
    metavar: str | None = None,
    otherwise: str | None = None,
    words: Mapping[str, str] | None = None,
    argument: bool = False,
    only: Front | None = None,
    served: Mapping[str, Any] | None = None,
    blank: bool = False,
    needed_in: Front | None = None,
    **limits: Any,
) -> Any:
    """Declare one setting: its default (``...`` if it must be given) and what it does.

    ``otherwise`` says what holds when it is not given, ``words`` what its choices are called on a page. An ``argument``
    stands on the command line without its name; ``flag`` is another name it has there. ``only`` keeps a setting to one of
    the front ends; ``needed_in`` is the one that does not go without it. ``limits`` are those of Pydantic: ``ge``, ``gt``,
    ``le``, ``lt``, ``min_length``, ``max_length``; ``served`` are narrower ones, and maybe another ``default``, for requests
    to the workbench, which serves several people. A ``blank`` is a choice of nothing where it has a meaning.
    """
    about = {
        "section": section,
        "short": short,
        "flag": flag,
        "label": label,
        "metavar": metavar,
        "otherwise": otherwise,
        "words": None if words is None else dict(words),
        "argument": argument or None,
        "only": only,
        "needed_in": needed_in,
        "served": None if served is None else dict(served),
        "blank": blank,
    }
    extra: Any = {name: value for name, value in about.items() if value}
    if isinstance(default, list | dict):
        return Field(
            default_factory=lambda: type(default)(default),
            description=sentence,
            json_schema_extra=extra,
            **limits,
        )
    return Field(default, description=sentence, json_schema_extra=extra, **limits)


def switch(sentence: str, *, on: bool = False, **about: Any) -> Any:
    """Declare a setting that is on or off.

    >>> class Sample(Settings):
    ...     insiders: bool = switch("Protect against sole contributors.", on=True)
    >>> fields(Sample)[0].option
    '--no-insiders'
    """
    return setting(on, sentence, **about)


def data_argument(
    sentence: str = "A file (or FILE.xlsx::SHEET), or URL::table of a database.", **about: Any
) -> Any:
    """Declare the data that an operation cannot do without."""
    return setting(..., sentence, argument=True, **{"label": "Data"} | about)


def smallest(default: int, sentence: str, *, least: int = 2) -> Any:
    """Declare k."""
    return setting(
        default,
        sentence,
        short="-k",
        label="k, smallest number of equal records",
        ge=least,
        le=10**9,
        served={"le": 10**6},
    )


def required_k(sentence: str, *, section: str = "") -> Any:
    """Declare the K below which nothing is good enough."""
    return setting(None, sentence, section=section, label="Required K", ge=1, le=10**9)


def accepted_wildcard(section: str) -> Any:
    """Declare that what holds only where a blank matches anything is enough."""
    return switch(
        "Let pass what holds only where a blank or missing value matches anything; recorded.",
        section=section,
        label="Accept what holds by wildcards only",
    )


def counted_unit(sentence: str = "Count distinct units in K.", *, section: str = "") -> Any:
    """Declare the column that says whose records these are."""
    which = f"{sentence} '{EACH_RECORD}': each record is one, unless a column is called so."
    words = {EACH_RECORD: "each record is one unit (declared)"}
    return setting(
        None, which, section=section, label="Unit", otherwise="each record is one unit", words=words
    )


def choice(sentence: str, words: Mapping[str, str], *, section: str, label: str) -> Any:
    """Declare a choice: its values and what they are called on a page, the usual one first."""
    return setting(next(iter(words)), sentence, section=section, label=label, words=words)


@dataclass(frozen=True)
class Spelling:
    """How a value is written in a line of text, or in several if it is ``repeated``; ``kind`` is the field it gets on a form.

    ``names`` are the columns that a value names, which the data must have, and ``places`` the data it names; ``check``
    refuses with an ``InputError`` what no data would make right.
    """

    kind: str
    metavar: str
    read: Callable[[Any], Any]
    write: Callable[[Any], str] = str
    repeated: bool = False
    names: Callable[[Any], Iterable[str]] = lambda value: ()
    places: Callable[[Any], Iterable[str]] = lambda value: ()
    check: Callable[[Any], object] = lambda value: None


#: The unit that is declared by who says that each record is one.
EACH_RECORD = "record"
#: The name of a column, of several, of groups of them; numbers by column; the options of a method.
Column: TypeAlias = Annotated[str, Spelling("column", "COLUMN", str, names=lambda name: [name])]
#: The column that says whose a record is, or ``EACH_RECORD``, which names none.
UnitColumn: TypeAlias = Annotated[
    str, Spelling("column", "COLUMN", str, names=lambda name: [name] if name != EACH_RECORD else [])
]
Columns: TypeAlias = Annotated[
    list[str], Spelling("columns", "a,b", split_names, joined_names, names=but_star)
]
Groups: TypeAlias = Annotated[
    list[list[str]], Spelling("groups", '"a,b;c,d"', split_groups, groups_in_words, names=in_groups)
]
Weights: TypeAlias = Annotated[
    dict[str, Annotated[float, Field(ge=0, le=1e100)]],
    Spelling(
        "weights",
        "a=2,b=1",
        split_weights,
        lambda weights: ",".join(f"{name}={value:g}" for name, value in weights.items()),
        names=list,
    ),
]
Options: TypeAlias = Annotated[
    dict[str, Any],
    Spelling(
        "options",
        "NAME=VALUE",
        split_options,
        lambda options: " ".join(f"{name}={json.dumps(value)}" for name, value in options.items()),
        repeated=True,
    ),
]
#: What the place of a share is called in a list of options; commands take it in percent, too.
SHARE = "SHARE"
#: Data by its name: a file or a table of a database for a command, data of the workspace for the workbench.
Data: TypeAlias = Annotated[str, Spelling("data", "DATA", str, places=lambda name: [name])]
SeveralData: TypeAlias = Annotated[
    list[str], Spelling("several-data", "DATA", list, joined_names, repeated=True, places=list)
]


@dataclass(frozen=True)
class SettingField:
    """One setting as a front end sees it."""

    name: str
    kind: str
    default: Any
    sentence: str = ""
    section: str = ""
    choices: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    short: str | None = None
    flag: str | None = None
    metavar: str | None = None
    otherwise: str | None = None
    label: str = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    may_be_empty: bool = False
    required: bool = False
    argument: bool = False
    only: Front | None = None
    needed_in: Front | None = None
    blank: bool = False
    spelling: Spelling | None = None

    @property
    def option(self) -> str:
        """Its name on the command line; what holds anyway is switched off there."""
        if self.flag is not None:
            return self.flag
        name = self.name.replace("_", "-")
        return f"--no-{name}" if self.kind == "switch" and self.default is True else f"--{name}"

    @property
    def in_command(self) -> str:
        """What its option does: the opposite of what holds anyway.

        >>> SettingField("insiders", "switch", True, "Protect against insiders.").in_command
        'Do not protect against insiders.'
        """
        if self.kind == "switch" and self.default is True:
            return f"Do not {self.sentence[:1].lower()}{self.sentence[1:]}"
        return self.sentence

    def names(self, value: Any) -> list[str]:
        """The columns that a value of it names."""
        return [] if value is None or self.spelling is None else list(self.spelling.names(value))

    def places(self, value: Any) -> list[str]:
        """The data that a value of it names."""
        return [] if value is None or self.spelling is None else list(self.spelling.places(value))

    def check(self, value: Any) -> None:
        """Refuse a value that no data would make right."""
        if value is not None and self.spelling is not None:
            self.spelling.check(value)

    def limits_in_words(self) -> list[str]:
        """What it may be.

        >>> SettingField("share", "number", 0.1, least=0, most=1).limits_in_words()
        ['0 to 1']
        """
        if self.least is not None and self.most is not None:
            return [f"{_shown(self.least)} to {_shown(self.most)}"]
        limits = (
            ("at least", self.least or None),
            ("above", self.above),
            ("at most", self.most),
            ("below", self.below),
        )
        return [f"{word} {_shown(limit)}" for word, limit in limits if limit is not None]

    @property
    def hint(self) -> str:
        """What it does, what it may be, and what it is if nobody says otherwise."""
        parts = [*([self.sentence] if self.sentence else []), *self.limits_in_words()]
        if self.kind in ("whole", "number", "text") and self.default is not None:
            parts.append(f"usually {_shown(self.default) if self.kind != 'text' else self.default}")
        text = "; ".join(parts)
        return text[:1].upper() + text[1:]


def fields(model: type[BaseModel], front: Front | None = None) -> list[SettingField]:
    """The settings of a model in its order; those a front end has, if one is named."""
    # What a model shares with others comes last: its own settings are what a person looks for.
    own = [name for kind in model.__mro__ for name in vars(kind).get("__annotations__", {})]
    names = sorted(model.model_fields, key=own.index)
    every = [_field(name, model.model_fields[name]) for name in names]
    return [
        replace(item, required=True, may_be_empty=False)
        if front is not None and item.needed_in == front
        else item
        for item in every
        if front is None or item.only in (None, front)
    ]


def _field(name: str, info: FieldInfo) -> SettingField:
    annotation, metadata, empty = _plain(info.annotation, info.metadata)
    spelling = next((item for item in metadata if isinstance(item, Spelling)), None)
    choices: tuple[str, ...] = ()
    kind = "text"
    if spelling is not None:
        kind = spelling.kind
    elif get_origin(annotation) is Literal:
        kind, choices = "choice", tuple(str(item) for item in get_args(annotation))
    elif annotation in (bool, int, float):
        kind = {bool: "switch", int: "whole", float: "number"}[annotation]
    limits = {
        what: next((getattr(item, what) for item in metadata if hasattr(item, what)), None)
        for what in ("ge", "le", "gt", "lt")
    }
    about: dict[str, Any] = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    default = (
        info.default_factory() if info.default_factory is not None else info.default  # type: ignore[call-arg]
    )
    metavar = about.get("metavar") or (spelling.metavar if spelling is not None else None)
    usual = {"whole": "N", "number": "NUMBER", "text": "TEXT"}
    return SettingField(
        name,
        kind,
        None if default is PydanticUndefined else default,
        info.description or "",
        choices=choices,
        least=limits["ge"],
        most=limits["le"],
        above=limits["gt"],
        below=limits["lt"],
        may_be_empty=empty,
        required=info.is_required(),
        spelling=spelling,
        **{
            "label": _label(name),
            **{what: value for what, value in about.items() if what != "served"},
            "metavar": metavar or "|".join(choices) or usual.get(kind),
        },
    )


def _label(name: str) -> str:
    text = name.replace("_mb", ", MB").replace("_", " ")
    return text[:1].upper() + text[1:]


def _plain(annotation: Any, metadata: Sequence[Any]) -> tuple[Any, list[Any], bool]:
    """The type without ``None`` and without its notes, those notes, and whether it may be ``None``."""
    found, empty = list(metadata), False
    if get_origin(annotation) in (Union, UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        empty = len(kinds) < len(get_args(annotation))
        spelt = [kind for kind in kinds if get_origin(kind) is Annotated]
        annotation = kinds[0] if len(kinds) == 1 else next(iter(spelt), annotation)
    if get_origin(annotation) is Annotated:
        annotation, *notes = get_args(annotation)
        found += notes
    return annotation, found, empty


def changed(model: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that differ from what the model takes anyway; whole numbers as such, empty ones left out.

    >>> class Sample(Settings):
    ...     streams: int = setting(8, "How many at once.")
    ...     growth: float = setting(1.5, "How fast.")
    >>> changed(Sample, {"streams": 4.0, "growth": 1.5})
    {'streams': 4}
    """
    found: dict[str, Any] = {}
    for item in fields(model):
        value = values.get(item.name)
        if value is None or value == "":
            continue
        if item.kind == "whole" and isinstance(value, float) and value.is_integer():
            value = int(value)
        if value != item.default:
            found[item.name] = value
    return found


def checked(
    model: type[Model],
    values: Mapping[str, Any],
    spell: Callable[[str], str] = str,
    *,
    show_values: bool = True,
) -> Model:
    """The settings, or an ``InputError`` that says in one line what is wrong; ``spell`` is how a front end calls a field.

    Without ``show_values`` the message does not hold what was written.

    >>> class Sample(Settings):
    ...     k: int = setting(5, "Smallest number of equal records.", ge=2)
    >>> checked(Sample, {"k": 1}, "--{}".format)
    Traceback (most recent call last):
        ...
    shoal.errors.InputError: --k must be at least 2, not 1
    """
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        raise _in_one_line(model, error, spell, show_values=show_values) from None


def _in_one_line(
    model: type[BaseModel], error: ValidationError, spell: Callable[[str], str], *, show_values: bool
) -> InputError:
    found = error.errors(include_url=False, include_context=True, include_input=show_values)
    same = [item for item in found if item["loc"][:1] == found[0]["loc"][:1]]
    # Of a field that may be a name or a list of names, the error about the list says more.
    first = next((item for item in same if item["type"] != "string_type"), found[0])
    name = str(first["loc"][0]) if first["loc"] else ""
    if first["type"] == "extra_forbidden":
        return unknown("setting", name, model.model_fields, where="a setting")
    if not name:
        return InputError(_wrong(first))
    return InputError(f"{spell(name)} {_wrong(first)}")


def _wrong(problem: Any) -> str:
    """What is wrong with a value, in words of ours; numbers and choices are settings, and may be shown."""
    kind, about = problem["type"], problem.get("ctx", {})
    given = problem.get("input")
    shown = f", not {given}" if isinstance(given, int | float | str) and len(str(given)) <= 60 else ""
    limits = {
        "greater_than_equal": ("at least", "ge"),
        "greater_than": ("above", "gt"),
        "less_than_equal": ("at most", "le"),
        "less_than": ("below", "lt"),
    }
    if kind in limits:
        word, which = limits[kind]
        # Whoever writes a share in percent is told so.
        share = "; it is a share: 0.05 is 5 percent" if which in ("le", "lt") and about[which] == 1 else ""
        return f"must be {word} {_shown(about[which])}{shown}{share}"
    if kind in ("literal_error", "enum"):
        return f"must be one of {about['expected'].replace(' or ', ', ')}{shown}"
    fixed = {
        "missing": "must be given",
        "too_long": f"holds more than the {about.get('max_length')} allowed",
        "string_too_long": f"is longer than the {about.get('max_length')} characters allowed",
        "too_short": "is empty: nothing is chosen",
        "string_too_short": "is empty: nothing is written",
        "finite_number": "must be a finite number",
        "int_parsing": f"must be a whole number{shown}",
        "int_from_float": f"must be a whole number{shown}",
        "int_type": f"must be a whole number{shown}",
        "float_parsing": f"must be a number{shown}",
        "float_type": f"must be a number{shown}",
        "list_type": f"must be a list{_as_list(given)}",
        "bool_type": "must be true or false",
        "bool_parsing": "must be true or false",
        "value_error": str(about.get("error")),
    }
    return fixed.get(kind, f"cannot be used{shown}")


def _as_list(value: Any) -> str:
    """How to write one name as a list of one."""
    return f': write ["{value}"]' if isinstance(value, str) and len(value) <= 60 else ""


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) and abs(value) >= 10_000 else f"{value:g}"
