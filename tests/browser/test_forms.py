"""A form runs what it shows, or says at the field why it does not."""

import signal

import httpx
import pytest
from selenium.common.exceptions import ElementNotInteractableException
from selenium.webdriver.common.by import By
from tests.browser.visitor import Visitor
from tests.waiting import GUARD

pytestmark = pytest.mark.xdist_group("browser")


def _says(visitor: Visitor, label: str, words: str) -> None:
    """The message that stands at a field."""
    visitor.until(lambda: words in visitor.field(label).text, what=f"{words!r} at {label!r}")


def _shows(visitor: Visitor, label: str) -> str:
    return str(visitor.field(label).find_element(By.CSS_SELECTOR, "input").get_property("value"))


def _runs(visitor: Visitor, kind: str) -> list[str]:
    served = visitor.served
    jobs = httpx.get(f"{served.root}/api/jobs", headers=served.headers, timeout=GUARD).json()
    return [job["title"] for job in jobs if job["kind"] == kind]


def test_k_is_what_the_field_shows(visitor: Visitor) -> None:
    visitor.have("firms")
    before = _runs(visitor, "microaggregate")
    visitor.open("/records?data=firms")
    visitor.choose("Method", "mdav")
    for written, told in (
        ("2.5", "should be a whole number"),
        ("1", "should be 2 or more"),
        ("2,5", "should be a number"),
        ("five", "should be a number"),
        ("nan", "should be a number"),
        ("", "a number is needed"),
    ):
        visitor.fill("k, smallest", written)
        visitor.press("Protect")
        visitor.see(f"k, smallest number of equal records: {told}")
        _says(visitor, "k, smallest", told)
        assert _shows(visitor, "k, smallest") == written
    assert _runs(visitor, "microaggregate") == before
    visitor.fill("k, smallest", "7")
    visitor.press("Protect")
    visitor.see("firms: k = 7, mdav")
    assert len(_runs(visitor, "microaggregate")) == len(before) + 1


def test_nobody_writes_into_a_field_that_is_about_to_go(visitor: Visitor) -> None:
    """However long the server takes to draw the fields of another method, no text is lost that somebody has written."""
    visitor.have("firms")
    visitor.open("/perturb?data=firms")
    visitor.unfold("Randomness")
    visitor.click(lambda: visitor.field("Method").find_element(By.CSS_SELECTOR, ".q-field__append"))
    listed = visitor.until(lambda: visitor.all(".q-menu .q-item"), "the methods")
    other = next(item for item in listed if item.text.startswith("noise"))
    box = visitor.field("Seed").find_element(By.CSS_SELECTOR, "input")
    visitor.served.process.send_signal(signal.SIGSTOP)
    try:
        other.click()
        visitor.until(lambda: not visitor.all(".q-menu"), "the list to close")
        with pytest.raises(ElementNotInteractableException):
            box.send_keys("5")
    finally:
        visitor.served.process.send_signal(signal.SIGCONT)
    visitor.see("Size of the noise")
    visitor.settle()
    assert not visitor.all("[inert]")
    visitor.unfold("Randomness")
    visitor.fill("Seed", "5")
    assert _shows(visitor, "Seed") == "5"


def test_whoever_loses_the_connection_finds_the_fields_open(visitor: Visitor) -> None:
    """Nobody answers then, and what closed the fields would wait for ever."""
    visitor.have("firms")
    visitor.open("/perturb?data=firms")
    visitor.click(lambda: visitor.field("Method").find_element(By.CSS_SELECTOR, ".q-field__append"))
    listed = visitor.until(lambda: visitor.all(".q-menu .q-item"), "the methods")
    other = next(item for item in listed if item.text.startswith("noise"))
    visitor.served.process.send_signal(signal.SIGSTOP)
    try:
        other.click()
        visitor.until(lambda: visitor.all("[inert]"), "closed fields")
        visitor.driver.execute_script("window.socket.disconnect()")
        assert not visitor.all("[inert]")
    finally:
        visitor.served.process.send_signal(signal.SIGCONT)
    visitor.open("/perturb?data=firms")
    visitor.see("Columns to change")


def test_nothing_chosen_is_not_everything(visitor: Visitor) -> None:
    visitor.have("firms")
    before = _runs(visitor, "microaggregate")
    visitor.open("/records?data=firms")
    chosen = visitor.field("Columns to protect").find_elements(By.CSS_SELECTOR, ".q-chip")
    names = [chip.text.split("\n")[0] for chip in chosen]
    visitor.choose("Columns to protect", *names)
    visitor.until(
        lambda: not visitor.field("Columns to protect").find_elements(By.CSS_SELECTOR, ".q-chip"),
        what="no column",
    )
    visitor.press("Protect")
    visitor.see("choose the columns to protect")
    assert _runs(visitor, "microaggregate") == before


def test_a_rule_without_its_number_is_refused(visitor: Visitor) -> None:
    visitor.have("firms")
    before = _runs(visitor, "tabulate")
    visitor.open("/tables?data=firms")
    visitor.choose("Sum of", "turnover")
    for label, written, told in (
        ("p, %", "", "a number is needed"),
        ("at least", "2.5", "should be a whole number"),
    ):
        right = _shows(visitor, label)
        visitor.fill(label, written)
        visitor.press("Tabulate")
        visitor.see(f"{label}: {told}")
        _says(visitor, label, told)
        assert _runs(visitor, "tabulate") == before
        visitor.fill(label, right)
    visitor.fill("p, %", "12.3456789")
    visitor.press("Tabulate")
    visitor.state("done")
    visitor.see("p-percent(12.3456789)")
