"""How a suppression is told; its report is for internal use, since it shows kinds, intervals and costs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.numbers import counted
from shoal.operation import Rows
from shoal.remarks import Remark, note, remarks_in_json
from shoal.report import charts
from shoal.report.definitions import in_words
from shoal.report.page import Page
from shoal.tables.definitions import PATTERN
from shoal.tables.reports.assurances import suppressed
from shoal.tables.reports.gap import gap, gap_in_words
from shoal.tables.reports.nothing_left import nothing_left

if TYPE_CHECKING:
    from shoal.runtime import Progress
    from shoal.tables.model.table import Table
    from shoal.tables.operations.suppress import Suppressed
    from shoal.tables.suppression import Suppression

_KINDS = ("published", "primary", "complementary")
_MOST_SQUARES = 60
_MOST_BARS = 40

#: What its figures mean.
DEFINITIONS = PATTERN
#: What it says of singling out, linking and inference.
assurances = suppressed


def glimpse(progress: "Progress") -> str:
    """How far the search is."""
    if progress.value is None:
        return ""
    bound = "" if progress.bound is None else f", bound {progress.bound:,.6g}"
    return f"cost {progress.value:,.6g}{bound}"


def figures(result: "Suppressed", settings: object) -> dict[str, Any]:
    """The figures of the pattern, and what other methods cost."""
    compared = {other.method: other.cost for other in result.others}
    remarks = [*result.remarks, *_nothing_left(result.outcome), *_in_vain(result.outcome)]
    return {
        **result.outcome.to_dict(),
        **gap(result.table.base),
        **remarks_in_json(remarks),
        **({"compared": compared} if compared else {}),
    }


def _nothing_left(suppression: "Suppression") -> tuple[Remark, ...]:
    problem = suppression.problem
    return nothing_left(problem.table, problem.sensitive, problem.hidden_mask(suppression.complementary))


def _in_vain(suppression: "Suppression") -> tuple[Remark, ...]:
    """What is said of hidden cells that everybody can work out: the verdict is about sensitive ones alone."""
    cells = int(suppression.audit.disclosed.size)
    if not cells:
        return ()
    words = (
        "hidden cell that is not sensitive can be worked out exactly, and protects",
        "hidden cells that are not sensitive can be worked out exactly, and protect",
    )
    text = (
        f"{counted(cells, *words)} nothing; an audit of the published table alone, where nobody says what is sensitive, calls "
        "it unsafe for that"
    )
    return (note("disclosed-cells", text),)


def facts(result: "Suppressed", settings: object) -> list[tuple[str, Any]]:
    """What a person wants to know first."""
    found = result.outcome.to_dict()
    pairs: list[tuple[str, Any]] = [
        ("method", found["method"]),
        *in_words(PATTERN, found, ("primary", "complementary", "cost", "bound", "gap_percent")),
        *([("proved optimal", "yes")] if found["optimal"] else []),
        *in_words(PATTERN, found, ("value_hidden_percent", "safe")),
        *result.outcome.audit.reached_in_words(),
        *gap_in_words(result.table.base),
        ("protected against", found["attacker"]),
        ("stopped by", found["stopped_by"]),
        ("seconds", found["seconds"]),
    ]
    return [*pairs, *(in_words(PATTERN, found, ("disclosed",)) if found["disclosed"] else [])]


def tables(result: "Suppressed", settings: object) -> list[Rows]:
    """What other methods found."""
    return [_compared([result.outcome, *result.others])] if result.others else []


def _compared(runs: "Sequence[Suppression]") -> Rows:
    return Rows(
        ["method", "cost", "bound", "complementary", "seconds"],
        [(r.method, r.cost, r.bound, int(r.complementary.size), round(r.solution.seconds, 2)) for r in runs],
    )


def page(result: "Suppressed", settings: object) -> Page:
    """The report."""
    return suppression_page(result.outcome, result.others)


def suppression_page(result: "Suppression", others: "Sequence[Suppression]" = ()) -> Page:
    """The page: what is hidden, what it costs against the bound, what an attacker can compute, how it was found."""
    problem, solution = result.problem, result.solution
    page = Page("Cell suppression", "Internal edition: kinds, intervals and costs must not be published.")
    hidden = problem.hidden_mask(result.complementary)
    found = result.to_dict()
    page.facts(
        [
            ("cells", problem.table.cells),
            *in_words(PATTERN, found, ("primary", "complementary")),
            ("share of cells hidden", f"{100.0 * hidden.mean():.2f} %"),
            *in_words(PATTERN, found, ("value_hidden_percent", "cost", "bound", "gap_percent")),
            ("optimal for this cost, attacker and bounds", solution.optimal),
            *in_words(PATTERN, found, ("safe", "smallest_margin_percent")),
            *result.audit.reached_in_words(),
            *in_words(PATTERN, found, ("doubtful_if_bounded", "disclosed")),
            *gap_in_words(problem.table),
        ]
    )
    page.text(f"Protected against: {result.attacker}.")
    for item in _in_vain(result):
        page.warning(f"{item.text}.")
    for item in _nothing_left(result):
        page.warning(item.text)
    if result.tabulation is not None:
        _rules_and_levels(page, result, hidden)
    page.section("The table")
    page.chart(*_map(result, hidden))
    page.section("What an attacker can compute")
    page.chart(*_bars(result))
    page.section("How it was found")
    points = [point for point in solution.history if point.value is not None]
    if len(points) > 1:
        series = {"cost": [(point.seconds, point.value) for point in points]}
        bounds = [(point.seconds, point.bound) for point in points if point.bound is not None]
        if bounds:
            series["bound"] = bounds
        page.chart(
            charts.lines(series, x="seconds", y="cost"), "Cost of the best pattern and the bound over time."
        )
    if others:
        page.section("Methods compared")
        runs = [result, *others]
        rows = _compared(runs)
        page.table(rows.header, rows.body)
        page.chart(
            charts.bars([r.method for r in runs], [r.cost for r in runs], x="method", y="cost"),
            "Cost of the pattern each method found.",
        )
    page.provenance(
        [
            ("method", result.method),
            ("seed", result.seed),
            ("stopped by", str(solution.stopped_by)),
            ("work", solution.work),
        ],
        verified="linear programmes that share no code with the methods",
    )
    return page


def _rules_and_levels(page: Page, result: "Suppression", hidden: np.ndarray) -> None:
    """Sensitive cells by rule, and hidden cells by level of each dimension."""
    made, problem = result.tabulation, result.problem
    assert made is not None
    if made.by_rule:
        page.section("Sensitive cells by rule")
        page.text(
            "A cell may fail several rules; cells declared sensitive or safe beforehand are not counted here."
        )
        page.table(["rule", "cells"], list(made.by_rule.items()))
    page.section("Hidden cells by dimension and level")
    rows = []
    for name, tree in made.trees.items():
        depth = {code: len(tree.lineage(place)) - 1 for place, code in enumerate(tree.codes)}
        levels = np.array([depth[str(key)] for key in made.table.keys[name]])
        for level in np.unique(levels):
            at = levels == level
            primary = int((problem.is_sensitive & at).sum())
            further = int((hidden & ~problem.is_sensitive & at).sum())
            shown = "total" if level == 0 else int(level)
            rows.append((name, shown, int(at.sum()), primary, further))
    page.table(["dimension", "level", "cells", "primary", "complementary"], rows)


def _map(result: "Suppression", hidden: np.ndarray) -> tuple[str, str]:
    problem = result.problem
    table = problem.table
    kind = np.where(problem.is_sensitive, 1, np.where(hidden, 2, 0))
    if max(table.shape) <= _MOST_SQUARES if table.shape is not None else _is_grid(table):
        return _grid(result, kind)
    if table.shape is None:
        return _by_first_dimension(table, hidden)
    m, n = table.shape
    grid = kind.reshape(m + 1, n + 1)
    blocks = 40
    rows_at = np.array_split(np.arange(m), min(blocks, m))
    columns_at = np.array_split(np.arange(n), min(blocks, n))
    share = [[float((grid[np.ix_(a, b)] > 0).mean()) for b in columns_at] for a in rows_at]
    names = [f"{a[0] + 1}–{a[-1] + 1}" for a in rows_at]
    across = [f"{b[0] + 1}–{b[-1] + 1}" for b in columns_at]
    drawn = charts.shares(names, across, share, title="hidden", x="columns", y="rows")
    return drawn, "Share of hidden cells in blocks of rows and columns."


def _is_grid(table: "Table") -> bool:
    sizes = [len(set(map(str, keys))) for keys in table.keys.values()]
    return len(sizes) == 2 and max(sizes) <= _MOST_SQUARES and sizes[0] * sizes[1] == table.cells


def _grid(result: "Suppression", kind: np.ndarray) -> tuple[str, str]:
    table = result.problem.table
    (y, down), (x, across) = table.keys.items()
    rows, columns = (list(dict.fromkeys(map(str, keys))) for keys in (down, across))
    kinds = [[_KINDS[kind[table.find(row, column)]] for column in columns] for row in rows]
    drawn = charts.marks(rows, columns, kinds, names=_KINDS, x=x, y=y)
    return drawn, "Primary and complementary cells."


def _by_first_dimension(table: "Table", hidden: np.ndarray) -> tuple[str, str]:
    names = list(table.dimensions)
    texts = np.array([str(code) for code in table.keys[names[0]]])
    codes = list(dict.fromkeys(texts.tolist()))[:_MOST_SQUARES]
    if len(names) == 1:
        codes, texts = ["all cells"], np.full(table.cells, "all cells")
    share = [[float(hidden[texts == code].mean())] for code in codes]
    drawn = charts.shares(codes, ["hidden"], share, title="hidden", x="", y=names[0])
    return drawn, f"Share of hidden cells by {names[0]}."


def _bars(result: "Suppression") -> tuple[str, str]:
    problem = result.problem
    values = problem.table.values[problem.sensitive]
    scale = np.maximum(np.abs(values), 1e-12)
    low, high = result.audit.bounds(problem.sensitive)
    low, high = np.maximum((low - values) / scale, -1.0), np.minimum((high - values) / scale, 3.0)
    margin = np.minimum(high - problem.upper / scale, -problem.lower / scale - low)
    tightest = np.argsort(margin, kind="stable")[:_MOST_BARS]
    names = [problem.table.label(int(problem.sensitive[place])) for place in tightest]
    drawn = charts.intervals(
        names,
        [(100 * low[place], 100 * high[place]) for place in tightest],
        [
            (-100 * problem.lower[place] / scale[place], 100 * problem.upper[place] / scale[place])
            for place in tightest
        ],
        x="percent of the value (cut at 300 %)",
    )
    return (
        drawn,
        "The sensitive cells with the least to spare: the interval that can be computed (pale, broad bar) and the one "
        "that is needed (dark, thin bar). A cell is safe if the pale bar reaches at least as far on both sides.",
    )
