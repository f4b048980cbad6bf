"""Remarks and errors name options of the command line; on a page they name its fields."""

import re

# The longer ones first: a phrase is replaced before the option inside it.
_PHRASES = (
    ("name columns with --columns or --ordinal", "choose columns to protect, or columns whose order counts"),
    ("name those to protect with --columns", "choose those to protect"),
    ("leave it out of --columns, or name it in --ordinal if its values have an order", "leave it out of the columns to "
     "protect, or choose it among those whose order counts"),
    ("leave it out of --columns", "leave it out of the columns to protect"),
    ("protect it with --columns, or drop it", "protect it too, or drop it"),
    ("choose --missing aside (not released) or --missing impute (filled with the mean of the group)",
     "under 'Records with gaps' let them be set aside or filled in"),
    ("choose --missing aside to leave them out", "let them be set aside"),
    ("state it from the lowest on: --ordinal ", "state it from the lowest on under 'Orders of texts': "),
    ("--ordinal needs columns", "'Orders of texts' needs columns"),
    ("--ordinal has a quote", "'Orders of texts' has a quote"),
    ("--ordinal to group by rank", "protect by rank (columns whose order counts)"),
    ("--order sorted removes that", "sorting the released records removes that"),
    ("--force replaces it", "tick 'replace' to replace it"),
    (", or URL::table for a database", ""),
    ("--encoding reads it otherwise", "the field 'Encoding' reads it otherwise"),
    ("or --encoding is needed", "or the field 'Encoding' is needed"),
    ("--encoding is needed", "the field 'Encoding' is needed"),
)  # fmt: skip


def page_words(text: str) -> str:
    """A message in the words of the pages.

    >>> page_words("table 'people' exists already; --force replaces it")
    "table 'people' exists already; tick 'replace' to replace it"
    """
    text = " ".join(text.split())
    for said, ours in _PHRASES:
        text = text.replace(said, ours)
    return re.sub(r"(?<!\w)--([a-z-]+)", lambda match: f"'{match[1].replace('-', ' ')}'", text)
