"""What each key becomes: the hierarchy that a rule builds or that data of the workspace hold, looked at before anything runs."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import run as background
from nicegui import ui

from shoal.errors import ShoalError, spelled
from shoal.microdata.columns.hierarchies.builders import is_rule
from shoal.web.datasets import Datasets
from shoal.web.jobs.workplace import WorkspaceData
from shoal.web.pages import parts
from shoal.web.pages.attributes import attributes
from shoal.web.pages.data_field import DataField, DataFields
from shoal.web.pages.recode.editor import edit_labels
from shoal.web.pages.recode.labels import Labels
from shoal.web.spelling import field_names

if TYPE_CHECKING:
    from shoal.microdata.columns.hierarchies.proposal import Proposal

#: Columns whose values have an order.
Orders = Mapping[str, Any]


def hierarchy_of(
    datasets: Datasets, data: str, column: str, source: str | None, orders: Orders
) -> "Proposal":
    """The hierarchy that a run would have for a key; an ``InputError`` as it would be."""
    import narwhals as nw

    from shoal.microdata.columns.hierarchies.operation import read_hierarchies
    from shoal.microdata.columns.roles import guess_roles, with_roles
    from shoal.microdata.recoding.keys import Keys

    frame = datasets.frame(data, [column])
    guesses = with_roles(guess_roles(frame), {column: datasets[data].roles[column]})
    texts = {column: source} if source else {}
    own = {column: orders[column]} if column in orders else {}
    found = Keys.read(
        nw.from_native(frame, eager_only=True),
        [column],
        guesses,
        read_hierarchies(texts, WorkspaceData(datasets)),
        own,
    )
    return found.proposals[0]


class KeyField:
    """The hierarchy of one key: its levels, its labels on request, and fields for another one."""

    def __init__(
        self,
        fields: DataFields,
        data: str,
        column: str,
        source: str | None,
        orders: Callable[[], Orders],
        seen: "dict[str, Proposal]",
    ) -> None:
        self._fields = fields
        self._seen = seen
        self._data = data
        self._column = column
        self._orders = orders
        self._found: Proposal | None = None
        self._looks = 0
        chosen = source if source and not is_rule(source) else ""
        with ui.column().classes("full-width gap-1") as self._box:
            attributes(self._box, data_key=column)
            with ui.row().classes("full-width items-center justify-between no-wrap gap-2"):
                parts.strong(column).style("overflow-wrap: anywhere")
                self._labels = parts.small_button("Labels", icon="table_rows", on_click=self._edit)
                attributes(self._labels, aria_label=f"Labels of {column}")
            self._levels = parts.quiet("…").props('data-test="levels"').style("overflow-wrap: anywhere")
            self._wrong = ui.label().classes("shoal-error full-width").props('role="alert"')
            self._wrong.set_visibility(False)
            with parts.folded(f"Another hierarchy for {column}", unfolded=bool(source)) as self._other:
                with ui.column().classes("full-width gap-2 shoal-hinted"):
                    self._rule = ui.input(f"Rule for {column}", value="" if chosen else source or "")
                    self._rule.props("outlined dense stack-label").classes("full-width")
                    attributes(self._rule, hint="like intervals(5,10,20,top=85), prefix(3,2), star")
                    self._rule.on("blur", self.look).on("keydown.enter", self.look)
                    self._table = DataField(
                        fields,
                        f"Hierarchy of {column}",
                        chosen,
                        nothing="built by the rule",
                        hint="a table of values and their labels, or of codes and parents",
                        among=lambda: [
                            name for name in fields.workbench.datasets.names() if not is_rule(name)
                        ],
                        on_change=self._taken,
                    )
            self._rule.set_enabled(not chosen)
            ui.timer(0.01, self.look, once=True)

    @property
    def value(self) -> str | None:
        """The rule or the name of the data; nothing where what suits the values is taken."""
        return self._table.value or (self._rule.value or "").strip() or None

    async def _taken(self) -> None:
        chosen = self._table.value
        if chosen:
            # A rule that no longer holds must not stand there.
            self._rule.set_value("")
        self._rule.set_enabled(not chosen)
        await self.look()

    async def look(self) -> None:
        """Build the hierarchy, and say what its levels are or what is wrong."""
        self._looks += 1
        mine = self._looks
        try:
            orders = self._orders()
            # What was built on this visit is not built again whenever a key comes or goes.
            what = repr((self._column, self.value, orders.get(self._column, ())))
            found = self._seen.get(what) or await background.io_bound(
                hierarchy_of, self._fields.workbench.datasets, self._data, self._column, self.value, orders
            )
        except ShoalError as problem:
            if mine == self._looks and not self._box.is_deleted:
                self._found = None
                self._tell(wrong=spelled(problem, field_names("recode")))
            return
        if mine == self._looks and found is not None and not self._box.is_deleted:
            self._found = self._seen[what] = found
            self._tell(f"{in_words(found.sizes)} labels · {found.reason}")
            attributes(self._rule, placeholder="" if self.value else found.rule)

    def _tell(self, words: str = "", wrong: str = "") -> None:
        self._levels.set_text(words)
        self._levels.set_visibility(not wrong)
        self._wrong.set_text(wrong)
        self._wrong.set_visibility(bool(wrong))
        self._labels.set_enabled(not wrong)

    def _edit(self) -> None:
        if self._found is None:
            return
        with parts.showing_errors():
            edit_labels(self._column, Labels.of(self._found.hierarchy), self._keep)

    def _keep(self, labels: Labels) -> None:
        """Edited labels become data of the workspace, so that a request can name them."""
        shelf = self._fields.workbench.datasets
        kept = shelf.add(
            labels.frame(),
            f"{self._data}-{self._column}-labels",
            f"labels of column '{self._column}' of '{self._data}', edited",
        )
        self._table.choose(kept.name)
        self._other.open()
        ui.notify(f"kept as '{kept.name}'", type="positive")


class KeyHierarchies:
    """The hierarchies of the chosen keys."""

    def __init__(
        self,
        fields: DataFields,
        data: str,
        source: Mapping[str, str],
        keys: Callable[[], Sequence[str]],
        orders: Callable[[], Orders],
    ) -> None:
        self._fields = fields
        self._data = data
        self._given = dict(source)
        self._keys = keys
        self._orders = orders
        self._shown: dict[str, KeyField] = {}
        self._seen: dict[str, Proposal] = {}
        parts.quiet("What the values of each key become, from the finest level to the coarsest:")
        self._box = ui.column().classes("full-width gap-3")
        self.refresh()

    @property
    def value(self) -> dict[str, str]:
        """What is given for keys, as a request has it."""
        return {name: field.value for name, field in self._shown.items() if field.value}

    def refresh(self) -> None:
        """Show the keys that are chosen now; what was said of the others is kept."""
        for name in self._shown:
            self._given.pop(name, None)
        self._given.update(self.value)
        self._box.clear()
        with self._box:
            self._shown = {
                name: KeyField(
                    self._fields, self._data, name, self._given.get(name), self._orders, self._seen
                )
                for name in self._keys()
            }
            if not self._shown:
                parts.quiet("Choose keys first.")

    async def look(self) -> None:
        """Build all of them anew."""
        for field in self._shown.values():
            await field.look()


def in_words(sizes: Sequence[int]) -> str:
    """Numbers of labels, level by level.

    >>> in_words((120, 18, 1))
    '120 → 18 → 1'
    """
    return " → ".join(f"{size:,}" for size in sizes)
