"""Rules by their text: ``builder("intervals(5,10,20,top=85)")`` builds the same hierarchy wherever it is written."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from shoal.errors import InputError, unknown
from shoal.microdata.columns.hierarchies.cuts import Cuts
from shoal.microdata.columns.hierarchies.date_levels import DateLevels
from shoal.microdata.columns.hierarchies.intervals import Intervals
from shoal.microdata.columns.hierarchies.order import Order
from shoal.microdata.columns.hierarchies.prefixes import Prefix, Suffix
from shoal.microdata.columns.hierarchies.quantiles import Quantiles
from shoal.microdata.columns.hierarchies.rule import Rule
from shoal.microdata.columns.hierarchies.rule_text import read_rule_text
from shoal.microdata.columns.hierarchies.star import Star
from shoal.microdata.columns.hierarchies.top_coding import Bottom, Top

#: All rules by name; ``mask`` is another word for ``star``.
RULES: Mapping[str, type[Rule]] = MappingProxyType(
    {
        kind.name: kind
        for kind in (Intervals, Cuts, Quantiles, Top, Bottom, Prefix, Suffix, DateLevels, Order, Star)
    }
    | {"mask": Star}
)

_LOOKS_LIKE_A_RULE = re.compile(r"\s*[A-Za-z][\w-]*\s*\(.*\)\s*", re.DOTALL)


def builder(text: str) -> Rule:
    """The rule that a text says.

    >>> ages = builder("intervals(5,10,20,top=85)")
    >>> ages.hierarchy([31, 38, 91]).rows[-1]
    ('99', '>=85', '>=85', '>=80', '>=80', '*')
    >>> str(builder("order(low<middle<high)"))
    'order(low<middle<high)'
    """
    read = read_rule_text(text)
    if read.name not in RULES:
        raise unknown("rule", read.name, RULES)
    try:
        return RULES[read.name].read(read)
    except InputError as error:
        raise error.about("the hierarchy") from None


def is_rule(text: str) -> bool:
    """Whether a text is meant as a rule, and not as the name of a file.

    >>> is_rule("prefix"), is_rule("intervals(5)"), is_rule("age.csv"), is_rule("prefix.csv")
    (True, True, False, False)
    """
    return text.strip().lower() in RULES or _LOOKS_LIKE_A_RULE.fullmatch(text) is not None
