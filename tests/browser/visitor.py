"""A person at the workbench: looks for words on the page and presses what is labelled."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from selenium.common.exceptions import (
    ElementClickInterceptedException,
    ElementNotInteractableException,
    JavascriptException,
    StaleElementReferenceException,
)
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from tests.waiting import GUARD, until, until_at_rest
from tests.web.serving import Served, cancel_all, finished

# Pictures are for people to look at: no test does, and drawing pages whole takes long without a graphics card.
PICTURES = bool(os.environ.get("SHOAL_PICTURES"))
ARTEFACTS = Path(__file__).parents[2] / "artefacts" / "browser"
_BUSY = (StaleElementReferenceException, ElementClickInterceptedException, ElementNotInteractableException)
# The server answers through the line that brings what it has drawn, after what it drew for all that was sent before; the
# page deals with both in turn. Then one picture more, unless the page is not drawn, as one behind another is not. Whoever gets
# no answer asks again: a question may be lost while a page is connected again.
_SETTLE = """
const done = arguments[0];
const number = window.questions = (window.questions ?? 0) + 1;
const ask = () => window.socket.emit("event", {id: "settled", client_id: window.clientId, args: [number]});
const again = window.socket ? setInterval(ask, 10000) : 0;
window.settled = (answered) => {
  if (answered !== number) return;
  clearInterval(again);
  requestAnimationFrame(() => done(true));
  setTimeout(() => done(true), 2000);
};
window.socket ? ask() : window.settled(number);
"""
# Whether the press reaches what it is meant for, and not only what has taken its place.
_LISTEN = """
const item = arguments[0];
item.scrollIntoView({block: "center"});
window.pressed = false;
// What moves between pressing and letting go is missed, and what lies around it gets the click instead; that is right only
// for what takes no pointer itself.
const through = getComputedStyle(item).pointerEvents === "none";
const seen = (event) => { window.pressed ||= item.contains(event.target) || through && event.target.contains(item); };
window.addEventListener("click", seen, {capture: true, once: true});
const names = [...item.querySelectorAll("[id]")].map((one) => one.id);
for (let one = item; one; one = one.parentElement) names.push(one.id);
return names;
"""
# What a person sees of what is asked for, by a selector or a path; asked at once, since each question takes the driver a
# hundredth of a second or more.
_SHOWN = """
const [what, way] = arguments;
const sized = (item) => [...item.getClientRects()].some((box) => box.width > 0 && box.height > 0);
const shown = (item) => item.checkVisibility({visibilityProperty: true, opacityProperty: true})
  && (sized(item) || [...item.querySelectorAll("*")].some(sized));
const found = [];
if (way === "path") {
  const kind = XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, result = document.evaluate(what, document, null, kind);
  for (let place = 0; place < result.snapshotLength; place++) found.push(result.snapshotItem(place));
} else found.push(...document.querySelectorAll(what));
return found.filter(shown);
"""
# How many of some words are shown, one after the other: in the smallest parts of the page that hold them. What the letters
# of a part are costs nothing to ask; only where they are right the browser works out what is drawn of it.
_SEEN = """
const spaced = (text) => text.split(/\\s+/).join(" ").trim();
const letters = (text) => text.replace(/\\s+/g, "").toLowerCase();
const shown = (item) => item.checkVisibility({visibilityProperty: true, opacityProperty: true});
const reads = (item, words) => letters(item.textContent).includes(letters(words))
  && spaced(item.innerText ?? "").includes(words);
const holds = (item, words) => {
  if (!shown(item) || !reads(item, words)) return false;
  const below = [...item.children].filter((one) => reads(one, words));
  return !below.length || below.some((one) => holds(one, words));
};
let seen = 0;
while (document.body && seen < arguments[0].length && holds(document.body, spaced(arguments[0][seen]))) seen += 1;
return seen;
"""
_FIELDS = """
return [...document.querySelectorAll("input, textarea")].map((item) =>
  `${item.getAttribute("aria-label") ?? item.closest("label")?.innerText ?? ""}: ${item.value}`
  + (item === document.activeElement ? " (here)" : "") + (item.closest("[inert]") ? " (closed)" : ""));
"""
_ABLE = "return arguments[0].filter((item) => !item.disabled && !(item.getAttribute('class') ?? '').includes('disabled'))"


class Visitor:
    """The browser with a workbench in it."""

    def __init__(self, driver: WebDriver, served: Served) -> None:
        self.driver = driver
        self.served = served

    def open(self, path: str = "/") -> None:
        """Go to a page; the first time with an address that works once."""
        if not self.driver.current_url.startswith(self.served.root):
            self.driver.get(self.served.fresh())
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
        return httpx.Client(base_url=self.served.root, headers=self.served.headers, timeout=GUARD)

    def _ended(self, api: httpx.Client, run: str) -> None:
        view = finished(api, run)
        assert view["state"] == "done", view

    def leave(self) -> None:
        """End the runs that are left, so that the next visitor finds the workbench free."""
        with self._api() as api:
            cancel_all(api)

    def workers(self) -> list[int]:
        """The processes of the workbench that run, or wait for a run."""
        found = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(status.read_text().rpartition(")")[2].split()[1])
                if (
                    parent == self.served.process.pid
                    and "spawn_main" in (status.parent / "cmdline").read_text()
                ):
                    found.append(int(status.parent.name))
            except OSError:
                continue
        return found

    def at_rest(self) -> str:
        """Wait until a paused run stands still; what the page says of it."""
        return until_at_rest(lambda: self.one("[data-test=progress]").text, *self.workers())

    def until(self, condition: Callable[[], Any], what: str = "") -> Any:
        """Wait for something to come true."""

        def look() -> Any:
            try:
                return condition()
            except (StaleElementReferenceException, JavascriptException):
                return None  # the page is being drawn anew, or loaded

        def otherwise() -> str:
            self._keep("failure")
            return f"; the page says:\n{self.text[:3000]}\nand in its fields stands:\n{self._fields()}"

        return until(look, what, otherwise=otherwise)

    def _fields(self) -> str:
        """What stands in the fields of the page, and which of them has the keys."""
        lines: list[str] = self.driver.execute_script(_FIELDS)
        return "\n".join(lines)

    def settle(self) -> None:
        """Wait until the server has dealt with what was sent to it and the page shows what came back."""

        def settled() -> bool:
            try:
                return bool(self.driver.execute_async_script(_SETTLE))
            except JavascriptException:  # the page is just being loaded
                return False

        self.until(settled, "the page to settle")

    @property
    def text(self) -> str:
        """All words on the page."""
        return self.driver.find_element(By.TAG_NAME, "body").text

    def see(self, *words: str) -> None:
        """Wait until all these words are on the page, one after the other."""
        left = list(words)

        def look() -> bool:
            seen = self.driver.execute_script(_SEEN, left)
            # Where a line ends only the driver tells as a person would; that takes a hundred times the work.
            while seen and ("\n" not in left[0] or left[0] in self.text):
                left.pop(0)
                seen -= 1
            return not left

        self.until(look, f"the words {words!r}")

    def all(self, selector: str) -> list[WebElement]:
        found: list[WebElement] = self.driver.execute_script(_SHOWN, selector, "selector")
        return found

    def _along(self, path: str) -> list[WebElement]:
        found: list[WebElement] = self.driver.execute_script(_SHOWN, path, "path")
        return found

    def one(self, selector: str) -> WebElement:
        return self.until(lambda: self.all(selector), selector)[0]

    def labelled(self, tag: str, name: str) -> WebElement:
        """An element of a kind by its visible words or its spoken label."""
        path = (
            f"//{tag}[contains(normalize-space(.), {name!r}) or contains(@aria-label, {name!r})"
            f" or .//*[contains(@aria-label, {name!r})]]"
        )

        def look() -> WebElement | None:
            found = self._along(path)
            return found[-1] if found else None

        return self.until(look, f"{tag} {name!r}")

    def click(self, element: WebElement | Callable[[], WebElement]) -> None:
        """Press, as soon as it can be pressed; again, if the page was just drawing it anew and it was in vain."""

        def press() -> bool:
            item = element() if callable(element) else element
            before = len(self.served.lost)
            try:
                names = self.driver.execute_script(_LISTEN, item)
                item.click()
            except _BUSY:
                return False
            if not self.driver.execute_script("return window.pressed !== false"):
                return False
            self.settle()
            return not set(names) & set(self.served.lost[before:])

        self.until(press, "something that can be pressed")

    def press(self, name: str) -> None:
        """Press a button by its words."""
        path = (
            f"//*[(self::button or self::a or @role='checkbox') and"
            f" (normalize-space(.)={name!r} or contains(@aria-label, {name!r})"
            f" or .//span[normalize-space(.)={name!r}])]"
        )
        self.settle()
        self.click(lambda: self._enabled(path, name))

    def remove(self, name: str) -> None:
        """Remove data, and mean it."""
        self.click(lambda: self.one(f"[aria-label='Remove {name}']"))
        self.mean_it()
        self.until(lambda: not self.all(f"[data-dataset='{name}']"), f"the removal of {name!r}")

    def mean_it(self) -> None:
        """Answer the question that is asked with yes."""
        self.click(lambda: self.one(".q-dialog [data-test=confirm]"))
        self.until(lambda: not self.all(".q-dialog"), "the question to go")

    def know(self) -> None:
        """Confirm that a release is below k, so that its files are offered."""
        self.press("I know, offer the files")
        self.mean_it()
        self.offered()

    def offered(self) -> None:
        """Wait for the files of a run; one that is below k is confirmed first, for tests that are about something else."""
        self.until(lambda: self.all("[data-file], [data-test=danger]"), "the files of the run")
        if self.all("[data-test=danger]"):
            self.know()

    def _enabled(self, path: str, name: str) -> WebElement:
        def look() -> WebElement | None:
            able = self.driver.execute_script(_ABLE, self._along(path))
            return able[0] if able else None

        return self.until(look, f"the button {name!r}")

    def tab(self, name: str) -> None:
        self.click(lambda: self.labelled("div[@role='tab']", name))

    def field(self, label: str) -> WebElement:
        """The box of a field."""
        return self.labelled("label[contains(@class, 'q-field')]", label)

    def fill(self, label: str, value: str) -> None:
        """Write into a field, look at what stands there, and leave it; again, if keys went astray on a busy machine."""

        def write() -> bool:
            try:
                box = self.field(label).find_element(By.CSS_SELECTOR, "input, textarea")
                self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", box)
                box.send_keys(Keys.CONTROL, "a", Keys.NULL, Keys.DELETE, value)
                self.settle()
                if box.get_property("value") != value:
                    return False
                box.send_keys(Keys.TAB)
            except _BUSY:
                return False
            return True

        self.settle()
        self.until(write, f"{value!r} in the field {label!r}")
        self.settle()

    def choose(self, label: str, *options: str) -> None:
        """Choose from a list; in a list of several, each option is switched."""
        self.click(lambda: self.field(label).find_element(By.CSS_SELECTOR, ".q-field__append"))
        for option in options:
            self.click(lambda option=option: self._option(option))
            self.settle()
        self.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        self.until(lambda: not self.all(".q-menu"), "the list to close")

    def unfold(self, words: str) -> None:
        """Open a part of the form that is folded away."""
        item = "div[contains(@class, 'q-expansion-item')]"
        self.click(lambda: self.labelled(f"{item}//div[@role='button']", words))
        self.labelled(f"{item}[contains(@class, '--expanded')]", words)
        self.settle()

    def _option(self, name: str) -> WebElement:
        item = "//div[contains(@class, 'q-menu')]//div[contains(@class, 'q-item') and {}]"
        path = item.format(f"normalize-space(.)={name!r}")
        begins = item.format(f"starts-with(normalize-space(.), {name!r})")

        def look() -> WebElement | None:
            found = self.driver.find_elements(By.XPATH, path) or self.driver.find_elements(By.XPATH, begins)
            return found[0] if found else None

        return self.until(look, f"the option {name!r}")

    def upload(self, *files: Path) -> None:
        """Give files to the page."""

        def give() -> bool:
            try:
                box = self.driver.find_element(By.CSS_SELECTOR, ".q-uploader input[type=file]")
                box.send_keys("\n".join(str(file) for file in files))
            except _BUSY:
                return False
            return True

        self.settle()
        self.until(give, "the field for files")

    def state(self, wanted: str) -> None:
        """Wait until the run on the page is in a state; one that has failed will not be in another."""

        def reached() -> bool:
            shown = [item.text.lower() for item in self.all("[data-test=state]")]
            assert "failed" not in shown or wanted == "failed", self.text[:3000]
            return wanted in shown

        self.until(reached, f"the state {wanted!r}")

    def shot(self, name: str) -> None:
        """Keep a picture of the page, where pictures are asked for."""
        if PICTURES:
            self._keep(name)

    def whole(self, name: str) -> None:
        """Keep a picture of the page from top to bottom, where pictures are asked for."""
        if not PICTURES:
            return
        height = self.driver.execute_script("return document.body.scrollHeight")
        width = self.driver.get_window_size()["width"]
        self.driver.set_window_size(width, min(4000, max(720, height + 150)))
        self.settle()
        self._keep(name)
        self.driver.set_window_size(width, 800)

    def _keep(self, name: str) -> None:
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(ARTEFACTS / f"{name}.png"))

    def complaints(self) -> list[str]:
        """What the browser's console complains about."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
