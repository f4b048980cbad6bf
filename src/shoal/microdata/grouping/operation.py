"""``group`` as an operation: which columns of some data to microaggregate together."""

from typing import TYPE_CHECKING

from shoal.errors import parameter
from shoal.microdata.grouping.settings import GroupSettings
from shoal.operation import Operation, Workplace, call

if TYPE_CHECKING:
    from shoal.microdata.grouping.result import AttributeGrouping


def run(settings: GroupSettings, workplace: Workplace) -> "AttributeGrouping":
    """Find the groups, or score those that are given."""
    from shoal.microdata.grouping.api import group_attributes

    workplace.say("reading")
    records = workplace.records(settings.data)
    workplace.say("searching")
    return call(group_attributes, settings, workplace, records.frame)


OPERATION = Operation(
    name="group",
    title="Group attributes",
    summary="Find which columns to microaggregate together.",
    description="Groupings are compared by really microaggregating: half of the score is information loss, half disclosure risk."
    f"\n\nCtrl-C or {parameter('time_limit')} end the search with the best found so far.",
    examples=(
        "shoal group survey.csv -k 25 --report groups.html",
        "shoal group firms.csv -k 10 --columns turnover,staff,profit,assets --method exact",
    ),
    doing="grouping",
    settings=GroupSettings,
    run=run,
    reads=lambda settings: [settings.data],
    titled=lambda settings: f"Groups of {settings.data}: k = {settings.k}, {settings.method}",
    methods="shoal.microdata.grouping.methods:METHODS",
    reporter="shoal.microdata.grouping.report",
    function="shoal.microdata.grouping.api:group_attributes",
)
