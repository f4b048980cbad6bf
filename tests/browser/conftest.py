"""One headless Chromium and one workbench for all browser tests of a process; they skip where there is no browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from tests.browser.chromium import chromium, is_here
from tests.browser.visitor import Visitor
from tests.web.serving import Served, served


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    if not is_here():
        pytest.skip("no Chromium with its driver here; on Debian: apt-get install chromium chromium-driver")
    with chromium(tmp_path_factory.mktemp("profile"), tmp_path_factory.mktemp("downloads")) as driver:
        yield driver


@pytest.fixture(scope="session")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("bench") / "workspace") as found:
        yield found


@pytest.fixture
def visitor(driver: WebDriver, workbench: Served) -> Iterator[Visitor]:
    driver.set_window_size(1280, 800)
    visitor = Visitor(driver, workbench)
    try:
        yield visitor
    finally:
        visitor.leave()


@pytest.fixture
def downloads(driver: WebDriver) -> Path:
    folder: Path = driver.downloads  # type: ignore[attr-defined]
    for path in folder.iterdir():
        path.unlink()
    return folder
