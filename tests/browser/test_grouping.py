"""Group attributes, look at the operators, and protect records in the groups found."""

import pytest
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.xdist_group("browser")


def test_groups_and_what_becomes_of_them(visitor: Visitor) -> None:
    visitor.have("firms")
    visitor.open("/grouping?data=firms")
    visitor.fill("Iterations", "12")
    visitor.press("Group")
    visitor.state("done")
    visitor.see("Operators", "The population, generation by generation")
    groups = [item.text.partition(": ")[2] for item in visitor.all("[data-test=group]")]
    assert sorted(name for group in groups for name in group.split(", ")) == [
        "costs",
        "staff",
        "turnover",
        "wages",
    ]
    visitor.whole("grouping")
    visitor.press("Protect records in these groups")
    visitor.see(f"in {len(groups)} groups")
    visitor.choose("Method", "mdav")
    visitor.press("Protect")
    visitor.state("done")
    visitor.see("K of the release")
    if len(groups) > 1:
        visitor.see(f"columns are protected in {len(groups)} separate groups")
