"""A published table as anybody sees it: what is shown adds up, and what is hidden can be narrowed down to intervals.

It reads the file alone, with the hierarchies of its dimensions where somebody knows them; nothing is shared with what made it.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, parameter
from shoal.exact_names import exactly, only

if TYPE_CHECKING:
    import polars as pl

TOTAL = "total"
# What two sums of the same figures may differ by, as a share of them.
_ROUNDING = 1e-8

# By what share of their parts sums may be off: in the last digits of the machine; as written with fewer digits.
_DIGITS = (1e-14, 1e-12, 1e-10, _ROUNDING)

# What the linear programmes may miss their limits by, after scaling.
_TOLERANCE = 1e-9

# What ends of programmes that have an answer are called: some figure, or none is the last.
_CLEAR = ("Optimal", "Unbounded", "Primal infeasible or unbounded")

# A decimal comma; beside symbols it is still in the text.
_COMMA = re.compile(r"^(\s*[+-]?\d+),(\d+\s*)$")

# A comma that may as well stand between thousands.
_EITHER = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")

# Figures as people like to read them: with signs between thousands, in percent, in brackets, or with a flag behind.
_UNREAD = re.compile(r"\s*[(\[]?\s*[+\-−]?\s*\d[\d\s.,'’]*(?:%|[A-Za-z*]{1,2})?\s*[)\]]?\s*[A-Za-z*]?\s*")

Key = tuple[str, ...]
#: Is called now and then in work that may be long, and raises to end it.
Look = Callable[[], None]


def slack_of(rounding: float | None, tolerance: float | None) -> float:
    """What a published figure may be off by: half of the base that it was rounded to, and what is tolerated besides.

    >>> slack_of(5, None), slack_of(None, 0.1)
    (2.5, 0.1)
    """
    return 0.5 * (rounding or 0.0) + (tolerance or 0.0)


def go_on() -> None:
    """There is time."""


@dataclass(frozen=True)
class Relation:
    """Cells that add up to another one."""

    total: Key
    parts: tuple[Key, ...]


@dataclass(frozen=True)
class Tie:
    """A cell that is at most so many ``times`` as large as another one."""

    cell: Key
    other: Key
    times: float


@dataclass(frozen=True)
class PublicTable:
    """Cells by their coordinates: a figure, or ``None`` where it is hidden.

    ``unknown`` are dimensions with subtotals that nobody named; each figure may be off by ``slack`` through rounding. Of cells
    whose figures were changed ``bounds`` has what everybody knows; such a cell counts as hidden. ``trees`` are the hierarchies
    that are known, of codes that this table or others beside it show, and ``totals`` what the file calls the total of a
    dimension where that is not ``total``. ``unprinted`` are cells that no table shows, but that are sums of others.
    """

    dimensions: tuple[str, ...]
    cells: Mapping[Key, float | None] = field(repr=False)
    relations: tuple[Relation, ...] = field(repr=False)
    unknown: tuple[str, ...] = ()
    slack: float = 0.0
    bounds: Mapping[Key, tuple[float, float]] = field(default_factory=dict, repr=False)
    trees: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    totals: Mapping[str, str] = field(default_factory=dict, repr=False)
    unprinted: frozenset[Key] = field(default=frozenset(), repr=False)

    @classmethod
    def of(
        cls,
        frame: "pl.DataFrame",
        hierarchies: Mapping[str, Mapping[str, str]] | None = None,
        subtotals: Sequence[str] = (),
        slack: float = 0.0,
    ) -> "PublicTable":
        """From a published frame; ``subtotals`` are dimensions that have some, ``hierarchies`` say which, if they are known.

        >>> import polars as pl
        >>> frame = pl.DataFrame({"row": ["a", "b", "total"], "x": [1, 3, 4], "y": [2, None, None], "total": [3, None, None]})
        >>> table = PublicTable.of(frame)
        >>> table.wrong(), len(table.hidden)
        ((), 4)
        """
        dimensions, cells = _listed(frame) if "value" in frame.columns else _of_matrix(frame)
        known = hierarchies or {}
        unknown = tuple(name for name in subtotals if name not in known)
        relations = _relations(dimensions, cells, known, unknown)
        return cls(dimensions, cells, relations, unknown, slack, trees=known)

    @property
    def without_total(self) -> tuple[str, ...]:
        """The dimensions of which no code is known as the total; several figures side by side have none."""
        return tuple(
            name
            for place, name in enumerate(self.dimensions)
            if name != "figure" and all(key[place] != TOTAL for key in self.cells)
        )

    @property
    def hidden(self) -> tuple[Key, ...]:
        """The cells that show no figure."""
        return tuple(key for key, value in self.cells.items() if value is None)

    def changed(self, away: float, least: float = 0.0) -> "PublicTable":
        """The same table if every figure may be ``away`` from the true one; of figures above 0 the true ones are above 0 or at
        ``least`` that.

        >>> PublicTable(("a",), {("x",): 5.0, ("y",): 0.0}, ()).changed(4.0, 1.0).bounds
        {('x',): (1.0, 9.0), ('y',): (0.0, 4.0)}
        """
        signed = any(value is not None and value < 0 for value in self.cells.values())
        bounds = {
            key: (
                value - away if signed else max(value - away, least if value > 0 else 0.0),
                value + away,
            )
            for key, value in self.cells.items()
            if value is not None
        }
        return replace(self, cells=dict.fromkeys(self.cells), bounds=bounds, slack=0.0)

    def ends_of(self, key: Key) -> tuple[float, float]:
        """What is known of a cell by what is shown of it alone."""
        value = self.cells[key]
        return self.bounds.get(key, (-np.inf, np.inf)) if value is None else (value, value)

    def number(self, key: Key) -> int:
        """The number of a cell, for messages."""
        return 1 + next(n for n, own in enumerate(self.cells) if own == key)

    def wrong(self) -> tuple[int, ...]:
        """The numbers of the totals that are not the sum of their parts, as far as all of them are shown."""
        found = []
        for relation in self.relations:
            missing = [key for key in (relation.total, *relation.parts) if key not in self.cells]
            figures = [self.cells.get(key) for key in relation.parts]
            total = self.cells.get(relation.total)
            if missing:
                found.append(self._nearest(relation))
            elif total is not None and None not in figures:
                parts = np.array(figures, dtype=float)
                off = _ROUNDING * max(1e-300, abs(total) + np.abs(parts).sum())
                if abs(parts.sum() - total) > off + self.slack * (parts.size + 1):
                    found.append(self.number(relation.total))
        return tuple(dict.fromkeys(found))

    def _nearest(self, relation: Relation) -> int:
        there = [key for key in (relation.total, *relation.parts) if key in self.cells]
        return self.number(there[0]) if there else 0

    def intervals(
        self,
        low: float | None = None,
        high: float | None = None,
        *,
        bounds: Mapping[Key, tuple[float, float]] | None = None,
        of: Collection[Key] | None = None,
        ties: Sequence[Tie] = (),
        look: Look = go_on,
    ) -> dict[Key, tuple[float, float]] | None:
        """What everybody can narrow the hidden cells (``of`` them all) down to; ``None`` if no figures fit what is shown.

        ``low`` is by default 0 where no figure that is shown is below it; ``bounds`` are further ones of single cells, and
        ``ties`` of pairs of hidden ones. ``look`` is called before each cell, and may raise to end it.
        """
        hidden = self.hidden
        if not hidden:
            return {}
        shown = [value for value in self.cells.values() if value is not None]
        shown += [sum(ends) / 2 for ends in self.bounds.values()]
        least = low if low is not None else (0.0 if min(shown, default=0.0) >= 0 else -np.inf)
        ends = np.tile([least, np.inf if high is None else high], (len(hidden), 1))
        for place, key in enumerate(hidden):
            for more in (self.bounds, bounds or {}):
                if key in more:
                    ends[place] = max(ends[place, 0], more[key][0]), min(ends[place, 1], more[key][1])
        solver = _fitting(self, hidden, ends, ties)
        if solver is None:
            return None
        wanted = None if of is None else set(of)
        found = {}
        for place, key in enumerate(hidden):
            if wanted is None or key in wanted:
                look()
                try:
                    found[key] = solver.interval(place)
                except _Lost:
                    return None
        return found

    def possible(self, low: float | None = None) -> dict[Key, float] | None:
        """Figures of the hidden cells that fit what is shown; ``None`` if there are none.

        ``low`` is by default 0 where no figure that is shown is below it.
        """
        hidden = self.hidden
        if not hidden:
            return {}
        shown = [value for value in self.cells.values() if value is not None]
        least = low if low is not None else (0.0 if min(shown, default=0.0) >= 0 else -np.inf)
        solver = _fitting(self, hidden, np.tile([least, np.inf], (len(hidden), 1)))
        return None if solver is None else dict(zip(hidden, solver.values(), strict=True))


def _fitting(
    table: PublicTable, hidden: Sequence[Key], ends: np.ndarray, ties: Sequence[Tie] = ()
) -> "_Programme | None":
    """The programme in which sums are off by no more than the figures need: what is off hides small cells beside large ones."""
    programmes = (_Programme(table, hidden, ends, ties, digits) for digits in _DIGITS)
    return next((programme for programme in programmes if programme.feasible), None)


class _Lost(Exception):
    """The solver cannot tell how far a cell goes: that is no reason to take it for endless."""


class _Programme:
    """All figures of the hidden cells that fit if sums are off by this share of their parts, as one linear programme."""

    def __init__(
        self, table: PublicTable, hidden: Sequence[Key], ends: np.ndarray, ties: Sequence[Tie], digits: float
    ) -> None:
        import highspy

        place = {key: number for number, key in enumerate(hidden)}
        starts, index, value, right, off = [0], [], [], [], []
        for relation in table.relations:
            signed = [(relation.total, -1.0), *((key, 1.0) for key in relation.parts)]
            if any(key not in table.cells for key, _ in signed):
                continue
            own = [(place[key], sign) for key, sign in signed if key in place]
            if not own:
                continue
            index += [number for number, _ in own]
            value += [sign for _, sign in own]
            starts.append(len(index))
            shown = [sign * float(table.cells[key] or 0.0) for key, sign in signed if key not in place]
            off.append(table.slack * len(shown) + digits * sum(map(abs, shown)))
            right.append(-math.fsum(shown))
        for tie in ties:
            index += [place[tie.cell], place[tie.other]]
            value += [1.0, -tie.times]
            starts.append(len(index))
            off.append(0.0)
            right.append(0.0)
        figures = [abs(value) for value in table.cells.values() if value]
        figures += [most for _, most in table.bounds.values() if 0 < most < np.inf]
        # Tolerances of the solver are absolute: they are to be a ten-trillionth of the largest figure.
        self._unit = 2.0 ** np.round(13 - np.log2(max(figures))) if figures else 1.0
        model = highspy.HighsLp()
        size = len(hidden)
        model.num_col_, model.num_row_ = size, len(right)
        model.col_cost_ = np.zeros(size)
        model.col_lower_, model.col_upper_ = (self._unit * ends).T.copy()
        least, most = self._unit * (np.array(right) - off), self._unit * (np.array(right) + off)
        least[len(right) - len(ties) :] = -np.inf
        model.row_lower_, model.row_upper_ = least, most
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.array(starts)
        model.a_matrix_.index_ = np.array(index, dtype=np.int64)
        model.a_matrix_.value_ = np.array(value)
        self._solver: Any = highspy.Highs()
        options = {"output_flag": False, "threads": 1, "primal_feasibility_tolerance": _TOLERANCE}
        for option, setting in options.items():
            self._solver.setOptionValue(option, setting)
        self._solver.passModel(model)
        # A few sums after another add up what each of them is off by.
        self._computed = 8 * (_TOLERANCE / self._unit + _DIGITS[0] * max(figures, default=0.0))
        self.feasible = self._ended() == "Optimal"

    def _ended(self) -> str:
        self._solver.run()
        return str(self._solver.modelStatusToString(self._solver.getModelStatus()))

    def values(self) -> list[float]:
        """Figures that fit."""
        return [float(value) / self._unit for value in self._solver.getSolution().col_value]

    def interval(self, cell: int) -> tuple[float, float]:
        """How far a cell goes down and up; what is narrower than can be computed is one figure."""
        low, high = self._end(cell, -1.0), self._end(cell, 1.0)
        if high - low <= self._computed:
            return (low + high) / 2, (low + high) / 2
        return low, high

    def _end(self, cell: int, direction: float) -> float:
        """How far a cell goes up (1) or down (−1)."""
        self._solver.changeColCost(cell, -direction)
        ended = self._ended()
        if ended not in _CLEAR:
            # Figures that fit were found: from where the last cell ended the solver may lose its way, from the start it does not.
            self._solver.clearSolver()
            ended = self._ended()
        value = float(self._solver.getSolution().col_value[cell]) / self._unit
        self._solver.changeColCost(cell, 0.0)
        if ended not in _CLEAR:
            raise _Lost
        return value if ended == "Optimal" else direction * np.inf


def figure_in(text: str) -> float | None:
    """The figure that a text is, with a point or a comma; ``None`` for a symbol in its place.

    >>> [figure_in(text) for text in ("37.5", "37,5", "x", "10-20")]
    [37.5, 37.5, None, None]
    """
    try:
        found = float(_COMMA.sub(r"\1.\2", text))
    except ValueError:
        return None
    return found if np.isfinite(found) else None


def refuse_unread(texts: Iterable[str | None]) -> None:
    """Refuse texts that are figures for a reader and no numbers: taken for signs of hidden cells they would look safe.

    >>> refuse_unread(["1234.5", "12,5", "x", "..", "10-20", "<5", None, ""])
    """
    for place, text in enumerate(texts, 1):
        if text and figure_in(text) is None and _UNREAD.fullmatch(text):
            raise InputError(
                f"the figure in place {place} is not written as a number; write figures with digits and one decimal sign alone, "
                "without signs between thousands, percent, brackets or flags, and mark hidden cells with a sign without digits"
            )


def refuse_thousands(columns: "Iterable[pl.Series]") -> None:
    """Refuse a table whose commas may all stand between thousands: 1,900 beside 900 would be read as 1.9.

    >>> import polars as pl
    >>> refuse_thousands([pl.Series("a", ["1,900", "x"]), pl.Series("b", ["0,5", "x"])])
    """
    import polars as pl

    first: str | None = None
    for column in columns:
        for text in column.to_list() if column.dtype == pl.String else ():
            if text is None or not _COMMA.fullmatch(text):
                continue
            if not _EITHER.fullmatch(text):
                return
            first = first or column.name
    if first is not None:
        raise InputError(
            f"the figures of column '{first}' have commas that may stand between thousands or before decimals; write them "
            "without signs between thousands and with a decimal point; where a text file is read, "
            f"{parameter('decimal', 'comma')} says that they stand before decimals"
        )


def with_points(frame: "pl.DataFrame", figures: Iterable[str]) -> "pl.DataFrame":
    """The same where the commas in columns of ``figures`` are known to stand before decimals.

    >>> import polars as pl
    >>> with_points(pl.DataFrame({"a": ["1,5"], "value": ["1,900"]}), ["value"]).row(0)
    ('1,5', '1.900')
    """
    import polars as pl

    texts = [name for name in figures if frame[name].dtype == pl.String]
    return frame.with_columns(exactly(*texts).str.replace(_COMMA.pattern, "${1}.${2}"))


def figures_in(column: "pl.Series") -> list[float | None]:
    """The figures of a column, ``None`` where there is none."""
    import polars as pl

    if column.dtype == pl.String:
        refuse_unread(column.to_list())
        return [None if text is None else figure_in(text) for text in column.to_list()]
    found = column.cast(pl.Float64, strict=False) if column.dtype != pl.Float64 else column
    return [None if item is None or not np.isfinite(item) else float(item) for item in found.to_list()]


def _listed(frame: "pl.DataFrame") -> tuple[tuple[str, ...], dict[Key, float | None]]:
    dimensions = tuple(name for name in frame.columns if name != "value")
    if not dimensions:
        raise InputError("the published list of cells has no dimension")
    refuse_thousands([frame["value"]])
    keys = [tuple(str(item) for item in row) for row in only(frame, dimensions).iter_rows()]
    cells = dict(zip(keys, figures_in(frame["value"]), strict=True))
    if len(cells) != frame.height:
        raise InputError("the published list of cells has a cell twice")
    return dimensions, cells


def _of_matrix(frame: "pl.DataFrame") -> tuple[tuple[str, ...], dict[Key, float | None]]:
    names = frame.columns
    refuse_thousands(frame.get_columns()[1:])
    rows = [str(item) for item in frame[names[0]].to_list()]
    cells: dict[Key, float | None] = {}
    for name in names[1:]:
        for row, figure in zip(rows, figures_in(frame[name]), strict=True):
            cells[_as_total(row), _as_total(name)] = figure
    return ("row", "column"), cells


def _as_total(name: str) -> str:
    return TOTAL if name.strip().lower() == TOTAL else name


def shown_above(code: str, tree: Mapping[str, str], shown: Collection[str]) -> str:
    """The nearest code above that is shown; levels that are not are skipped, and the total stands above all.

    >>> shown_above("n11", {"n11": "n1", "n1": "north", "north": ""}, ["n11", "north", "total"])
    'north'
    """
    seen = {code}
    while (code := tree.get(code) or TOTAL) != TOTAL and code not in shown and code not in seen:
        seen.add(code)
    return code if code in shown else TOTAL


def codes_below(codes: Iterable[str], tree: Mapping[str, str]) -> dict[str, list[str]]:
    """The codes right below each one that has some, among those that are shown; the total is above all.

    >>> codes_below(["n11", "n12", "north", "s"], {"n11": "n1", "n12": "n1", "n1": "north"})
    {'north': ['n11', 'n12'], 'total': ['north', 's']}
    """
    shown = dict.fromkeys(codes)
    found: dict[str, list[str]] = {}
    for code in shown:
        if code != TOTAL:
            found.setdefault(shown_above(code, tree, shown), []).append(code)
    return found


def codes_above(codes: Collection[str], tree: Mapping[str, str]) -> set[str]:
    """All codes that a hierarchy has above some.

    >>> sorted(codes_above(["n11", "s1"], {"n11": "n1", "n1": "north", "s1": "south"}))
    ['n1', 'north', 'south']
    """
    found: set[str] = set()
    ahead = {tree[code] for code in codes if tree.get(code)}
    while ahead:
        found |= ahead
        ahead = {tree[code] for code in ahead if tree.get(code)} - found
    return found


def _relations(
    dimensions: tuple[str, ...],
    cells: Mapping[Key, float | None],
    hierarchies: Mapping[str, Mapping[str, str]],
    unknown: Sequence[str],
) -> tuple[Relation, ...]:
    found = []
    trees = []
    for place, name in enumerate(dimensions):
        codes = dict.fromkeys(key[place] for key in cells)
        # Several figures side by side have no total.
        apart = name in unknown or (name == "figure" and TOTAL not in codes)
        trees.append({} if apart else codes_below(codes, hierarchies.get(name, {})))
    for place, children in enumerate(trees):
        others = dict.fromkeys((key[:place], key[place + 1 :]) for key in cells)
        for before, after in others:
            made = [
                Relation((*before, above, *after), tuple((*before, code, *after) for code in below))
                for above, below in children.items()
            ]
            if len(dimensions) > 1:
                made = [_of_printed(item, cells, trees) for item in made]
            # Linked tables have no cell where a dimension of the one meets a dimension of the other.
            found += [item for item in made if any(part in cells for part in item.parts)]
    return tuple(dict.fromkeys(found))


def _of_printed(
    relation: Relation, cells: Mapping[Key, float | None], trees: Sequence[Mapping[str, Sequence[str]]]
) -> Relation:
    """The same where parts that are not printed are replaced by those they are the sum of."""
    if relation.total not in cells or all(part in cells for part in relation.parts):
        return relation
    parts = tuple(
        sorted({cell for part in relation.parts for cell in _printed_below(part, cells, trees) or (part,)})
    )
    return Relation(relation.total, parts)


def _printed_below(
    key: Key, cells: Mapping[Key, float | None], trees: Sequence[Mapping[str, Sequence[str]]]
) -> tuple[Key, ...] | None:
    """The cells that one is the sum of, itself where it is printed; ``None`` if none of them is."""
    if key in cells:
        return (key,)
    for place, below in enumerate(trees):
        if key[place] in below:
            parts = [(*key[:place], code, *key[place + 1 :]) for code in below[key[place]]]
            own = [_printed_below(part, cells, trees) for part in parts]
            if any(own):
                return tuple(
                    cell for part, found in zip(parts, own, strict=True) for cell in found or (part,)
                )
    return None
