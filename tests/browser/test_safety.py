"""A first visit: nothing is removed, started twice or given out by mistake."""

import httpx
import polars as pl
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from tests.browser.visitor import Visitor
from tests.waiting import GUARD

pytestmark = pytest.mark.xdist_group("browser")
VISITS = pl.DataFrame(
    {
        "person": [number // 2 for number in range(60)],
        "town": ["a"] * 40 + ["b"] * 19 + ["c"],
        "age": [20 + number % 30 for number in range(60)],
        "cost": [float(number * 7 % 41) for number in range(60)],
    }
)


def _api(visitor: Visitor, path: str) -> object:
    return httpx.get(f"{visitor.served.root}{path}", headers=visitor.served.headers, timeout=GUARD).json()


def test_roles_in_bulk_and_removal_with_a_way_back(visitor: Visitor) -> None:
    visitor.have("callers", VISITS.write_csv().encode())
    visitor.open("/data?name=callers")
    visitor.see("Columns of callers", "distinct", "missing")
    for name in ("town", "age"):
        visitor.click(lambda name=name: visitor.one(f"[aria-label='Tick {name}']"))
    visitor.choose("Role of the ticked columns", "quasi-identifier")
    visitor.press("Set")
    visitor.choose("Role of person", "unit")
    visitor.settle()
    described = _api(visitor, "/api/data/callers")
    assert [described["roles"][name] for name in ("person", "town", "age")] == [
        "unit",
        "quasi-identifier",
        "quasi-identifier",
    ]
    visitor.click(lambda: visitor.one("[aria-label='Remove callers']"))
    visitor.see("Remove 'callers'?")
    visitor.press("Keep")
    visitor.until(lambda: not visitor.all(".q-dialog"), "the question to go")
    assert visitor.all("[data-dataset=callers]")
    visitor.remove("callers")
    visitor.see("'callers' was removed")
    visitor.press("Undo")
    visitor.until(lambda: visitor.all("[data-dataset=callers]"), "the data to come back")
    assert _api(visitor, "/api/data/callers") == described


def test_a_double_click_is_one_run_and_a_release_below_k_is_held_back(visitor: Visitor) -> None:
    visitor.have("callers", VISITS.write_csv().encode())
    roles = {"person": "unit", "town": "quasi-identifier", "age": "quasi-identifier", "cost": "measurement"}
    sent = httpx.put(
        f"{visitor.served.root}/api/data/callers/roles",
        json=roles,
        headers=visitor.served.headers,
        timeout=GUARD,
    )
    assert sent.is_success, sent.text
    visitor.open("/records?data=callers")
    visitor.see("Removes 1 column: person")
    assert "person" in visitor.field("Unit").text
    visitor.choose("Method", "mdav")
    before = len(_api(visitor, "/api/jobs"))
    button = visitor.labelled("button", "Protect")
    visitor.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    ActionChains(visitor.driver).double_click(button).perform()
    visitor.state("done")
    assert len(_api(visitor, "/api/jobs")) == before + 1
    # One of them lives alone in c: red, with the risk that is left, and no file but the report.
    visitor.see("K below k", "below the k = 5 that was asked for", "Risk that is left", "largest risk")
    assert not visitor.all("[data-file]") and visitor.labelled("a", "Open report")
    visitor.press("I know, offer the files")
    visitor.see("Give out a release that is less safe than asked for?")
    visitor.press("Keep")
    visitor.until(lambda: not visitor.all(".q-dialog"), "the question to go")
    assert not visitor.all("[data-file]")
    visitor.know()
    visitor.until(lambda: visitor.all("[data-file='release.csv']"), "the files")
    visitor.see("Somebody confirmed on")
    assert not visitor.all("[data-test=danger]")
    # A run is removed like data: after a question, and with a way back.
    visitor.open("/reports")
    visitor.click(lambda: visitor.one("[aria-label='Remove this run']"))
    visitor.mean_it()
    visitor.see("was removed")
    visitor.press("Undo")
    visitor.until(lambda: len(_api(visitor, "/api/jobs")) == before + 1, "the run to come back")


def test_a_cell_tells_who_contributes_and_records_can_be_sorted(visitor: Visitor) -> None:
    visitor.have("firms")
    table = {"data": "firms", "source": "records", "dimensions": ["region", "sector"], "value": "turnover"}
    run = visitor.run("tabulate", **table, rules=["dominance(1,40)"])
    visitor.open(f"/tables?run={run}")
    cell = visitor.one("td.primary")
    assert "The largest has" in cell.get_attribute("title")
    visitor.click(lambda: visitor.one("td.primary"))
    visitor.until(lambda: "Sensitive by dominance(1,40)" in visitor.one("[data-test=about]").text, "the rule")
    run = visitor.run("anonymity", data=["firms"], quasi=["region", "sector"])
    visitor.open(f"/risk?run={run}")

    def crowds() -> list[int]:
        rows = visitor.driver.find_elements(By.CSS_SELECTOR, ".shoal-table tbody tr td:nth-child(2)")
        return [int(cell.text.replace(",", "")) for cell in rows if cell.text]

    riskiest = crowds()
    assert riskiest == sorted(riskiest)
    visitor.choose("Sort by", "crowd")
    visitor.press("the other way round")
    visitor.until(lambda: crowds() == sorted(riskiest, reverse=True), "the other order")
