"""The rules by which cells are sensitive, one a line, each with its numbers."""

from dataclasses import dataclass
from typing import Any

from nicegui import ui

from shoal.tables.model.count_rules import Empty, Group
from shoal.tables.model.rules import (
    USUAL_RANGE,
    Dominance,
    Manual,
    MinimumFrequency,
    PPercent,
    Zero,
    parse_rule,
)
from shoal.web.pages import parts
from shoal.web.pages.attributes import attributes
from shoal.web.pages.fields import NumberField, written


@dataclass(frozen=True)
class Kind:
    """A rule a user can choose: its name on the command line, in words, and its numbers with their usual values."""

    words: str
    numbers: tuple["Figure", ...]


@dataclass(frozen=True)
class Figure:
    """A number of a rule."""

    label: str
    usual: float
    whole: bool = False
    zero: bool = False


KINDS = {
    "frequency": Kind(
        "frequency: too few contributors",
        (Figure("at least", 3, whole=True), Figure("range, %", 20, zero=True)),
    ),
    "p-percent": Kind(
        "p-percent: one contributor can estimate another",
        (Figure("p, %", 10), Figure("coalition of", 1, whole=True)),
    ),
    "dominance": Kind(
        "dominance: few contributors make up most",
        (Figure("n largest", 1, whole=True), Figure("over k, %", 75)),
    ),
    "pq": Kind("pq: as p-percent, with prior knowledge", (Figure("p, %", 10), Figure("q, %", 80))),
    "zero": Kind("zero: contributors who come to 0", (Figure("may rise by", 10, zero=True),)),
    "group": Kind("group: all of a total are in one cell", (Figure("but for fewer than", 1, whole=True),)),
    "empty": Kind("empty: nobody of a group is in a cell", (Figure("may rise by", 1, whole=True),)),
    "manual": Kind("manual: the range of cells declared sensitive", (Figure("range, %", 20, zero=True),)),
}


class RuleList:
    """The lines; a cell is sensitive if one of the rules fires."""

    def __init__(
        self, rules: list[str], *, none: str = "No rule yet: only cells named as sensitive are protected."
    ) -> None:
        # What stands in the fields, right or wrong: a line that is removed must not correct the others.
        self._lines: list[tuple[str, list[str]]] = [_shown(*read_rule(text)) for text in rules]
        self._fields: list[list[NumberField]] = []
        self._none = none
        self._show()

    @property
    def rules(self) -> list[str]:
        """The rules as the command line writes them; an ``InputError`` if a field of one is empty or wrong."""
        return [
            write_rule(name, [float(field.number or 0) for field in fields])
            for (name, _), fields in zip(self._lines, self._fields, strict=True)
        ]

    @ui.refreshable_method
    def _show(self) -> None:
        parts.quiet("Rules: a cell is sensitive if one of them fires")
        if not self._lines:
            parts.quiet(self._none)
        self._fields = []
        for place, (name, texts) in enumerate(self._lines):
            with attributes(ui.element("div").classes("shoal-rule"), data_rule=name):
                choice = ui.select(
                    {key: kind.words for key, kind in KINDS.items()},
                    label=f"Rule {place + 1}",
                    value=name,
                    on_change=lambda event, position=place: self._change(position, event.value),
                )
                choice.props("outlined dense options-dense").classes("shoal-method")
                self._fields.append(
                    [_field(figure, texts, number) for number, figure in enumerate(KINDS[name].numbers)]
                )
                remove = ui.button(icon="delete", on_click=lambda position=place: self._remove(position))
                attributes(remove.props("flat dense round"), aria_label=f"Remove rule {place + 1}")
        parts.small_button("Add a rule", icon="add", on_click=self._add)

    def _change(self, position: int, name: str) -> None:
        self._lines[position] = _usual(name)
        self._show.refresh()

    def _remove(self, position: int) -> None:
        del self._lines[position]
        self._show.refresh()

    def _add(self) -> None:
        used = {name for name, _ in self._lines}
        name = next((key for key in KINDS if key not in used), "dominance")
        self._lines.append(_usual(name))
        self._show.refresh()


def _usual(name: str) -> tuple[str, list[str]]:
    return _shown(name, [figure.usual for figure in KINDS[name].numbers])


def _shown(name: str, numbers: list[float]) -> tuple[str, list[str]]:
    return name, [written(number) for number in numbers]


def _field(figure: Figure, texts: list[str], position: int) -> NumberField:
    field = NumberField(
        figure.label,
        whole=figure.whole,
        least=1 if figure.whole else 0 if figure.zero else None,
        above=None if figure.zero else 0,
    )
    field.set_value(texts[position])

    def keep(event: Any) -> None:
        texts[position] = event.value or ""

    field.on_value_change(keep)
    return field


def read_rule(text: str) -> tuple[str, list[float]]:
    """A rule as a line of the list.

    >>> read_rule("pq(10,80)"), read_rule("p-percent(5)"), read_rule("frequency(3)")
    (('pq', [10.0, 80.0]), ('p-percent', [5.0, 1.0]), ('frequency', [3.0, 20.0]))
    """
    rule = parse_rule(text)
    if isinstance(rule, MinimumFrequency):
        return "frequency", [float(rule.minimum), rule.range]
    if isinstance(rule, Zero | Manual):
        return str(rule).partition("(")[0], [rule.range]
    if isinstance(rule, Group | Empty):
        return str(rule).partition("(")[0], [float(rule.others if isinstance(rule, Group) else rule.range)]
    if isinstance(rule, Dominance):
        return "dominance", [float(rule.n), rule.k]
    assert isinstance(rule, PPercent)
    if rule.q != 100:
        return "pq", [rule.p, rule.q]
    return "p-percent", [rule.p, float(rule.coalition)]


def write_rule(name: str, numbers: list[float]) -> str:
    """A line of the list as the command line writes it.

    >>> write_rule("p-percent", [10.0, 1.0]), write_rule("dominance", [2.0, 85.0])
    ('p-percent(10)', 'dominance(2,85)')
    """
    usual = {"p-percent": 1, "frequency": USUAL_RANGE}
    if name in usual and numbers[1] == usual[name]:
        numbers = numbers[:1]
    return f"{name}({','.join(written(number) for number in numbers)})"
