"""What a result shows of itself unasked: one line in a session or a log, a small table in a notebook."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.report.python_call import Call

_NAMES_SHOWN = 6


class Glance:
    r"""A result that shows a few figures and its warnings; its data, and whatever else it holds, would fill pages.

    >>> class Plan(Glance):
    ...     warnings = ("2 people are <alone>",)
    ...     def glance(self):
    ...         return {"people": 1500, "loss": 0.0312345, "quasi": ("zip", "<b>")}
    >>> Plan()
    Plan(people=1500, loss=0.0312345, quasi=('zip', '<b>'))
    >>> print(Plan()._repr_html_().replace("<tr>", "\n<tr>"))
    <table><caption>Plan</caption><tbody>
    <tr><th scope="row">people</th><td>1,500</td></tr>
    <tr><th scope="row">loss</th><td>0.03123</td></tr>
    <tr><th scope="row">quasi</th><td>zip, &lt;b&gt;</td></tr></tbody></table><p role="alert">2 people are &lt;alone&gt;</p>
    """

    #: The call that made it, if that was one of a public function.
    made_by: "Call | None" = None

    def glance(self) -> Mapping[str, Any]:
        """The figures somebody wants to see first; never a value of a record or a cell."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """One line."""
        inside = ", ".join(f"{name}={_written(value)}" for name, value in self.glance().items())
        return f"{type(self).__name__}({inside})"

    def _repr_html_(self) -> str:
        """The same as a table, with the warnings below; notebooks ask for it."""
        from shoal.report.markup import element, joined

        rows = [
            element("tr", element("th", name.replace("_", " "), scope="row"), element("td", _read(value)))
            for name, value in self.glance().items()
        ]
        table = element("table", element("caption", type(self).__name__), element("tbody", *rows))
        warnings = [element("p", _visible(str(text)), role="alert") for text in getattr(self, "warnings", ())]
        return joined([table, *warnings])


def _written(value: Any) -> str:
    """As Python writes it, if it is short."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, tuple) and len(value) > _NAMES_SHOWN:
        first = ", ".join(repr(item) for item in value[: _NAMES_SHOWN - 1])
        return f"({first}, … {len(value)} in all)"
    return repr(value)


def _read(value: Any) -> str:
    """As a person writes it, if it is short."""
    from shoal.report.blocks import shown

    if not isinstance(value, tuple):
        return _visible(shown(value))
    names = [_visible(str(item)) for item in value]
    if len(names) > _NAMES_SHOWN:
        names[_NAMES_SHOWN - 1 :] = [f"… {len(value)} in all"]
    return ", ".join(names)


def _visible(text: str) -> str:
    """Characters that turn a line round or are not seen stand as their escapes."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text
    )
