"""A person at the workbench: looks for words on the page and presses what is labelled."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from selenium.common.exceptions import (
    ElementClickInterceptedException,
    ElementNotInteractableException,
    StaleElementReferenceException,
)
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from tests.web.serving import Served

ARTEFACTS = Path(__file__).parents[2] / "artefacts" / "browser"
_BUSY = (StaleElementReferenceException, ElementClickInterceptedException, ElementNotInteractableException)


class Visitor:
    """The browser with a workbench in it."""

    def __init__(self, driver: WebDriver, served: Served) -> None:
        self.driver = driver
        self.served = served

    def open(self, path: str = "/") -> None:
        """Go to a page; the first time with the address that 'shoal serve' printed."""
        if not self.driver.current_url.startswith(self.served.root):
            self.driver.get(self.served.address)
        self.driver.get(self.served.root + path)
        self.until(lambda: self.driver.execute_script("return !!window.socket && window.socket.connected"))

    def have(self, name: str, content: bytes | None = None) -> None:
        """See to it that data is in the workspace: a sample, or a file of this content; without the page, for speed."""
        with self._api() as api:
            if name in [item["name"] for item in api.get("/api/data").json()]:
                return
            if content is None:
                sent = api.post(f"/api/data/samples/{name}")
            else:
                sent = api.post("/api/data", files={"file": (f"{name}.csv", content)})
            self._ended(api, sent.json()["run"])

    def run(self, kind: str, **request: Any) -> str:
        """A finished run, without the page, for speed."""
        with self._api() as api:
            run: str = api.post(f"/api/jobs/{kind}", json=request).json()["run"]
            self._ended(api, run)
            return run

    def finished(self) -> list[str]:
        """The addresses of the latest finished run of each kind."""
        from shoal.web.pages.reports import page_of

        with self._api() as api:
            jobs = [job for job in api.get("/api/jobs").json() if job["state"] == "done"]
        latest = {job["kind"]: job["run"] for job in reversed(jobs)}
        return [f"{page_of(kind)}?run={run}" for kind, run in latest.items() if page_of(kind) != "/reports"]

    def _api(self) -> httpx.Client:
        return httpx.Client(base_url=self.served.root, headers=self.served.headers, timeout=90)

    def _ended(self, api: httpx.Client, run: str) -> None:
        for _ in range(4):
            view = api.get(f"/api/jobs/{run}", params={"wait": 60}).json()
            if view["state"] not in ("waiting", "running"):
                break
        assert view["state"] == "done", view

    def until(self, condition: Callable[[], Any], seconds: float = 20, what: str = "") -> Any:
        """Wait for something to come true."""
        end = time.monotonic() + seconds
        while True:
            try:
                if found := condition():
                    return found
            except StaleElementReferenceException:
                pass
            if time.monotonic() > end:
                self.shot("failure")
                raise AssertionError(
                    f"waited in vain for {what or condition}; the page says:\n{self.text[:3000]}"
                )
            time.sleep(0.05)

    @property
    def text(self) -> str:
        """All words on the page."""
        return self.driver.find_element(By.TAG_NAME, "body").text

    def see(self, *words: str, seconds: float = 20) -> None:
        """Wait until all these words are on the page."""
        for word in words:
            self.until(lambda word=word: word in self.text, seconds, f"the words {word!r}")

    def all(self, selector: str) -> list[WebElement]:
        return [item for item in self.driver.find_elements(By.CSS_SELECTOR, selector) if item.is_displayed()]

    def one(self, selector: str, seconds: float = 20) -> WebElement:
        return self.until(lambda: self.all(selector), seconds, selector)[0]

    def labelled(self, tag: str, name: str, seconds: float = 20) -> WebElement:
        """An element of a kind by its visible words or its spoken label."""
        path = (
            f"//{tag}[contains(normalize-space(.), {name!r}) or contains(@aria-label, {name!r})"
            f" or .//*[contains(@aria-label, {name!r})]]"
        )

        def look() -> WebElement | None:
            found = [item for item in self.driver.find_elements(By.XPATH, path) if item.is_displayed()]
            return found[-1] if found else None

        return self.until(look, seconds, f"{tag} {name!r}")

    def click(self, element: WebElement | Callable[[], WebElement], seconds: float = 10) -> None:
        """Press, as soon as it can be pressed."""

        def press() -> bool:
            item = element() if callable(element) else element
            try:
                self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", item)
                item.click()
            except _BUSY:
                return False
            return True

        self.until(press, seconds, "something that can be pressed")

    def press(self, name: str) -> None:
        """Press a button by its words."""
        path = (
            f"//*[(self::button or self::a or @role='checkbox') and"
            f" (normalize-space(.)={name!r} or contains(@aria-label, {name!r})"
            f" or .//span[normalize-space(.)={name!r}])]"
        )
        self.click(lambda: self._enabled(path, name))

    def _enabled(self, path: str, name: str) -> WebElement:
        def look() -> WebElement | None:
            found = [item for item in self.driver.find_elements(By.XPATH, path) if item.is_displayed()]
            able = [
                item
                for item in found
                if item.is_enabled() and "disabled" not in (item.get_attribute("class") or "")
            ]
            return able[0] if able else None

        return self.until(look, 20, f"the button {name!r}")

    def tab(self, name: str) -> None:
        self.click(lambda: self.labelled("div[@role='tab']", name))

    def field(self, label: str) -> WebElement:
        """The box of a field."""
        return self.labelled("label[contains(@class, 'q-field')]", label)

    def fill(self, label: str, value: str) -> None:
        """Write into a field."""
        box = self.field(label).find_element(By.CSS_SELECTOR, "input, textarea")
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", box)
        box.send_keys(Keys.CONTROL, "a")
        box.send_keys(Keys.DELETE)
        box.send_keys(value)
        box.send_keys(Keys.TAB)
        time.sleep(0.15)

    def choose(self, label: str, *options: str) -> None:
        """Choose from a list; in a list of several, each option is switched."""
        self.click(lambda: self.field(label).find_element(By.CSS_SELECTOR, ".q-field__append"))
        for option in options:
            self.click(lambda option=option: self._option(option))
            time.sleep(0.15)
        self.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        self.until(lambda: not self.all(".q-menu"), 5, "the list to close")

    def _option(self, name: str) -> WebElement:
        item = "//div[contains(@class, 'q-menu')]//div[contains(@class, 'q-item') and {}]"
        path = item.format(f"normalize-space(.)={name!r}")
        begins = item.format(f"starts-with(normalize-space(.), {name!r})")

        def look() -> WebElement | None:
            found = self.driver.find_elements(By.XPATH, path) or self.driver.find_elements(By.XPATH, begins)
            return found[0] if found else None

        return self.until(look, 10, f"the option {name!r}")

    def upload(self, *files: Path) -> None:
        """Give files to the page."""
        box = self.driver.find_element(By.CSS_SELECTOR, ".q-uploader input[type=file]")
        box.send_keys("\n".join(str(file) for file in files))

    def state(self, wanted: str, seconds: float = 60) -> None:
        """Wait until the run on the page is in a state."""
        self.until(
            lambda: [item for item in self.all("[data-test=state]") if item.text.lower() == wanted],
            seconds,
            f"the state {wanted!r}",
        )

    def shot(self, name: str) -> Path:
        """Keep a picture of the page."""
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        path = ARTEFACTS / f"{name}.png"
        self.driver.save_screenshot(str(path))
        return path

    def whole(self, name: str) -> Path:
        """Keep a picture of the page from top to bottom."""
        height = self.driver.execute_script("return document.body.scrollHeight")
        width = self.driver.get_window_size()["width"]
        self.driver.set_window_size(width, min(4000, max(720, height + 150)))
        time.sleep(0.4)
        path = self.shot(name)
        self.driver.set_window_size(width, 800)
        return path

    def complaints(self) -> list[str]:
        """What the browser's console complains about."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
