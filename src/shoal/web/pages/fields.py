"""Fields for numbers: what stands in the field is what runs, or the field says what is wrong with it."""

import math
import re
from typing import Any

from nicegui import ui

from shoal.errors import InputError
from shoal.web.pages.attributes import attributes

_NUMBER = re.compile(r"[+\-−]?(\d+\.?\d*|\.\d+)([eE][+\-]?\d+)?")


class NumberField(ui.input):
    """A field that shows what was written, to the last sign; ``number`` reads it, and an error stands at the field.

    A browser's own field for numbers hides from the page what it does not understand, and NiceGUI's rounds behind one's back;
    so this is a field of text. It may stay empty only where ``empty`` says what that means.
    """

    def __init__(
        self,
        label: str,
        value: float | None = None,
        *,
        whole: bool = False,
        least: float | None = None,
        most: float | None = None,
        above: float | None = None,
        below: float | None = None,
        empty: str = "",
        on_change: Any = None,
        check: Any = None,
    ) -> None:
        self._rules: dict[str, Any] = {
            "whole": whole,
            "least": least,
            "most": most,
            "above": above,
            "below": below,
            "needed": not empty,
        }
        self._name = label
        self._check = check
        super().__init__(label, value=written(value), validation=self._wrong, on_change=on_change)
        self.props("outlined dense").classes("full-width")
        attributes(self, inputmode="numeric" if whole else "decimal", autocomplete="off")
        if empty:
            attributes(self.props("stack-label"), placeholder=empty)

    @property
    def number(self) -> float | int | None:
        """The number in the field, or nothing if it is empty and may be; an ``InputError`` names the field."""
        self.validate()
        if self.wrong is not None:
            raise InputError(f"{self._name}: {self.wrong}")
        return read(self.value, whole=bool(self._rules["whole"]))

    @property
    def wrong(self) -> str | None:
        """What is wrong with what stands in the field, or nothing."""
        return self._wrong(self.value)

    @property
    def whole(self) -> int | None:
        """The same of a field for whole numbers."""
        found = self.number
        assert found is None or isinstance(found, int)
        return found

    def show(self, value: float | None) -> None:
        """Write a number into the field."""
        self.set_value(written(value))

    def _wrong(self, text: Any) -> str | None:
        wrong = problem(text, **self._rules)
        if wrong is None and self._check is not None:
            wrong = self._check(read(text, whole=bool(self._rules["whole"])))
        return wrong


def problem(
    text: str | None,
    *,
    whole: bool = False,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    needed: bool = True,
) -> str | None:
    """What is wrong with what stands in a field, or nothing.

    >>> problem("2.5", whole=True), problem("1", whole=True, least=2), problem("")
    ('should be a whole number', 'should be 2 or more', 'a number is needed')
    >>> problem("2,5"), problem("nan"), problem("1e400"), problem("5")
    ('should be a number, such as 12 or 2.5', 'should be a number, such as 12 or 2.5', 'is too large', None)
    >>> problem("1", below=1), problem("0", above=0)
    ('should be below 1', 'should be above 0')
    """
    if not (text or "").strip():
        return "a number is needed" if needed else None
    if not _NUMBER.fullmatch(str(text).strip()):
        return "should be a number, such as 12 or 2.5"
    number = float(_plain(str(text)))
    if not math.isfinite(number):
        return "is too large"
    if whole and not number.is_integer():
        return "should be a whole number"
    if whole and abs(number) > 2**53 - 1:
        return "is too large"
    if least is not None and number < least:
        return f"should be {written(least)} or more"
    if most is not None and number > most:
        return f"should be {written(most)} or less"
    if above is not None and number <= above:
        return f"should be above {written(above)}"
    if below is not None and number >= below:
        return f"should be below {written(below)}"
    return None


def read(text: str | None, *, whole: bool = False) -> float | int | None:
    """The number that was written; nothing if nothing was.

    >>> read(" 5 ", whole=True), read("2.50"), read("")
    (5, 2.5, None)
    """
    if not (text or "").strip():
        return None
    number = float(_plain(str(text)))
    return int(number) if whole else number


def written(value: float | None) -> str:
    """A number as it is written into a field, with nothing lost.

    >>> written(5.0), written(0.1), written(100 * 0.07), written(None)
    ('5', '0.1', '7', '')
    """
    if value is None:
        return ""
    if float(value).is_integer() and abs(value) < 2**53:
        return str(int(value))
    # Fifteen digits say all a person wrote, and not what came of counting in powers of two.
    short = float(f"{value:.15g}")
    return str(int(short)) if short.is_integer() and abs(short) < 2**53 else repr(short)


def _plain(text: str) -> str:
    return text.strip().replace("−", "-")
