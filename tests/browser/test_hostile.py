"""Names and values that try to run: in data, files, databases, fields and reports. Chromium is asked whether anything did."""

import csv
import io
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from selenium.webdriver.common.by import By
from tests.browser.visitor import Visitor
from tests.waiting import GUARD

# Apart from the other tests with a browser, which take longest of all groups.
pytestmark = pytest.mark.xdist_group("hostile")

_DO = "window.__ran=1"
# Ways out of an attribute, a tag, a script, a template, an address.
ESCAPES = (
    f'a" :style="{_DO}" b="',
    f"a' :style='{_DO}' b='",
    f"<img src=x onerror={_DO}>",
    f'"><svg onload={_DO}>',
    f"</script><script>{_DO}</script>",
    f"`+({_DO})+`${{{_DO}}}",
    f"{{{{constructor.constructor('{_DO}')()}}}}",
    f"javascript:{_DO}",
    f"');{_DO};//",
    f"&lt;img src=x onerror={_DO}&gt;",
)
# In one text; NiceGUI itself refuses HTML with a script in it, which would hide what the others do there.
TOGETHER = " ".join(text for text in ESCAPES if "<script>" not in text)
NAMES = [f"{place} {text}" for place, text in enumerate(ESCAPES)]
CONNECTION = {"kind": "sqlite", "database": "hostile.db"}
# Columns of text, and columns of numbers, each with a name of its own.
CENTRE = f"centre {ESCAPES[2]}"
TEXTS, NUMBERS = NAMES[:5], [f"n{name}" for name in NAMES[4:9]]


def _csv(header: list[str], rows: list[list[Any]]) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(header)
    writer.writerows(rows)
    return file.getvalue().encode()


def _people() -> bytes:
    rows = [
        [NAMES[(place // (column + 2)) % (2 + column)] for column in range(len(TEXTS))]
        + [(place * (7 + 2 * column)) % 23 + place / 100 for column in range(len(NUMBERS))]
        for place in range(60)
    ]
    return _csv([*TEXTS, *NUMBERS], rows)


def _slots() -> bytes:
    return _csv(
        ["slot", "capacity", CENTRE], [[name, 14, NAMES[place % 3]] for place, name in enumerate(NAMES)]
    )


def _matrix() -> bytes:
    rows = [
        [name, *((3 + place) * (column + 5) for column in range(4))] for place, name in enumerate(NAMES[:4])
    ]
    return _csv([ESCAPES[2], *NAMES[:4]], rows)


@pytest.fixture(scope="module")
def hostile(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The runs of every kind on hostile data, by their kind."""
    workbench = request.getfixturevalue("workbench")
    with httpx.Client(base_url=workbench.root, headers=workbench.headers, timeout=GUARD) as api:
        yield _prepared(api, workbench.folder)
        api.delete("/api/connection")


def _prepared(api: httpx.Client, folder: Path) -> dict[str, str]:
    def ended(sent: httpx.Response) -> str:
        assert sent.is_success, sent.text
        run: str = sent.json()["run"]
        while api.get(f"/api/jobs/{run}", params={"wait": 60}).json()["state"] in ("waiting", "running"):
            pass
        return run

    def load(file: str, content: bytes) -> str:
        run = ended(api.post("/api/data", files={"file": (file, content)}))
        name: str = api.get(f"/api/jobs/{run}/result").json()["data"]
        return name

    people = load(f"{ESCAPES[2]}.csv", _people())
    slots = load(f"{ESCAPES[0].replace('/', '')}.csv", _slots())
    matrix = load(f"{ESCAPES[9]}.csv", _matrix())
    labels = load(
        "labels.csv", _csv(["value", "level 1", "level 2"], [[name, TOGETHER, "*"] for name in NAMES])
    )
    table = {"data": people, "source": "records", "dimensions": TEXTS[:2], "value": NUMBERS[0]}
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        "anonymity": ("anonymity", {"data": [people], "quasi": TEXTS[:3], "confidential": [TEXTS[3]]}),
        "risk": (
            "risk",
            {"data": people, "quasi": TEXTS[:3], "household": TEXTS[4], "special_uniques": True},
        ),
        "refused": ("risk", {"data": people, "quasi": TEXTS[:3], "require_risk": 0}),
        "perturb": (
            "perturb",
            {"data": people, "method": "pram", "columns": TEXTS[:2], "by": [TEXTS[2]]},
        ),
        "recode": (
            "recode",
            {
                "data": people,
                "quasi": TEXTS[:3],
                "k": 3,
                "method": "lattice",
                "explain": True,
                "confidential": [TEXTS[3]],
                "hierarchies": {TEXTS[0]: labels},
            },
        ),
        "microaggregate": (
            "microaggregate",
            {"data": people, "columns": NUMBERS[:3], "k": 3, "method": "mdav", "quasi": TEXTS[:2]},
        ),
        "group": ("group", {"data": people, "columns": NUMBERS, "k": 3, "iterations": 3}),
        "tabulate": ("tabulate", {**table, "rules": ["frequency(6)"]}),
        "suppress": ("suppress", {**table, "rules": ["frequency(6)"], "iterations": 20}),
        "audit": ("audit", {**table, "rules": ["frequency(6)"], "hidden": [[NAMES[0], NAMES[0]]]}),
        "matrix": (
            "suppress",
            {"data": matrix, "source": "matrix", "sensitive": [[NAMES[0], NAMES[0]]], "iterations": 20},
        ),
        "assign": (
            "assign",
            {"people": people, "slots": slots, "quasi": TEXTS[:2], "method": "greedy", "known": [CENTRE]},
        ),
        # Too few records in each stratum, which a run finds out; its message names the column.
        "failed": (
            "microaggregate",
            {"data": people, "columns": NUMBERS[:1], "k": 25, "method": "mdav", "by": [TEXTS[3]]},
        ),
    }
    runs = {name: ended(api.post(f"/api/jobs/{kind}", json=given)) for name, (kind, given) in asked.items()}
    runs["compare"] = ended(
        api.post("/api/jobs/compare", json={"data": people, "runs": [runs["microaggregate"]]})
    )
    for name, run in runs.items():
        view = api.get(f"/api/jobs/{run}").json()
        wanted = "failed" if name in ("failed", "refused") else "done"
        assert view["state"] == wanted, f"{name}: {view['message']}"
    base = folder / "databases" / "hostile.db"
    with sqlite3.connect(base) as database:
        columns = ", ".join('"' + name.replace('"', '""') + '" TEXT' for name in NAMES)
        for name in NAMES[:3]:
            quoted = name.replace('"', '""')
            database.execute(f'CREATE TABLE "{quoted}" ({columns})')
            database.execute(f'INSERT INTO "{quoted}" VALUES ({", ".join("?" * len(NAMES))})', NAMES)
    database.close()
    assert api.put("/api/connection", json=CONNECTION).is_success
    ended(api.post("/api/data/tables", json={"table": NAMES[0]}))
    return {**runs, "people": people, "slots": slots, "matrix": matrix}


@pytest.fixture
def unprotected(visitor: Visitor) -> Iterator[Visitor]:
    """A browser that ignores the content policy, so that what slipped into a page would run."""
    visitor.driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    yield visitor
    visitor.driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": False})
    visitor.driver.get("about:blank")


def _nothing_ran(visitor: Visitor, where: str) -> None:
    found = visitor.driver.execute_script(
        "return [window.__ran, document.querySelectorAll('img[src=x], svg[onload], [onerror]').length]"
    )
    assert found == [None, 0], f"something ran on {where}"


def _pages(hostile: dict[str, str]) -> list[str]:
    people = hostile["people"]
    return [
        f"/data?name={people}",
        "/data?name=" + hostile["slots"],
        "/data?tab=database",
        "/data?tab=generate",
        f"/risk?run={hostile['anonymity']}",
        f"/records?run={hostile['failed']}",
        f"/risk?run={hostile['risk']}",
        f"/risk?run={hostile['refused']}",
        f"/perturb?run={hostile['perturb']}",
        f"/recode?run={hostile['recode']}",
        f"/records?run={hostile['microaggregate']}",
        f"/grouping?run={hostile['group']}",
        f"/records?data={people}&grouping={hostile['group']}",
        f"/compare?run={hostile['compare']}",
        f"/tables?run={hostile['suppress']}",
        f"/tables?run={hostile['tabulate']}",
        f"/tables?run={hostile['audit']}",
        f"/tables?run={hostile['matrix']}",
        f"/appointments?run={hostile['assign']}",
        "/reports",
        "/",
        "/api",
    ]


def _forms(hostile: dict[str, str]) -> list[str]:
    """The pages without those whose fields another page has too: the same form above another result."""
    again = (
        "/data?name=" + hostile["slots"],
        f"/records?run={hostile['failed']}",
        f"/risk?run={hostile['refused']}",
        f"/tables?run={hostile['tabulate']}",
        f"/tables?run={hostile['audit']}",
    )
    pages = _pages(hostile)
    assert set(again) <= set(pages)
    return [path for path in pages if path not in again]


# A pointer moved over charts and over what has a tooltip, as events: a real one waits for a drawing at every step, which
# takes minutes where Chromium draws without a graphics card.
_POINT = """
let reached = 0;
const point = (item, name, x, y) => item.dispatchEvent(
  new MouseEvent(name, {bubbles: true, view: window, clientX: x, clientY: y}));
for (const chart of document.querySelectorAll('[role=img]')) {
  const canvas = chart.querySelector('canvas') || chart, box = canvas.getBoundingClientRect();
  for (const x of [0.2, 0.35, 0.5, 0.65, 0.8]) for (const y of [0.3, 0.5, 0.7])
    point(canvas, 'mousemove', box.left + x * box.width, box.top + y * box.height);
  reached += 1;
}
for (const item of document.querySelectorAll('.shoal-run, .q-switch, .q-toggle, .ellipsis, [aria-label^=Role]')) {
  const box = item.getBoundingClientRect();
  for (const name of ['mouseenter', 'mouseover', 'mousemove']) point(item, name, box.left + 1, box.top + 1);
  reached += 1;
}
return reached;
"""
# What a hand does to a field, as the events the page listens to: real keys wait for a drawing at every press.
_HAND = """
window.__before ||= new Map();
const write = (field, text) => {
  field.focus();
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value').set.call(field, text);
  for (const name of ['input', 'change']) field.dispatchEvent(new Event(name, {bubbles: true}));
  for (const name of ['keydown', 'keyup'])
    field.dispatchEvent(new KeyboardEvent(name, {bubbles: true, key: 'Enter', code: 'Enter', keyCode: 13}));
  field.blur();
};
"""
# Into fields that were not written into before, shown or hidden: the next look finds those which the page drew in the
# meantime. Or again into the others.
_WRITE = f"""{_HAND}
const [texts, which] = arguments;
const fields = [...document.querySelectorAll('input:not([type=file], [type=checkbox], [type=radio]), textarea')].filter(field =>
  !field.readOnly && !field.disabled && field.role !== 'combobox' && window.__before.has(field) === (which === "written"));
fields.forEach((field, place) => {{
  if (which === "fresh") window.__before.set(field, field.value);
  write(field, texts[place % texts.length]);
}});
return fields.length;
"""
_TAKE_NUMBERS_BACK = f"""{_HAND}
for (const [field, text] of window.__before) if (field.isConnected && field.inputMode) write(field, text);
"""
_PRESS = """
const words = arguments[0];
const words_of = button => button.innerText.trim().split('\\n').pop();
const buttons = [...document.querySelectorAll('button')].filter(button =>
  button.checkVisibility() && words.includes(words_of(button)));
buttons.forEach(button => button.click());
return buttons.map(words_of);
"""
# What the page tells the server, as far as it is hostile.
_OVERHEAR = """
if (!window.__told) {
  window.__told = [];
  const emit = window.socket.emit.bind(window.socket);
  window.socket.emit = (...words) => {
    const said = JSON.stringify(words);
    if (said.includes('__ran=1')) window.__told.push(said);
    return emit(...words);
  };
}
"""
_BEGIN = (
    *(
        "Recode",
        "Labels",
        "Run this",
        "Protect",
        "Perturb",
        "Group",
        "Assign",
        "Suppress",
        "Audit",
        "Generate",
        "Compare",
        "Show",
    ),
    *("Connect", "Write to database", "Load tables"),
)
_LEAVE = "Measure risk"  # on the page of data it leads to another page


def _unfold(visitor: Visitor) -> None:
    visitor.driver.execute_script(
        "document.querySelectorAll('.q-expansion-item--collapsed > * > .q-item').forEach(item => item.click())"
    )
    visitor.until(
        lambda: visitor.driver.execute_script(
            "return !document.querySelector('.q-spinner, .nicegui-unready')"
        ),
        what="the page to come to rest",
    )


def _look_everywhere(visitor: Visitor) -> int:
    """Unfold, open every list, and point at every chart and every thing that has a tooltip; at how many."""
    driver = visitor.driver
    _unfold(visitor)
    driver.execute_script("document.querySelectorAll('.q-select').forEach(item => item.click())")
    reached: int = driver.execute_script(_POINT)
    driver.execute_script("document.querySelectorAll('.q-toggle').forEach(item => item.click())")
    return reached


def _write_everywhere(visitor: Visitor, first: int) -> tuple[int, int, list[str]]:
    """Everything hostile into every field one can write in, then one thing each from ``first`` on, and buttons pressed.

    Fields for numbers refuse what is no number, and the run with it; so the buttons are pressed once more with the numbers
    that stood there. Gives into how many fields, how often the server was told of it, and the words of the buttons.
    """
    driver = visitor.driver
    _unfold(visitor)
    driver.execute_script(_OVERHEAR)
    written = 0
    while found := driver.execute_script(_WRITE, [TOGETHER], "fresh"):
        written += found
        visitor.settle()
    _nothing_ran(visitor, f"{driver.current_url} with everything in every field")
    driver.execute_script(_WRITE, (*ESCAPES[first:], *ESCAPES[:first]), "written")
    visitor.settle()
    told: int = driver.execute_script("return window.__told.length")
    pressed: list[str] = driver.execute_script(_PRESS, _BEGIN)
    visitor.settle()
    driver.execute_script(_TAKE_NUMBERS_BACK)
    visitor.settle()
    pressed += driver.execute_script(_PRESS, (*_BEGIN, _LEAVE))
    visitor.settle()
    return written, told, pressed


def test_the_question_can_be_answered_with_yes(unprotected: Visitor) -> None:
    """Where nothing is escaped and no policy holds, these texts do run: else the other tests would show nothing."""
    unprotected.open("/")
    unprotected.driver.execute_script(
        "document.body.insertAdjacentHTML('beforeend', arguments[0])", ESCAPES[2]
    )
    unprotected.until(lambda: unprotected.driver.execute_script("return window.__ran === 1"))
    with pytest.raises(AssertionError, match="something ran"):
        _nothing_ran(unprotected, "a page of our own making")


def test_nothing_written_into_a_field_runs(unprotected: Visitor, hostile: dict[str, str]) -> None:
    written = 0
    pressed: set[str] = set()

    def write(path: str, first: int = 0) -> None:
        nonlocal written
        unprotected.open(path)
        fields, heard, buttons = _write_everywhere(unprotected, first)
        _nothing_ran(unprotected, path)
        unprotected.leave()
        assert heard >= 2 * fields, f"the server was not told of every field of {path}"
        written += fields
        pressed.update(buttons)

    for place, path in enumerate(_forms(hostile)):
        write(path, place % len(ESCAPES))
    served = unprotected.served
    with httpx.Client(base_url=served.root, headers=served.headers, timeout=GUARD) as api:
        assert api.delete("/api/connection").is_success
        write("/data?tab=database")
        assert api.put("/api/connection", json=CONNECTION).is_success
    assert written > 80
    assert pressed == {*_BEGIN, _LEAVE}


def test_nothing_in_a_report_runs(unprotected: Visitor, hostile: dict[str, str]) -> None:
    folder = unprotected.served.folder / "runs"
    reports = sorted(folder.glob("*/report.html"))
    assert len(reports) >= 8
    for report in reports:
        text = report.read_text(encoding="utf-8")
        assert "Content-Security-Policy\" content=\"default-src 'none'" in text
        unprotected.driver.get(report.as_uri())
        _nothing_ran(unprotected, report.as_uri())
        assert not unprotected.driver.find_elements(By.CSS_SELECTOR, "script, [href^='javascript:']")
    unprotected.open("/")
    for report in reports[:3]:
        unprotected.driver.get(f"{unprotected.served.root}/runs/{report.parent.name}/report.html")
        _nothing_ran(unprotected, "a report in the workbench")


# Where they become elements, these run without anybody touching them.
_ON_THEIR_OWN = ESCAPES[2:4]
_WATCH = """
window.__violations = [];
document.addEventListener('securitypolicyviolation', event =>
  window.__violations.push(event.effectiveDirective + ' ' + event.blockedURI));
"""


def test_nothing_in_data_runs_on_any_page_and_no_page_needs_more_than_the_policy(
    visitor: Visitor, hostile: dict[str, str]
) -> None:
    """What the policy keeps from running is told by the browser, and what it lets run leaves a mark: there is neither."""
    driver = visitor.driver
    added = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _WATCH})
    reached = 0
    try:
        for path in _pages(hostile):
            visitor.open(path)
            reached += _look_everywhere(visitor)
            _nothing_ran(visitor, path)
            assert driver.execute_script("return window.__violations") == [], path
        assert reached > 20
        # Whatever slips into a page all the same: it does not run, it is told of, and it reaches nobody.
        for text in _ON_THEIR_OWN:
            driver.execute_script("window.__violations.length = 0")
            driver.execute_script("document.body.insertAdjacentHTML('beforeend', arguments[0])", text)
            visitor.until(
                lambda: "script-src-attr" in json.dumps(driver.execute_script("return window.__violations")),
                what=f"a word about {text}",
            )
        driver.execute_script(
            "const tag = document.createElement('script'); tag.textContent = arguments[0]; document.body.append(tag)",
            _DO,
        )
        reached_others = driver.execute_async_script(
            "const done = arguments[0];"
            "fetch('https://example.org/').then(() => done('reached'), () => done('refused'))"
        )
        assert reached_others == "refused"
        visitor.until(lambda: len(driver.execute_script("return window.__violations")) >= 3)
        refused = json.dumps(driver.execute_script("return window.__violations"))
        assert all(word in refused for word in ("script-src-attr", "script-src-elem", "connect-src"))
        assert driver.execute_script("return window.__ran") is None
        # The names are there, as the text they are.
        visitor.open(f"/data?name={hostile['people']}")
        visitor.see(*TEXTS)
        labels = [item.get_attribute("aria-label") for item in visitor.all("[aria-label^='Role of']")]
        assert {f"Role of {name}" for name in (*TEXTS, *NUMBERS)} <= set(labels)
    finally:
        driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
        driver.get_log("browser")  # these refusals are no complaint of a page
