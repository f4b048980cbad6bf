"""axe-core finds nothing to complain about: every page with data and with a finished run, unfolded, in light and dark."""

from importlib.resources import files
from typing import Any

import pytest
from selenium.common.exceptions import JavascriptException
from tests.browser.test_records import PAGES
from tests.browser.visitor import Visitor

# Apart from the other tests with a browser, which take longest of all groups.
pytestmark = pytest.mark.xdist_group("pages")

_UNFOLD = """
const folded = ".q-expansion-item--collapsed > .q-expansion-item__container > .q-item";
document.querySelectorAll(folded).forEach((item) => item.click());
"""
# While a part slides, what it holds lies over what comes next.
_UNFOLDED = "return !document.querySelector('.q-expansion-item__content[style*=overflow]')"
# In the dark the same page has other colours, and nothing else that a rule looks at.
_AXE = """
const [dark, part, done] = arguments;
const rules = dark ? {runOnly: {type: "rule", values: ["color-contrast", "link-in-text-block"]}} : {};
const told = (one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 200)} ${node.failureSummary}`);
const picture = () => new Promise(requestAnimationFrame);
const still = () => Promise.allSettled(document.getAnimations().filter((one) => one.effect.getTiming().iterations === 1)
  .map((one) => one.finished));
Quasar.Dark.set(dark);
picture().then(picture).then(still)
  .then(() => window.axe ? axe.run(part || document, {...rules, resultTypes: ["violations"]}) : Promise.reject("gone"))
  .then((found) => done(found.violations.flatMap(told)), (problem) => done([`${problem}`]));
"""
# Beside the form: a run, or the note that there is none.
_RESULT = ".shoal-two > :last-child"
# What the page says when it was loaded anew meanwhile.
_GONE = "gone"


def _violations(visitor: Visitor, script: str, *, dark: bool, part: str = "") -> list[str]:
    """What axe-core complains about, on the page or a part of it.

    A page that loses its server for a moment loads itself anew and is looked at again.
    """

    def look() -> list[list[str]] | None:
        if not visitor.driver.execute_script("return !!window.axe"):
            visitor.settle()
            visitor.driver.execute_script(_UNFOLD)
            visitor.settle()
            visitor.until(lambda: visitor.driver.execute_script(_UNFOLDED), "the parts to be unfolded")
            visitor.driver.execute_script(script)
        try:
            found: list[str] = visitor.driver.execute_async_script(_AXE, dark, part)
        except JavascriptException:
            return None
        return None if found == [_GONE] else [found]

    found: list[list[str]] = visitor.until(look, "axe-core")
    return found[0]


def _runs(visitor: Visitor) -> list[str]:
    """Addresses of a finished run on every page that has runs, some of them below k."""
    for name in ("firms", "people", "slots"):
        visitor.have(name)
    keys = ["CP", "SEX"]
    table: dict[str, Any] = {
        "data": "firms",
        "source": "records",
        "dimensions": ["region", "sector"],
        "value": "turnover",
    }
    money = {"data": "firms", "columns": ["turnover", "wages"]}
    release = visitor.run("microaggregate", **money, k=3, method="mdav")
    runs = {
        "/records": release,
        "/compare": visitor.run("compare", data="firms", runs=[release]),
        "/risk": visitor.run("anonymity", data=["people"], quasi=keys),
        "/recode": visitor.run("recode", data="people", quasi=[*keys, "AGE"], k=4),
        "/perturb": visitor.run("perturb", **money, method="rank-swap"),
        "/grouping": visitor.run("group", **money, k=5, iterations=3),
        "/tables": visitor.run("suppress", **table, iterations=2),
        "/change": visitor.run("round", **table, base=1000),
        "/appointments": visitor.run(
            "assign", people=["people"], slots=["slots"], quasi=keys, method="greedy"
        ),
    }
    sample = visitor.run("risk", data="people", quasi=keys)
    return [*(f"{path}?run={run}" for path, run in runs.items()), f"/risk?run={sample}"]


def test_axe_finds_nothing(visitor: Visitor) -> None:
    script = (files("selenium_axe_python") / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    visitor.driver.set_window_size(1280, 2400)
    found: dict[str, set[str]] = {}
    runs = _runs(visitor)
    # The same form, in both lights, stands above a run; without one there is only the note that there is none.
    forms = {path.partition("?")[0] for path in runs} - {"/records"}
    for path in (*runs, *PAGES, "/steps"):
        visitor.open(path)
        part = _RESULT if path in forms else ""
        assert not part or len(visitor.all(part)) == 1
        for dark in (False,) if part else (False, True):
            for words in _violations(visitor, script, dark=dark, part=part):
                found.setdefault(words, set()).add(f"{path} {'dark' if dark else 'light'}")
    assert not found, "\n".join(f"{words} ON {sorted(places)[:2]}" for words, places in found.items())
