"""How pages call a parameter that a message names: by the label of its field."""

from shoal.errors import Spell, as_words
from shoal.operations import OPERATIONS

# What is no setting of an operation, and has a field or a tick all the same.
_FIELDS = {"force": "replace", "header_row": "Header row"}


def field_names(kind: str) -> Spell:
    """The spelling of an activity: labels of its form, with the words for a choice where one is named.

    >>> spell = field_names("microaggregate")
    >>> spell("columns", None), spell("missing", "aside"), spell("force", None)
    ("'Columns to protect'", "'Records with gaps: are set aside, not released'", "'replace'")
    """
    items = {item.name: item for item in OPERATIONS[kind].fields()} if kind in OPERATIONS else {}

    def spell(name: str, value: str | None) -> str:
        if name not in items:
            return as_words(_FIELDS.get(name, name), value)
        item = items[name]
        return f"'{item.label}'" if value is None else f"'{item.label}: {item.words.get(value, value)}'"

    return spell
