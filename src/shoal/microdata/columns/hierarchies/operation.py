"""``hierarchy`` as an operation: drafts of hierarchies for the columns of some data, to be edited and used to recode."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.microdata.columns.hierarchies.settings import HierarchySettings
from shoal.operation import Operation, Product, Workplace, call

if TYPE_CHECKING:
    from shoal.microdata.columns.hierarchies.api import Hierarchies
    from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
    from shoal.microdata.columns.hierarchies.rule import Rule

_FILES = ("csv", "txt", "tsv", "hrc")


def run(settings: HierarchySettings, workplace: Workplace) -> "Hierarchies":
    """Propose a hierarchy for each column."""
    from shoal.microdata.columns.hierarchies.api import RULES_FILE, file_names, propose_hierarchies
    from shoal.microdata.columns.orders import read_orders, value_label_orders

    records = workplace.records(settings.data)
    workplace.say("building hierarchies")
    orders: Any = read_orders(settings.ordinal)
    columns = settings.columns
    if columns is None:
        columns = [*dict.fromkeys([*records.knowable, *settings.hierarchies, *orders])]
    if records.labels is not None:
        # What the file calls ordinal is so, unless somebody says more about it.
        measures = records.labels.measures
        ordinal = {name: None for name in columns if measures.get(name) == "ordinal"}
        orders = value_label_orders({**ordinal, **orders}, records.labels.values, measures)
    found = call(
        propose_hierarchies,
        settings,
        workplace,
        records.as_written,
        columns=columns,
        hierarchies=read_hierarchies(settings.hierarchies, workplace),
        ordinal=orders,
    )
    workplace.wanted("output", [*file_names(found), RULES_FILE])
    return found


def read_hierarchies(texts: Mapping[str, str], workplace: Workplace) -> "dict[str, Rule | Hierarchy]":
    """What is given for columns, as a front end has it: rules, files, or data of the workspace."""
    return {name: _read_one(name, text, workplace) for name, text in texts.items()}


def _read_one(name: str, text: str, workplace: Workplace) -> "Rule | Hierarchy":
    from shoal.errors import InputError
    from shoal.microdata.columns.hierarchies.as_hierarchy import from_frame
    from shoal.microdata.columns.hierarchies.builders import builder, is_rule
    from shoal.microdata.columns.hierarchies.files import read_hierarchy

    try:
        if is_rule(text):
            return builder(text)
        path = next(
            (path for ending in _FILES if (path := workplace.as_file(text, ending)) is not None), None
        )
        if path is not None:
            return read_hierarchy(path)
        return from_frame(workplace.listed(text), f"data {text}")
    except InputError as error:
        raise error.about(f"column '{name}'") from None


def read_files(texts: Mapping[str, str]) -> list[str]:
    """The files or data among what is given for columns."""
    from shoal.microdata.columns.hierarchies.builders import is_rule

    return [text for text in texts.values() if not is_rule(text)]


def _titled(settings: HierarchySettings) -> str:
    columns = f" {', '.join(settings.columns)}" if settings.columns else ""
    return f"Hierarchies of {settings.data}:{columns}" if columns else f"Hierarchies of {settings.data}"


OPERATION = Operation(
    name="hierarchy",
    title="Draft hierarchies",
    summary="Draft for each column what its values become, level by level.",
    description="Says for each column the rule, why it is this one, and how many labels each level has. The files, one for each "
    "column, are those of ARX; they hold values of the data and are internal. A rule can be given in place of a file.",
    examples=(
        "shoal hierarchy survey.csv --columns age,zip,education -o hierarchies",
        'shoal hierarchy survey.csv --columns age --hierarchy "age=intervals(5,10,20,bottom=20,top=85)"',
    ),
    settings=HierarchySettings,
    run=run,
    reads=lambda settings: [settings.data, *read_files(settings.hierarchies)],
    titled=_titled,
    products=(
        Product(
            "output",
            "Write a file for each column, and their rules, into this folder (internal).",
            lambda drafts, settings: drafts.files(),
            form="folder",
            short="-o",
            metavar="FOLDER",
            internal=True,
            files=(("hierarchies.zip", "Hierarchies, a file for each column, internal"),),
            lacking="no files of hierarchies",
            subject="the hierarchies",
        ),
    ),
    reporter="shoal.microdata.columns.hierarchies.report",
    function="shoal.microdata.columns.hierarchies.api:propose_hierarchies",
)
