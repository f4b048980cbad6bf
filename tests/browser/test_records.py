"""Protect records: from a file to risk, protection, comparison and the report."""

import os
import signal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from tests.browser.visitor import Visitor
from tests.web.serving import served

import shoal

pytestmark = pytest.mark.xdist_group("browser")
PAGES = (
    "/",
    "/data",
    "/risk",
    "/recode",
    "/records",
    "/perturb",
    "/grouping",
    "/compare",
    "/tables",
    "/change",
    "/appointments",
    "/studies",
    "/reports",
    "/api",
)


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    random = np.random.default_rng(5)
    count = 900
    staff = random.integers(1, 120, count)
    return pl.DataFrame(
        {
            "firm_id": np.arange(count) + 4000,
            "region": random.choice(["north", "south"], count),
            "staff": staff,
            "turnover": np.round(staff * random.lognormal(4, 0.4, count), 1),
            "wages": np.round(staff * random.lognormal(3, 0.2, count), 1),
        }
    )


@pytest.fixture
def survey(visitor: Visitor, frame: pl.DataFrame) -> pl.DataFrame:
    """The survey, which is in the workspace already."""
    visitor.have("survey", frame.write_csv().encode())
    return frame


def test_files_of_every_kind(visitor: Visitor, frame: pl.DataFrame, tmp_path: Path) -> None:
    visitor.open("/data")
    visitor.see("In the workspace")
    visitor.shot("data-before")
    frame.write_csv(tmp_path / "survey-c.csv")
    frame.write_parquet(tmp_path / "survey-p.parquet")
    frame.write_excel(tmp_path / "survey-x.xlsx")
    for name in ("survey-c.csv", "survey-p.parquet", "survey-x.xlsx"):
        visitor.upload(tmp_path / name)
        visitor.see(f"Columns of {Path(name).stem}", "turnover")
    visitor.see("900 records · 5 columns")
    visitor.whole("data")
    for suffix in ("c", "p", "x"):
        visitor.remove(f"survey-{suffix}")


def test_wrong_files_get_a_message_that_helps(visitor: Visitor, tmp_path: Path) -> None:
    visitor.open("/data")
    (tmp_path / "photo.jpeg").write_bytes(b"\xff\xd8\xff")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 not really")
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n3,4,5\nsecret-value,6\n")
    (tmp_path / "empty.csv").write_text("")
    visitor.upload(tmp_path / "photo.jpeg")
    visitor.see("'photo.jpeg' has ending '.jpeg'; known are .csv")
    visitor.upload(tmp_path / "broken.parquet")
    visitor.see("'broken.parquet' cannot be read as Parquet")
    visitor.upload(tmp_path / "empty.csv")
    visitor.see("'empty.csv' is empty")
    visitor.upload(tmp_path / "ragged.csv")

    def told() -> str:
        return " ".join(item.text for item in visitor.all(".shoal-error"))

    messages = visitor.until(
        lambda: "ragged" in (words := told()) and words, "the verdict on the ragged file"
    )
    visitor.shot("data-wrong-files")
    assert "secret-value" not in messages


@pytest.mark.usefixtures("survey")
def test_roles_are_suggested_and_changeable(visitor: Visitor) -> None:
    visitor.open("/data?name=survey")
    visitor.see("Columns of survey")
    assert "identifier" in visitor.field("Role of firm_id").text
    assert "measurement" in visitor.field("Role of turnover").text
    visitor.choose("Role of staff", "quasi-identifier")
    visitor.open("/data?name=survey")
    visitor.until(lambda: "quasi-identifier" in visitor.field("Role of staff").text, what="the role kept")
    visitor.choose("Role of staff", "measurement")


def test_risk(visitor: Visitor, survey: pl.DataFrame) -> None:
    visitor.open("/risk?data=survey")
    visitor.choose("Quasi-identifiers", "staff")
    visitor.press("Measure risk")
    visitor.state("done")
    expected = shoal.anonymity(survey, ["region", "staff"])
    fact = visitor.one(".shoal-fact")
    assert fact.text.startswith(str(expected.k))
    table = visitor.all(".shoal-table")[-1]
    assert "north" not in table.text
    assert "north" not in visitor.driver.page_source
    visitor.click(visitor.labelled("div[@role='switch']", "Show values"))
    visitor.until(lambda: "north" in visitor.all(".shoal-table")[-1].text, what="the values")
    visitor.whole("risk")


def test_watch_pause_resume_and_keep_the_best(
    visitor: Visitor, survey: pl.DataFrame, downloads: Path
) -> None:
    visitor.open("/records?data=survey")
    visitor.choose("Method", "ilsmc")
    visitor.fill("Iterations", "100000000")
    visitor.press("Protect")
    visitor.state("running")
    visitor.until(lambda: visitor.all("canvas"), "the curve")
    visitor.press("Pause")
    visitor.state("paused")
    words = visitor.at_rest()
    visitor.shot("records-paused")
    visitor.press("Resume")
    visitor.until(lambda: visitor.one("[data-test=progress]").text != words, what="the search to go on")
    # Closing the tab loses nothing: the run goes on and is found again.
    address = visitor.driver.current_url
    visitor.driver.get("about:blank")
    visitor.driver.get(address)
    visitor.state("running")
    visitor.press("Stop and keep the best")
    visitor.state("done")
    visitor.see("K of the release", "Before and after", "Correlations")
    visitor.whole("records")
    visitor.offered()
    visitor.click(lambda: visitor.one("[data-file='release.csv']"))
    visitor.until((downloads / "release.csv").exists, what="the download")
    released = pl.read_csv(downloads / "release.csv")
    assert released.height == survey.height
    assert "firm_id" not in released.columns
    assert shoal.anonymity(released, ["turnover", "wages"]).k >= 5


@pytest.mark.usefixtures("survey")
def test_two_runs_at_once_cancel_and_crash(visitor: Visitor) -> None:
    runs = []
    for _ in range(2):
        visitor.open("/records?data=survey")
        visitor.choose("Method", "ilsmc")
        visitor.fill("Iterations", "100000000")
        visitor.press("Protect")
        visitor.state("running")
        visitor.until(lambda: "run=" in visitor.driver.current_url, what="the run in the address")
        visitor.until(lambda: "iterations" in visitor.one("[data-test=progress]").text, "the first glimpse")
        runs.append(visitor.driver.current_url)
    visitor.driver.get(runs[0])
    visitor.state("running")
    visitor.see("2 running")
    # The page answers while both search.
    visitor.open("/data")
    visitor.click(lambda: visitor.labelled("div[@role='tab']", "Sample"))
    visitor.see("Load people")
    visitor.tab("Generate")
    visitor.see("Number of people")
    visitor.see("2 running")
    visitor.driver.get(runs[0])
    visitor.state("running")
    visitor.press("Cancel")
    visitor.state("cancelled")
    visitor.see("cancelled; nothing was kept")
    # A worker that dies becomes a message on the page of its run.
    visitor.driver.get(runs[1])
    visitor.state("running")
    for worker in visitor.workers():
        os.kill(worker, signal.SIGKILL)
    visitor.state("failed")
    visitor.see("the worker process ended unexpectedly")


@pytest.mark.usefixtures("survey")
def test_compare_releases_on_the_map(visitor: Visitor) -> None:
    for k in (3, 8):
        visitor.run("microaggregate", data="survey", k=k, method="mdav", columns=["turnover", "wages"])
    visitor.open("/compare?data=survey")
    visitor.press("Compare")
    visitor.state("done")
    visitor.see("Risk–utility map", "mdav, k = 3", "mdav, k = 8")
    visitor.whole("compare")


def test_reports_are_self_contained_and_tell_no_value(visitor: Visitor, survey: pl.DataFrame) -> None:
    release = visitor.run("microaggregate", data="survey", k=4, method="mdav", columns=["turnover", "wages"])
    runs = [release, visitor.run("anonymity", data=["survey"], quasi=["region", "staff"])]
    runs.append(visitor.run("compare", data="survey", runs=[release]))
    table = {
        "dimensions": ["region", "staff"],
        "value": "turnover",
        "rules": ["frequency(3)"],
        "time_limit": 5,
    }
    runs.append(visitor.run("suppress", data="survey", **table))
    visitor.open("/reports")
    visitor.see("Open report")
    visitor.shot("reports")
    every = [item.get_attribute("href") for item in visitor.all("a[href$='report.html']")]
    # Others share the workbench, and some of them try what happens to addresses and scripts in data.
    links = [link for link in every if any(run in link for run in runs)]
    assert len(links) == len(runs)
    secret = [f"{value:.1f}" for value in survey["turnover"].sort(descending=True).head(5).to_list()]
    for link in links:
        visitor.driver.get(link)
        source = visitor.driver.page_source
        assert "checked by" in source
        assert "<script" not in source
        assert "://" not in source.replace("http://www.w3.org", "")
        assert not any(value in source for value in secret)
    visitor.shot("report")


def test_keyboard_alone(visitor: Visitor) -> None:
    from selenium.webdriver.common.keys import Keys

    visitor.open("/")
    visitor.shot("home")
    reached = set()
    for _ in range(30):
        visitor.driver.switch_to.active_element.send_keys(Keys.TAB)
        here = visitor.driver.switch_to.active_element
        reached.add(here.get_attribute("data-page") or here.get_attribute("href") or here.text)
        if here.get_attribute("data-page") == "/records":
            here.send_keys(Keys.ENTER)
            break
    visitor.until(
        lambda: "/records" in visitor.driver.current_url, what=f"the page by keyboard; reached {reached}"
    )


# A window cannot be made as narrow as a phone.
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}


def _fits(visitor: Visitor, path: str) -> None:
    visitor.settle()
    width = visitor.driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
    assert width <= 0, f"{path} is wider than a small screen"


@pytest.mark.usefixtures("survey")
def test_small_screens_phones_and_dark_without_a_complaint_of_the_browser(visitor: Visitor) -> None:
    visitor.have("firms")
    visitor.driver.set_window_size(1024, 640)
    visitor.open("/data?name=survey")
    visitor.press("Light or dark")
    visitor.until(lambda: visitor.all("body.body--dark"), what="the dark side")
    visitor.shot("data-dark-small")
    visitor.open("/reports")
    visitor.until(lambda: visitor.all("body.body--dark"), what="dark to stay")
    visitor.open("/records?data=survey")
    visitor.shot("records-dark-small")
    visitor.driver.set_window_size(800, 640)
    visitor.complaints()
    for path in (*PAGES, "/steps", "/change?data=firms", "/tables?data=firms"):
        visitor.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
        try:
            visitor.open(path)
            assert visitor.driver.execute_script("return window.innerWidth") == PHONE["width"]
            _fits(visitor, f"{path} on a phone")
        finally:
            visitor.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        _fits(visitor, path)
        assert visitor.driver.find_element(By.TAG_NAME, "h1").text
    assert visitor.complaints() == []
    for path in visitor.finished():
        visitor.open(path)
        _fits(visitor, path)
    visitor.shot("narrow")
    visitor.driver.set_window_size(1280, 800)
    visitor.press("Light or dark")
    visitor.until(lambda: visitor.all("body.body--light"), what="the light side")


def test_a_file_over_the_limit_is_told(driver: WebDriver, tmp_path: Path) -> None:
    (tmp_path / "large.csv").write_text("a,b\n" + "1,2\n" * 400_000)
    with served(tmp_path / "small", "--max-upload", "1") as small:
        visitor = Visitor(driver, small)
        visitor.open("/data")
        visitor.see("Up to 1 MB")
        visitor.upload(tmp_path / "large.csv")
        visitor.see("larger than the limit of 1 MB")
        driver.get("about:blank")  # a page that is left open would look for this server when it is gone
