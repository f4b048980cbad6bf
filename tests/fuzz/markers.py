"""Values that no output may show: each is drawn once, and long enough not to turn up by chance."""

from collections.abc import Iterable

from tests.fuzz.draw import Draw

_LETTERS = "bcdfghjklmnpqrstvwxz"


class Markers:
    """Draws texts and numbers for the cells of a case and remembers them."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self.drawn: list[str] = []

    def text(self) -> str:
        """A word of nobody's language."""
        word = "".join(self._draw.choices(_LETTERS, k=9))
        self.drawn.append(word)
        return word

    def number(self) -> float:
        """A number of eleven digits."""
        number = self._draw.randint(10**8, 10**9 - 1) + self._draw.choice((0.25, 0.75, 0.125, 0.375))
        self.drawn.append(repr(number))
        return number

    def whole(self) -> int:
        """A whole number of ten digits."""
        number = self._draw.randint(10**9, 2 * 10**9)
        self.drawn.append(str(number))
        return number

    def forget(self, values: Iterable[object]) -> None:
        """Values that stand where a file has its names: messages may say them."""
        names = {str(value) for value in values}
        self.drawn = [value for value in self.drawn if value not in names]

    def shown_in(self, text: str) -> list[str]:
        """The values that a text shows, also with separators of thousands."""
        plain = text.replace(",", "").replace("\u202f", "").replace("_", "")
        return [value for value in self.drawn if value in text or value in plain]
