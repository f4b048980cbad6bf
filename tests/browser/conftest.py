"""One headless Chromium and one workbench for all browser tests of a process; they skip where there is no browser."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.chrome.webdriver import WebDriver
from tests.browser.visitor import Visitor
from tests.waiting import GUARD
from tests.web.serving import Served, served

_FLAGS = (
    "--headless=new",
    "--no-sandbox",  # Chromium refuses to run as root with it
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-prefers-reduced-motion",
    "--window-size=1280,800",
)


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    browser, control = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or control is None:
        pytest.skip("no Chromium with its driver here; on Debian: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in _FLAGS:
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    folder = tmp_path_factory.mktemp("downloads")
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(control))
    # Longer than what it asks for: the driver is to say what took too long.
    driver.command_executor.client_config.timeout = 2 * GUARD
    driver.set_script_timeout(GUARD)
    driver.set_page_load_timeout(GUARD)
    driver.downloads = folder  # type: ignore[attr-defined]
    try:
        yield driver
    finally:
        driver.quit()


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
