"""A figure is the same in JSON, in the report and on the page of the workbench, under one name."""

import re
from html import unescape
from pathlib import Path

import pytest
from tests.cli.running import shoal as run
from tests.report.commands import COMMANDS, prepare

from shoal.operations import OPERATIONS
from shoal.report.definitions import defined, in_words
from shoal.web.pages.tables.page import pattern_facts

DEFINED = [name for name in COMMANDS if hasattr(OPERATIONS[name].reporter_module, "DEFINITIONS")]
#: What a page tells of a figure in a line with others.
TOGETHER = {"microaggregate": {"k_release"}, "recode": {"k_release", "k", "loss", "suppressed_people", "suppressed_records"},
            "compare": {"records", "k"}, "suppress": set(), "assign": {"optimal"}}  # fmt: skip

# How far totals are off is told where it is allowed.
SOMETIMES = {"largest_gap"}


def cells(html: str) -> list[tuple[str, str]]:
    """Names with their values: of lists of facts, and of the first two columns of tables."""
    facts = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", html)
    rows = re.findall(r"<tr><td[^>]*>(.*?)</td><td[^>]*>(.*?)</td>", html)
    return [(unescape(name), unescape(value)) for name, value in facts + rows]


@pytest.mark.parametrize("name", DEFINED)
def test_the_report_tells_the_figures_of_json(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    outcome = run(name, *COMMANDS[name][0], "--report", "report.html", "--json")
    figures, html = outcome.json, (tmp_path / "report.html").read_text(encoding="utf-8")
    definitions = OPERATIONS[name].reporter_module.DEFINITIONS
    assert set(definitions) - SOMETIMES <= set(figures)
    shown = cells(html)
    for key in (definitions.keys() & figures.keys()) - TOGETHER.get(name, set()):
        pair = in_words(definitions, figures, (key,))[0]
        # A figure that is not worth a line (as many people as records, nothing missed) may be left out, but is never another one.
        values = [value for title, value in shown if title == pair[0] and value != key]
        # A verdict may name what it does not hold for, a figure in which direction it errs, or of what it is a part.
        more = tuple(f"{pair[1]}{words}" for words in (", for the ", " (usually too ", " of those released"))
        told_so = [value for value in values if value == pair[1] or value.startswith(more)]
        assert values == [] or told_so, (pair, values)
        assert values or key in ("units", "optimal", "suppressed_cells", "classes", "not_judged"), key
    for title, key, meaning in defined(definitions, figures):
        assert f"<td>{title}</td><td>{key}</td>" in html.replace("&#x27;", "'")
        assert meaning.endswith(".")


def test_the_terminal_tells_them_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in ("suppress", "audit", "tabulate"):
        arguments = [item for item in COMMANDS[name][0] if item not in ("-o", "out.csv", "list.csv")]
        figures, text = run(name, *arguments, "--json").json, " ".join(run(name, *arguments).out.split())
        definitions = OPERATIONS[name].reporter_module.DEFINITIONS
        for key in ("cost", "gap_percent", "value_hidden_percent", "unsafe", "hidden", "cells"):
            if key in definitions:
                assert " ".join(in_words(definitions, figures, (key,))[0]) in text


def test_the_page_of_a_table_tells_them_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    figures = run("suppress", *COMMANDS["suppress"][0], "--report", "report.html", "--json").json
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    for title, value, *_ in pattern_facts(figures):
        assert (title, value) in cells(html)


def test_links_are_those_of_compare(tmp_path: Path) -> None:
    """The report of a microaggregation and a comparison count links in one way."""
    import polars as pl

    import shoal

    prepare(tmp_path)
    frame = pl.read_csv(tmp_path / "my survey.csv")
    columns = ["income", "wealth", "rent"]
    made = shoal.microaggregate(frame, k=3, columns=columns, method="mdav")
    compared = shoal.compare(frame, made.frame, columns=columns, record_links=made.record_links)
    assert dict(made.expected_links)[", ".join(columns)] == pytest.approx(compared.links_expected)
