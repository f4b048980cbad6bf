"""The pictures of the README: the workbench and a report, of people who are invented.

python -m tests.browser.pictures        writes docs/images/workbench.png and docs/images/report.png
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.browser.chromium import chromium
from tests.browser.visitor import Visitor
from tests.web.serving import served

_IMAGES = Path(__file__).parents[2] / "docs" / "images"
_SIZE = 1280, 860
_DATA, _KEYS, _DROPPED = "people.csv", ["AGE", "CP", "SEX"], ["ID", "REC_RAND", "REC_INTELLIGENT"]


def main() -> None:
    """Draw both."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _shoal(folder, f"generate people --population 2000 --distribution spain --postcodes 6 -o {_DATA}")
        _shoal(
            folder,
            f"recode {_DATA} --quasi {','.join(_KEYS)} -k 5 --method local --drop {','.join(_DROPPED)} "
            "-o safe.csv --report report.html",
        )
        with (
            chromium(folder / "profile", folder) as driver,
            served(folder / "workspace") as workbench,
        ):
            driver.set_window_size(*_SIZE)
            visitor = Visitor(driver, workbench)
            visitor.have("people", (folder / _DATA).read_bytes())
            visitor.run("recode", data="people", quasi=_KEYS, drop=_DROPPED, k=5, method="local")
            visitor.open(visitor.finished()[-1])
            visitor.settle()
            driver.save_screenshot(str(_IMAGES / "workbench.png"))
            driver.get((folder / "report.html").as_uri())
            driver.execute_script("document.querySelectorAll('h2')[1].scrollIntoView()")
            driver.save_screenshot(str(_IMAGES / "report.png"))


def _shoal(folder: Path, command: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "shoal", *command.split()], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )


if __name__ == "__main__":
    main()
