"""HTML from elements: the only place where text becomes HTML, so that a name or a value is never taken for a tag."""

import re
from collections.abc import Iterable
from html import escape

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
# A script needs an element or an attribute to live in; none of these can be made here.
_SCRIPTED = frozenset({"script", "style", "iframe", "object", "embed", "base", "link", "meta", "form", "svg"})
_PLACE = re.compile(r"[#/](?![/\\])[^\s\\]*")
_WITHOUT_END = frozenset({"br", "hr", "col"})


class Markup(str):
    """Text that is HTML already; everything else is escaped when it is put inside an element."""

    __slots__ = ()


def element(name: str, *inside: str, **attributes: str | int | None) -> Markup:
    """An element with its attributes and what is inside; ``aria_label`` is written ``aria-label``, ``class_`` ``class``.

    >>> element("td", "<b>", class_="number", aria_label='say "x"')
    '<td class="number" aria-label="say &quot;x&quot;">&lt;b&gt;</td>'
    >>> element("p", element("b", "5"), " of 7")
    '<p><b>5</b> of 7</p>'
    """
    if not _NAME.fullmatch(name) or name in _SCRIPTED:
        raise ValueError(f"<{name}> is not an element of a page")
    written = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    end = "" if name in _WITHOUT_END else f"</{name}>"
    return Markup(f"<{name}{written}>{joined(inside)}{end}")


def joined(pieces: Iterable[str]) -> Markup:
    """Pieces one after the other, text escaped and markup as it is.

    >>> joined(["1 < 2 ", element("b", "yes")])
    '1 &lt; 2 <b>yes</b>'
    """
    return Markup(
        "".join(piece if isinstance(piece, Markup) else escape(piece, quote=True) for piece in pieces)
    )


def leading_to(address: str, words: str) -> Markup:
    """A page that leads on to an address by itself."""
    refresh = f'<meta http-equiv="refresh" content="0; url={escape(address, quote=True)}">'
    return Markup(f"<!doctype html>\n<title>Shoal</title>{refresh}{element('p', words)}\n")


def _attribute(key: str, value: str | int) -> str:
    name = key.rstrip("_").replace("_", "-")
    if not _NAME.fullmatch(name) or name.startswith("on") or name in ("srcdoc", "style"):
        raise ValueError(f"'{name}' is not an attribute of a page")
    if name in ("href", "src") and not _PLACE.fullmatch(str(value)):
        raise ValueError(f"'{name}' leads out of the page")
    return f' {name}="{escape(str(value), quote=True)}"'
