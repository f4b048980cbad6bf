"""The options of a method: shown when it is chosen, checked as they are written, found again with the run."""

import pytest
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.xdist_group("browser")


def test_options_of_microaggregation(visitor: Visitor) -> None:
    visitor.have("firms")
    visitor.open("/records?data=firms")
    visitor.choose("Method", "univariate")
    visitor.see("univariate has no options of its own.")
    visitor.choose("Method", "v-mdav")
    visitor.unfold("More options")
    visitor.see("How readily a group takes one more record")
    visitor.fill("Gamma", "-2")
    visitor.see("must be at least 0")
    visitor.press("Protect")
    visitor.see("option 'gamma' of method 'v-mdav'")
    assert not visitor.all("[data-test=state]")
    visitor.fill("Gamma", "1.1")
    visitor.see("On the command line: --option gamma=1.1")
    visitor.unfold("Records and values")
    visitor.see("Importance of the columns in the distance")
    visitor.fill("staff", "2")
    visitor.unfold("What could be known")
    # Region and sector of the firms are quasi-identifiers by their role, and some firms are alone in theirs.
    visitor.fill("Required K", "1")
    visitor.whole("records-options")
    visitor.press("Protect")
    visitor.state("done")
    # Whoever opens the run again finds what was asked.
    visitor.open(visitor.driver.current_url.removeprefix(visitor.served.root))
    visitor.see("On the command line: --option gamma=1.1")
    visitor.press("Usual values")
    visitor.see("All as usual.")


def test_options_of_grouping(visitor: Visitor) -> None:
    visitor.have("firms")
    visitor.open("/grouping?data=firms")
    visitor.unfold("More options")
    visitor.fill("Population", "12")
    visitor.fill("Crossovers", "5")
    visitor.see("--option population=12 --option crossovers=5")
    visitor.fill("Iterations", "4")
    visitor.whole("grouping-options")
    visitor.press("Group")
    visitor.state("done")
    visitor.see("proved optimal")
