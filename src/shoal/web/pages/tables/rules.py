"""The rules by which cells are sensitive, one a line, each with its numbers."""

from dataclasses import dataclass
from typing import Any

from nicegui import ui

from shoal.tables.rules import Dominance, MinimumFrequency, PPercent, parse_rule
from shoal.web.pages.attributes import attributes


@dataclass(frozen=True)
class Kind:
    """A rule a user can choose: its name on the command line, in words, and its numbers with their usual values."""

    words: str
    numbers: tuple[tuple[str, float], ...]


KINDS = {
    "frequency": Kind("frequency: too few contributors", (("at least", 3),)),
    "p-percent": Kind("p-percent: one contributor can estimate another", (("p, %", 10), ("coalition of", 1))),
    "dominance": Kind("dominance: few contributors make up most", (("n largest", 1), ("over k, %", 75))),
    "pq": Kind("pq: as p-percent, with prior knowledge", (("p, %", 10), ("q, %", 80))),
}


class RuleList:
    """The lines; a cell is sensitive if one of the rules fires."""

    def __init__(self, rules: list[str]) -> None:
        self._lines: list[tuple[str, list[float]]] = [read_rule(text) for text in rules]
        self._show()

    @property
    def rules(self) -> list[str]:
        """The rules as the command line writes them."""
        return [write_rule(name, numbers) for name, numbers in self._lines]

    @ui.refreshable_method
    def _show(self) -> None:
        ui.label("Rules: a cell is sensitive if one of them fires").classes("shoal-quiet")
        if not self._lines:
            ui.label("No rule yet: only cells named as sensitive are protected.").classes("shoal-quiet")
        for place, (name, numbers) in enumerate(self._lines):
            with attributes(ui.element("div").classes("shoal-rule"), data_rule=name):
                choice = ui.select(
                    {key: kind.words for key, kind in KINDS.items()},
                    label=f"Rule {place + 1}",
                    value=name,
                    on_change=lambda event, place=place: self._change(place, event.value),
                )
                choice.props("outlined dense options-dense").classes("shoal-method")
                for number, (label, _) in enumerate(KINDS[name].numbers):
                    field = ui.number(label, value=numbers[number], min=0)
                    field.props("outlined dense")
                    field.on_value_change(
                        lambda event, numbers=numbers, number=number: _set(numbers, number, event.value)
                    )
                remove = ui.button(icon="delete", on_click=lambda place=place: self._remove(place))
                attributes(remove.props("flat dense round"), aria_label=f"Remove rule {place + 1}")
        ui.button("Add a rule", icon="add", on_click=self._add).props("no-caps flat dense padding='2px 8px'")

    def _change(self, place: int, name: str) -> None:
        self._lines[place] = (name, [value for _, value in KINDS[name].numbers])
        self._show.refresh()

    def _remove(self, place: int) -> None:
        del self._lines[place]
        self._show.refresh()

    def _add(self) -> None:
        used = {name for name, _ in self._lines}
        name = next((key for key in KINDS if key not in used), "dominance")
        self._lines.append((name, [value for _, value in KINDS[name].numbers]))
        self._show.refresh()


def _set(numbers: list[float], place: int, value: Any) -> None:
    if value is not None:
        numbers[place] = float(value)


def read_rule(text: str) -> tuple[str, list[float]]:
    """A rule as a line of the list.

    >>> read_rule("pq(10,80)"), read_rule("p-percent(5)")
    (('pq', [10.0, 80.0]), ('p-percent', [5.0, 1.0]))
    """
    rule = parse_rule(text)
    if isinstance(rule, MinimumFrequency):
        return "frequency", [float(rule.minimum)]
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
    if name == "p-percent" and numbers[1] == 1:
        numbers = numbers[:1]
    return f"{name}({','.join(f'{number:g}' for number in numbers)})"
