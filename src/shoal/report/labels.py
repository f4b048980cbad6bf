"""Labels of charts that are never cut: long ones go over several lines, and there is room for the widest of usual fonts."""

import re
from collections.abc import Sequence
from typing import Any

# The width of a letter at the size that is drawn, of a font as wide as any that browsers take for "sans-serif".
LETTER = 6.6
# Pictures are laid out with letters this much larger than they are drawn: the fonts of a reader may be wider than those
# that were measured.
_ROOM = 1.25
_SIZES = re.compile(r'font-size="([\d.]+)px"')
_WORD = re.compile(r"\S*?[_\-./,;:](?=\S)|\S+\s*|\s+")


def wrapped(text: str, longest: int) -> str:
    r"""A text in lines of at most so many letters, broken after spaces and signs where there are any.

    >>> wrapped("income of the household", 12)
    'income of\nthe\nhousehold'
    >>> wrapped("a_long_name", 7), wrapped("abcdefgh", 5), wrapped("short", 12)
    ('a_long_\nname', 'abcde\nfgh', 'short')
    """
    lines = [""]
    for word in _WORD.findall(text):
        if lines[-1] and len(lines[-1]) + len(word.rstrip()) > longest:
            lines.append("")
        while len(word.rstrip()) > longest:
            lines[-1], word = word[:longest], word[longest:]
            lines.append("")
        lines[-1] += word
    return "\n".join(line.rstrip() for line in lines if line.strip())


def different(names: Sequence[str], longest: int) -> list[str]:
    """The names in lines; two names never become one."""
    lines = [wrapped(str(name), longest) for name in names]
    return lines if len(set(lines)) == len(set(names)) else [str(name) for name in names]


def widest(names: Sequence[str]) -> float:
    """How much room the longest line of all names takes."""
    return LETTER * max((len(line) for name in names for line in name.split("\n")), default=0)


def with_room(chart: Any) -> Any:
    """A chart in which no label has a limit, laid out for larger letters than will be drawn."""
    small, large = 10 * _ROOM, 11 * _ROOM
    axis = {
        "labelFontSize": small,
        "titleFontSize": large,
        "labelLimit": 0,
        "titleLimit": 0,
        "labelOverlap": True,
    }
    legend = {"labelFontSize": small, "titleFontSize": large, "labelLimit": 0, "titleLimit": 0}
    text = {"fontSize": large}
    return chart.configure(
        axis={**axis, "labelFlush": False, "maxExtent": 2000},
        legend=legend,
        text=text,
        lineBreak="\n",
        view={"strokeWidth": 0},
    )


def drawn(svg: str) -> str:
    """The picture with its letters at the size they are meant to have."""
    return _SIZES.sub(lambda size: f'font-size="{float(size[1]) / _ROOM:g}px"', svg)
