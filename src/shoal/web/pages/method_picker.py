"""The choice of a method, with a form for the options of its own."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from nicegui import ui

from shoal.errors import InputError
from shoal.runtime import Registry
from shoal.settings import SettingField, changed, checked, fields
from shoal.web.pages import parts
from shoal.web.pages.attributes import attributes
from shoal.web.pages.drawing_anew import draws_anew
from shoal.web.pages.fields import NumberField


class MethodPicker:
    """A list of methods; the options of the chosen one unfold beneath it and are checked as they are written.

    Options that name ``columns`` choose among these; those ``without`` which the picker does are asked for elsewhere.
    """

    def __init__(
        self,
        methods: Registry,
        chosen: str = "auto",
        options: Mapping[str, Any] | None = None,
        *,
        names: Iterable[str] | None = None,
        columns: Sequence[str] = (),
        without: Collection[str] = (),
        on_change: Callable[[], Any] | None = None,
    ) -> None:
        self._methods = methods
        self._given = dict(options or {})
        self._fields: dict[str, Any] = {}
        self._columns = list(columns)
        self._without = without
        self._on_change = on_change
        offered = {name: f"{name}: {methods[name].summary}" for name in (names or methods)}
        self._chosen = chosen if chosen in offered else next(iter(offered))
        if chosen not in offered:
            self._given = {}
        self._select = ui.select(offered, label="Method", value=self._chosen, on_change=self._changed)
        draws_anew(self._select).props("outlined dense options-dense").classes("full-width shoal-method")
        self._own()

    @property
    def method(self) -> str:
        """The name of the chosen method."""
        return str(self._select.value)

    @property
    def written(self) -> dict[str, Any]:
        """The options that were changed, right or wrong."""
        return changed(self._model, {name: _value(field) for name, field in self._fields.items()})

    @property
    def options(self) -> dict[str, Any]:
        """The options that were changed, checked; an ``InputError`` names the one that is wrong."""
        for field in self._items:
            box = self._fields[field.name]
            wrong = box.wrong if isinstance(box, NumberField) else None
            if field.kind == "text" and field.default and not box.value:
                wrong = "nothing is written"
            if wrong is not None:
                raise InputError(f"option '{field.name}' of method '{self.method}': {wrong.lower()}")
        self._methods[self.method].configure(self.written)
        return self.written

    @property
    def _model(self) -> Any:
        return self._methods[self.method].options_model

    @property
    def _items(self) -> list[SettingField]:
        return [field for field in fields(self._model) if field.name not in self._without]

    def _changed(self) -> None:
        if self.method != self._chosen:
            self._chosen, self._given = self.method, {}
            self._own.refresh()
        if self._on_change is not None:
            self._on_change()

    @ui.refreshable_method
    def _own(self) -> None:
        self._fields = {}
        items = self._items
        if not items:
            if not self._without:
                parts.quiet(f"{self.method} has no options of its own.")
            return
        with parts.folded("More options", unfolded=bool(self._given)).props('data-test="options"'):
            with ui.column().classes("full-width shoal-options"):
                for field in items:
                    self._fields[field.name] = self._draw(field)
                with ui.row().classes("items-center justify-between full-width gap-2"):
                    self._words = ui.label().classes("shoal-quiet shoal-command")
                    reset = ui.button("Usual values", icon="restart_alt", on_click=self._reset)
                    reset.props("no-caps flat dense padding='2px 8px'")
        self._tell()

    def _draw(self, field: SettingField) -> Any:
        box: Any
        value = self._given.get(field.name, field.default)
        if field.kind == "switch":
            box = ui.checkbox(field.label, value=bool(value), on_change=self._tell).props("dense")
            parts.quiet(field.hint).style("margin-top: -8px; padding-left: 30px")
            return box
        if field.kind == "choice":
            box = ui.select(list(field.choices), label=field.label, value=value, on_change=self._tell)
            box.props("options-dense")
        elif isinstance(field.default, tuple):
            box = parts.column_picker(self._columns, field.label, value)
            box.on_value_change(self._tell)
        elif field.kind == "text":
            box = ui.input(field.label, value=value, on_change=self._tell)
        else:
            box = NumberField(
                field.label,
                value,
                whole=field.kind == "whole",
                empty="none" if field.may_be_empty else "",
                check=lambda value: self._wrong(field, value),
                on_change=self._tell,
            )
        attributes(box, hint=field.hint, data_option=field.name)
        return box.props("outlined dense").classes("full-width")

    def _wrong(self, field: SettingField, value: Any) -> str | None:
        if value is None:
            return None
        try:
            checked(self._model, changed(self._model, {field.name: value}), lambda name: field.label)
        except InputError as problem:
            return str(problem)
        return None

    def _reset(self) -> None:
        for field in self._items:
            box = self._fields[field.name]
            if isinstance(box, NumberField):
                box.show(field.default)
            else:
                box.set_value(list(field.default) if isinstance(field.default, tuple) else field.default)

    def _tell(self) -> None:
        options = self.written
        self._words.set_text(f"On the command line: {as_command(options)}" if options else "All as usual.")


def _value(box: Any) -> Any:
    """What stands in a field; of a number that is none, the text, so that the command line below tells it too."""
    if not isinstance(box, NumberField):
        return tuple(box.value) if isinstance(box.value, list) else box.value
    return box.value if box.wrong else box.number


def as_command(options: Mapping[str, Any]) -> str:
    """The options as the command line takes them.

    >>> as_command({"streams": 4, "recombine": False})
    '--option streams=4 --option recombine=false'
    """

    def spelled(value: Any) -> str:
        if isinstance(value, tuple):
            return ",".join(value)
        return str(value).lower() if isinstance(value, bool) else str(value)

    return " ".join(f"--option {name}={spelled(value)}" for name, value in options.items())
