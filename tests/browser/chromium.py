"""A headless Chromium, as the tests and the pictures of the manual drive it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.chrome.webdriver import WebDriver
from tests.waiting import GUARD

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


def is_here() -> bool:
    """Whether there is a Chromium with its driver."""
    return shutil.which("chromium") is not None and shutil.which("chromedriver") is not None


@contextmanager
def chromium(profile: Path, downloads: Path) -> Iterator[WebDriver]:
    """Start it with a profile of its own, and end it afterwards."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in _FLAGS:
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={profile}")
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    # Longer than what it asks for: the driver is to say what took too long.
    driver.command_executor.client_config.timeout = 2 * GUARD
    driver.set_script_timeout(GUARD)
    driver.set_page_load_timeout(GUARD)
    driver.downloads = downloads  # type: ignore[attr-defined]
    try:
        yield driver
    finally:
        driver.quit()
