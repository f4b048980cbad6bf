"""Kinds of settings that operations on records share."""

import re
from typing import Annotated, Any, Literal, TypeAlias

from shoal.microdata.columns.orders import orders_in_words, parse_orders
from shoal.settings import Spelling
from shoal.written_values import groups_in_words, in_groups, split_groups


def _in_words(ordinal: Any) -> str:
    stated = orders_in_words(ordinal)
    plain = [name for name in ordinal if not (isinstance(ordinal, dict) and ordinal[name])]
    return ",".join([*plain, *([stated] if stated else [])])


#: Columns whose order counts, not their values; of texts each with its values, lowest first.
Ordinal: TypeAlias = Annotated[
    list[str] | dict[str, list[str] | None],
    Spelling("orders", '"a,b=low<high"', parse_orders, _in_words, names=list),
]


def _groups_or_auto(text: str) -> Any:
    return "auto" if text == "auto" else split_groups(text)


#: Groups of columns, or ``auto``: they are looked for.
GroupsOrAuto: TypeAlias = Annotated[
    list[list[str]] | Literal["auto"],
    Spelling("groups", '"a,b;c,d"|auto', _groups_or_auto, groups_in_words, names=in_groups),
]


def _split_hierarchies(texts: str | list[str]) -> dict[str, str]:
    # A form has one line for all of them; semicolons within brackets belong to a rule.
    parts = re.split(r";(?![^()]*\))", texts) if isinstance(texts, str) else texts
    found = {}
    for part in filter(str.strip, parts):
        name, equals, given = part.partition("=")
        if not equals or not name.strip() or not given.strip():
            raise ValueError(f"needs COLUMN=FILE or COLUMN=RULE, not '{part}'")
        if name.strip() in found:
            raise ValueError(f"says column '{name.strip()}' twice")
        found[name.strip()] = given.strip()
    return found


def _is_rule(text: str) -> bool:
    from shoal.microdata.columns.hierarchies.builders import is_rule

    return is_rule(text)


def _are_rules(hierarchies: dict[str, str]) -> None:
    from shoal.microdata.columns.hierarchies.as_hierarchy import hierarchy_or_rule

    for name, text in hierarchies.items():
        if _is_rule(text):
            hierarchy_or_rule(text, name)


#: For columns what their values become, level by level: a file (in the workbench data), or a rule.
HierarchyTexts: TypeAlias = Annotated[
    dict[str, str],
    Spelling(
        "hierarchies",
        "a=FILE|RULE",
        _split_hierarchies,
        lambda hierarchies: "; ".join(f"{name}={text}" for name, text in hierarchies.items()),
        repeated=True,
        names=list,
        places=lambda hierarchies: [text for text in hierarchies.values() if not _is_rule(text)],
        check=_are_rules,
    ),
]
