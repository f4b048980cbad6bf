"""Steps: a run becomes one, its release the data of the next, and a change is undone."""

import pytest
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.xdist_group("browser")


def test_a_run_is_a_step_and_its_release_the_next_data(visitor: Visitor) -> None:
    visitor.have("firms")
    run = visitor.run("microaggregate", data="firms", columns=["staff"], k=3, method="mdav")
    visitor.open(f"/records?run={run}")
    visitor.press("Use as data of the next step")
    visitor.see("is among the data now")
    visitor.open("/steps")
    visitor.see("Take it along", "Shell commands")
    before = len(visitor.all("[aria-label='Take this step out']"))
    visitor.click(lambda: visitor.all("[aria-label='Take this step out']")[-1])
    visitor.until(lambda: len(visitor.all("[aria-label='Take this step out']")) == before - 1)
    visitor.press("Undo")
    visitor.until(lambda: len(visitor.all("[aria-label='Take this step out']")) == before)
    visitor.whole("steps")
