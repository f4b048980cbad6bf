"""Protect records from the first file to the signed report."""

import time
from pathlib import Path

import pytest
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.xdist_group("browser")


def test_load_measure_protect(visitor: Visitor, tmp_path: Path, downloads: Path) -> None:
    visitor.open("/")
    visitor.see("Begin with data")
    visitor.shot("home")
    visitor.open("/data")
    visitor.shot("data-empty")
    visitor.tab("Sample")
    visitor.press("Load firms")
    visitor.see("Columns of firms", "turnover")
    visitor.whole("data")
    visitor.open("/risk?data=firms")
    visitor.press("Measure risk")
    visitor.state("done")
    visitor.see("K, the smallest crowd")
    visitor.whole("risk")
    visitor.open("/records?data=firms")
    visitor.choose("Method", "ilsmc")
    visitor.fill("Iterations", "100000000")
    visitor.press("Protect")
    visitor.state("running")
    visitor.until(lambda: "iterations" in visitor.text and visitor.all("canvas"), 60, "the curve")
    visitor.press("Pause")
    visitor.state("paused")
    visitor.shot("records-paused")
    visitor.press("Resume")
    visitor.state("running")
    time.sleep(1)
    visitor.press("Stop and keep the best")
    visitor.state("done")
    visitor.see("K of the release")
    visitor.whole("records")
    visitor.open("/reports")
    visitor.see("Open report")
    visitor.shot("reports")
    print(visitor.complaints())
