"""What became of a model in some data: the worst class, and how many classes and people do not meet it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelOutcome:
    """What a model asked for, and what there is.

    ``worst`` is measured of the worst class (of ``average-risk`` it is the mean over all), ``limit`` what it is held against:
    a number, or the two between which it must lie. ``failing_classes`` do not meet the demand, with ``failing_people`` in them.
    Of closeness and likeness ``reference`` says with whose shares those of the classes were compared; ``overall`` is whether the
    release is judged as a whole.
    """

    model: str
    column: str | None
    worst: float
    limit: float | tuple[float, float]
    failing_classes: int = 0
    failing_people: int = 0
    holds: bool = True
    reference: str = ""
    overall: bool = False

    @property
    def named(self) -> str:
        """The model, and the column it is about.

        >>> ModelOutcome("distinct(3)", "diagnosis", 2, 3).named
        'distinct(3) of diagnosis'
        """
        return self.model if self.column is None else f"{self.model} of {self.column}"

    @property
    def where_worst(self) -> str:
        """What the worst figure is of, as the beginning of a sentence."""
        return "it is" if self.overall else "the worst class has"
