"""Chance with a temper: how much of a case is hostile is drawn once, so that many runs come far."""

from random import Random


class Draw(Random):
    """Random numbers of one case."""

    malice: float = 1.0

    def bad(self, chance: float) -> bool:
        """Whether to do something nasty that has this chance in a case of middling temper."""
        return self.random() < chance * self.malice


def drawn(seed: int, number: int) -> Draw:
    """The chance of a case: the same whenever it is asked for."""
    draw = Draw(f"{seed}:{number}")
    draw.malice = draw.choice((0.0, 0.2, 0.2, 0.5, 0.5, 1.0, 2.0))
    return draw
