"""A form made from the settings of an operation: its sections, labels, limits and choices are those declared there."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from nicegui import ui

from shoal.errors import InputError
from shoal.operation import Operation
from shoal.settings import SettingField
from shoal.web.pages import parts
from shoal.web.pages.attributes import attributes
from shoal.web.pages.fields import NumberField
from shoal.web.pages.method_picker import MethodPicker

# What nobody should have to look for.
_OPEN = ("", "Search")

#: A field that one page draws in a way of its own: what stands in it is asked for when the form is sent.
Own = Callable[[SettingField, Any], Callable[[], Any]]


class SettingsForm:
    """Fields for the settings of an operation; ``values`` is what stands in them.

    ``columns`` are those to choose among, ``request`` what stood in the form before, ``suggested`` what the data suggest.
    ``without`` names settings that the page asks for elsewhere, ``own`` those it draws itself. Where the page itself
    asks for what matters, settings without a section are ``folded`` away under a heading, too; sections that nobody should have
    to look for are ``opened``. ``data_field`` is how a page asks for further data.
    """

    def __init__(
        self,
        operation: Operation,
        columns: Sequence[str],
        request: Mapping[str, Any],
        *,
        suggested: Mapping[str, Any] | None = None,
        without: Sequence[str] = (),
        own: Mapping[str, Own] | None = None,
        folded: str = "",
        opened: Sequence[str] = (),
        data_field: Own | None = None,
    ) -> None:
        self._columns = list(columns)
        self._values: dict[str, Callable[[], Any]] = {}
        self._suggested = suggested or {}
        self._asked = request
        self._registry = operation.registry
        self._data_field = data_field
        sections: dict[str, list[SettingField]] = {}
        for item in operation.fields("workbench"):
            if item.name not in without:
                sections.setdefault(item.section or folded, []).append(item)
        for section, items in sections.items():
            if section in _OPEN:
                self._draw_all(items, own or {})
                continue
            with parts.folded(section, unfolded=section in opened or self._was_set(items)):
                with ui.column().classes("full-width gap-3 shoal-hinted"):
                    self._draw_all(items, own or {})

    @property
    def values(self) -> dict[str, Any]:
        """What stands in the form; an ``InputError`` names the field that is wrong."""
        return {name: value() for name, value in self._values.items()}

    @property
    def written(self) -> dict[str, Any]:
        """What stands in the form as far as it can be read, for another form that takes its place."""
        found = {}
        for name, value in self._values.items():
            with suppress(InputError):
                found[name] = value()
        return found

    def values_of(self, name: str) -> Any:
        """What stands in one field."""
        return self._values[name]()

    def _was_set(self, items: Sequence[SettingField]) -> bool:
        """Whether somebody has set one of these, who wants to see it again, or has said of a column that it is this."""
        said = any(item.name == "unit" and self._suggested.get("unit") for item in items)
        return said or any(self._asked.get(item.name) not in (None, item.default, [], {}) for item in items)

    def _draw_all(self, items: Sequence[SettingField], own: Mapping[str, Own]) -> None:
        for item in items:
            value = self._asked.get(item.name)
            if value is None:
                value = self._suggested.get(item.name, item.default)
            draw = own.get(item.name, self._draw)
            self._values[item.name] = draw(item, value)

    def _draw(self, item: SettingField, value: Any) -> Callable[[], Any]:
        if item.name == "method" and self._registry is not None:
            options = self._asked.get("options")
            self.methods = MethodPicker(self._registry, value, options, columns=self._columns)
            return lambda: self.methods.method
        if item.kind == "options":
            return lambda: self.methods.options
        if item.kind == "data" and self._data_field is not None:
            return self._data_field(item, value)
        if item.kind == "switch":
            box = ui.checkbox(item.label, value=bool(value))
            attributes(box, data_setting=item.name)
            return lambda: bool(box.value)
        if item.kind in ("whole", "number"):
            return self._number(item, value)
        if item.kind == "columns":
            picker = parts.column_picker(self._columns, item.label, value or (), hint=hint_of(item))
            attributes(picker, data_setting=item.name)
            return lambda: picker.value or (None if item.may_be_empty else [])
        if item.kind == "column":
            return self._column(item, value)
        if item.kind == "choice":
            words = {choice: item.words.get(choice, choice) for choice in item.choices}
            select = _wide(ui.select(words, label=item.label, value=value), item)
            return lambda: select.value
        return self._text(item, value)

    def _number(self, item: SettingField, value: Any) -> Callable[[], Any]:
        box = NumberField(
            item.label,
            value,
            whole=item.kind == "whole",
            least=item.least,
            most=item.most,
            above=item.above,
            below=item.below,
            empty=(item.otherwise or "none") if item.may_be_empty else "",
        )
        attributes(box, hint=hint_of(item), data_setting=item.name)
        return lambda: box.whole if item.kind == "whole" else box.number

    def _column(self, item: SettingField, value: Any) -> Callable[[], Any]:
        nothing = {} if item.required else {"": item.otherwise or "none"}
        offered = {**nothing, **item.words, **{name: name for name in self._columns}}
        chosen = value if value in offered else next(iter(nothing), None)
        select = _wide(ui.select(offered, label=item.label, value=chosen), item)
        return lambda: select.value or None

    def _text(self, item: SettingField, value: Any) -> Callable[[], Any]:
        spelling = item.spelling
        written = "" if value is None else value if spelling is None else spelling.write(value)
        box = ui.input(item.label, value=written)
        box.props("outlined dense stack-label").classes("full-width")
        attributes(box, placeholder=item.metavar or "", hint=hint_of(item), data_setting=item.name)

        def read() -> Any:
            text = (box.value or "").strip()
            if not text:
                if item.may_be_empty or not item.default:
                    return None if item.may_be_empty else item.default
                raise InputError(f"{item.label}: something is needed here")
            try:
                return text if spelling is None else spelling.read(text)
            except ValueError as problem:
                raise InputError(f"{item.label}: {problem}") from None

        return read


def hint_of(item: SettingField) -> str:
    """What a setting does, said to somebody who does not look at exit codes.

    >>> hint_of(SettingField("require_k", "whole", None, "Exit with 3 if K is below this."))
    'The run fails if K is below this.'
    """
    return item.sentence.replace("Exit with 3 if", "The run fails if")


def _wide(select: ui.select, item: SettingField) -> ui.select:
    select.props("outlined dense options-dense").classes("full-width")
    return attributes(select, hint=hint_of(item), data_setting=item.name)
