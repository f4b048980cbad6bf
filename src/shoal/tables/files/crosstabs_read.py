"""Crosstabs that Shoal published, read back as a list of cells by the names and codes that stand beside the figures."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import InputError
from shoal.tables.files.workbook import CONTENTS, INTERNAL, TABLE
from shoal.tables.model.figures import FIGURE
from shoal.tables.public_table import figure_in, refuse_thousands, refuse_unread

if TYPE_CHECKING:
    import polars as pl

    from shoal.sources.sheets import Grid

#: What can be read as a published table, for messages.
READABLE = (
    "what can be read is a list of cells with a column 'value' (or OBS_VALUE) beside its dimensions, a matrix with figures in "
    "all columns but the first, or crosstabs as Shoal publishes them (.xlsx, .html, .csv)"
)
#: What the dimension of the columns of a crosstab is called where nothing names it.
ACROSS = "column"
_AMBIGUOUS = "names of dimensions with ', ', ' and ' or '; ' in them cannot be told apart"


@dataclass
class _Crosstab:
    """One crosstab as it stands: its caption, the names down, the codes across by level, and the lines."""

    caption: str = ""
    rows: list[str] = field(default_factory=list)
    across: list[list[str]] = field(default_factory=list)
    lines: list[tuple[list[str], list[str]]] = field(default_factory=list)


def crosstabs_in(path: Path, sheet: str | None = None) -> "pl.DataFrame | None":
    """The cells of a workbook or a page of crosstabs as a list with a column ``value``; ``None`` for another workbook.

    Hidden cells have no value. Sheets that the list of contents does not name are passed over.
    """
    if path.suffix.lower() == ".html":
        return _of_page(path)
    from shoal.sources.sheets import read_sheets

    grids = read_sheets(path)
    contents = _contents(grids.get(CONTENTS))
    if sheet is not None:
        wanted = [name for name in grids if name.casefold() == sheet.casefold()]
    else:
        wanted = list(contents) or [name for name in grids if name == TABLE]
    if not wanted or any(name in grids and not _has_caption(grids[name]) for name in wanted):
        return None
    if missing := next((name for name in wanted if name not in grids), None):
        raise InputError(f"'{path.name}' lacks the sheet '{missing}' that its contents name")
    found = []
    for name in wanted:
        made = _of_grid(grids[name], path.name)
        found.append((made, contents.get(name)))
    return _as_list(found, path.name)


def _contents(grid: "Grid | None") -> dict[str, dict[str, str]]:
    """The sheets that a list of contents names, each with its codes by dimension."""
    if not grid or not grid[0] or grid[0][0] != "sheet":
        return {}
    names = [name for name in grid[0][1:] if name]
    return {
        str(line[0]): {name: line[place] or "" for place, name in enumerate(names, 1)}
        for line in grid[1:]
        if line[0]
    }


def _has_caption(grid: "Grid") -> bool:
    return bool(grid and grid[0] and grid[0][0] and " by " in grid[0][0] and not any(grid[0][1:]))


def _of_grid(grid: "Grid", name: str) -> _Crosstab:
    """A sheet: the caption, the head up to the line that names the rows, and the lines below."""
    caption = str(grid[0][0])
    if caption.endswith(INTERNAL):
        raise InputError(
            f"'{name}' is the internal workbook, which has all figures; name the one that was published"
        )
    head = next((place for place, line in enumerate(grid) if place and line[0]), 0)
    names = [item or "" for item in grid[head]]
    left = max(
        (size for size in range(1, len(names)) if _after_rows(caption, names[:size]) is not None), default=0
    )
    if not head or not left:
        raise InputError(
            f"'{name}' has a sheet that is no crosstab as Shoal publishes them, or {_AMBIGUOUS}; {READABLE}"
        )
    return _Crosstab(
        caption,
        names[:left],
        [[item or "" for item in line[left:]] for line in grid[1 : head + 1]],
        [
            ([item or "" for item in line[:left]], [item or "" for item in line[left:]])
            for line in grid[head + 1 :]
            if any(line)
        ],
    )


def _after_rows(caption: str, rows: Sequence[str]) -> tuple[str, str] | None:
    """What a caption says before and after the names of its rows; ``None`` if they do not stand there.

    What is counted may be called so, too: the last place counts that no code of a slice stands before.

    >>> _after_rows("area by region and owner by region and size; year: by region", ["region"])
    ('area by region and owner', ' and size; year: by region')
    """
    text = f" by {', '.join(rows)}"
    found: list[tuple[str, str]] = []
    place = caption.find(text)
    while place >= 0:
        before, after = caption[:place], caption[place + len(text) :]
        if (not after or after.startswith((" and ", "; "))) and not (found and "; " in before):
            found.append((before, after))
        place = caption.find(text, place + 1)
    return found[-1] if found else None


def _of_page(path: Path) -> "pl.DataFrame":
    reader = _Page()
    try:
        reader.feed(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise InputError(f"'{path.name}' is no page of crosstabs; {READABLE}") from None
    tables = [table for table in reader.tables if table.rows and _after_rows(table.caption, table.rows)]
    if not tables or len(tables) != len(reader.tables):
        raise InputError(f"'{path.name}' is no page of crosstabs as Shoal publishes them; {READABLE}")
    return _as_list([(table, None) for table in tables], path.name)


class _Page(HTMLParser):
    """The tables of a page, by their captions, heads and cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[_Crosstab] = []
        self._text: list[str] | None = None
        self._name = self._head = False
        self._labels: list[str] = []
        self._figures: list[str] = []
        self._names: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """A table, a line or a cell begins."""
        if tag == "table":
            self.tables.append(_Crosstab())
        elif tag in ("thead", "tbody"):
            self._head = tag == "thead"
        elif tag == "tr":
            self._labels, self._figures, self._names = [], [], []
        elif tag in ("caption", "th", "td"):
            self._text = []
            self._name = ("class", "name") in attrs

    def handle_endtag(self, tag: str) -> None:
        """A cell or a line ends."""
        if not self.tables:
            return
        table = self.tables[-1]
        if tag in ("caption", "th", "td") and self._text is not None:
            text, self._text = "".join(self._text), None
            if tag == "caption":
                table.caption = text
            else:
                (self._figures if tag == "td" else self._names if self._name else self._labels).append(text)
        elif tag == "tr" and self._head:
            table.rows = self._names
            table.across.append(self._labels)
        elif tag == "tr":
            table.lines.append((self._labels, self._figures))

    def handle_data(self, data: str) -> None:
        """What stands in a cell."""
        if self._text is not None:
            self._text.append(data)


def _as_list(tables: Sequence[tuple[_Crosstab, Mapping[str, str] | None]], name: str) -> "pl.DataFrame":
    """All crosstabs of a file as one list of cells; ``tables`` come with the codes of their slice where these are known."""
    import polars as pl

    dimensions: list[str] = []
    rows: list[list[str]] = []
    figures = {found[0] for table, _ in tables if (found := _after_rows(table.caption, table.rows))}
    for table, given in tables:
        columns, fixed = _rest_of(table, given, name)
        if FIGURE not in fixed and len(figures) > 1:
            fixed = {**fixed, FIGURE: (_after_rows(table.caption, table.rows) or ("",))[0]}
        own = [*table.rows, *columns, *fixed]
        dimensions = dimensions or own
        if own != dimensions or len(set(own)) != len(own) or "value" in own:
            raise InputError(f"the crosstabs of '{name}' have different dimensions; {READABLE}")
        above = list(zip(*table.across, strict=False)) if columns else [()]
        for labels, texts in table.lines:
            if len(texts) != len(above) or len(labels) != len(table.rows):
                raise InputError(f"'{name}' has a line that does not fit its crosstab; {READABLE}")
            rows += [
                [*labels, *codes, *fixed.values(), text] for codes, text in zip(above, texts, strict=True)
            ]
    return _with_figures(pl.DataFrame(rows, schema=[*dimensions, "value"], orient="row"))


def _rest_of(
    table: _Crosstab, captions: Mapping[str, str] | None, name: str
) -> tuple[list[str], dict[str, str]]:
    """The dimensions across, and the codes of the slice, as the caption tells them."""
    _, after = _after_rows(table.caption, table.rows) or ("", "")
    if captions is not None:
        fixed = dict(captions)
        told = "".join(f"; {key}: {code}" for key, code in fixed.items() if key != FIGURE)
        columns = after.removesuffix(told) if after.endswith(told) else None
    else:
        columns, *parts = after.split("; ")
        pairs = [part.partition(": ") for part in parts]
        fixed = {key: code for key, _, code in pairs}
        columns = None if not all(colon for _, colon, _ in pairs) else columns
    if columns is None or (columns and not columns.startswith(" and ")):
        raise InputError(f"'{name}' has a caption that tells too little: {_AMBIGUOUS}")
    if not columns:
        return [], fixed
    text = columns.removeprefix(" and ")
    names = [text] if len(table.across) == 1 else text.split(", ")
    if len(names) != len(table.across):
        raise InputError(f"'{name}' has a caption that tells too little: {_AMBIGUOUS}")
    return names, fixed


def _with_figures(cells: "pl.DataFrame") -> "pl.DataFrame":
    """The list with figures; where hidden cells have a symbol, empty places are no cells, and else they are the hidden ones."""
    import polars as pl

    texts = cells["value"].to_list()
    refuse_unread(texts)
    marked = any(text and figure_in(text) is None for text in texts)
    values = pl.Series("value", [figure_in(text) for text in texts], dtype=pl.Float64)
    cells = cells.with_columns(values)
    return cells.filter(pl.Series([bool(text) for text in texts])) if marked else cells


def cells_of_crosstab(frame: "pl.DataFrame", known: Mapping[str, Collection[str]]) -> "pl.DataFrame | None":
    """The cells of a crosstab in one frame: slices and rows first, then a column for each code across.

    ``known`` are the dimensions of other tables with their codes, by which the dimension across is found; without them it is
    called ``column``. ``None`` if it is another frame: a plain matrix, or records.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"size": ["s", "s", "l", "l"], "region": ["n", "s"] * 2, "a": ["1", "x", "3", "4"]})
    >>> cells_of_crosstab(frame, {"sector": ["a", "b"]}).row(0)
    ('s', 'n', 'a', 1.0)
    """
    import polars as pl

    count = labels_of(frame)
    if count is None or (count == 1 and frame.columns[0] not in known):
        return None
    labels, codes = frame.columns[:count], frame.columns[count:]
    if any(has_words(frame[code]) for code in codes):
        return None
    parts = [code.split(" | ") for code in codes]
    if len({len(own) for own in parts}) > 1:
        parts = [[code] for code in codes]
    across = _named([set(own) for own in zip(*parts, strict=True)], labels, known)
    refuse_thousands(frame.get_columns()[count:])
    texts = frame.with_columns(pl.all().cast(pl.String).fill_null(""))
    rows = [
        [*line[:count], *own, text]
        for line in texts.iter_rows()
        for own, text in zip(parts, line[count:], strict=True)
    ]
    return _with_figures(pl.DataFrame(rows, schema=[*labels, *across, "value"], orient="row"))


def has_words(column: "pl.Series", letters: int = 2) -> bool:
    """Whether a column has different words, of so many letters at least, and not one figure, as records have them.

    What is hidden is marked by a sign or a letter, also by several in one column, or by a range.
    """
    import polars as pl

    own = column.drop_nulls()
    if own.dtype != pl.String:
        return False
    texts = own.unique().to_list()
    if any(figure_in(text) is not None for text in texts):
        return False
    return sum(sum(letter.isalpha() for letter in text) >= letters for text in texts) > 1


def labels_of(frame: "pl.DataFrame") -> int | None:
    """How many of the first columns name the lines: the fewest that do, if all combinations of their codes are there."""
    for count in range(1, frame.width):
        codes = frame[:, :count]
        if codes.is_unique().all():
            sizes = [column.n_unique() for column in codes]
            return count if frame.height and prod(sizes) == frame.height else None
    return None


def _named(
    codes: Sequence[Collection[str]], labels: Iterable[str], known: Mapping[str, Collection[str]]
) -> list[str]:
    """What the dimensions across are called: like those of other tables that they have codes in common with."""
    free = {name: set(own) for name, own in known.items() if name not in (*labels, "value")}
    found: list[str] = []
    for number, own in enumerate(codes, 1):
        shared = {name: len(other.intersection(own)) for name, other in free.items()}
        best = max(shared, key=lambda name: shared[name], default=None)
        if best is not None and shared[best]:
            del free[best]
            found.append(best)
        else:
            found.append(ACROSS if len(codes) == 1 else f"{ACROSS} {number}")
    return found
