"""Randomness that can be repeated, however many threads share it."""

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from zlib import crc32

from shoal.numbers import whole

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Seeds:
    """A tree of random streams grown from one seed.

    A stream is found by its place in the tree (names and numbers), not by the order in which streams were
    asked for, so work that is split over threads draws the same numbers whichever thread does it.
    ``Seeds(None)`` grows from the system's entropy.

    >>> Seeds(7).child("start", 3).integer() == Seeds(7).child("start", 3).integer()
    True
    >>> Seeds(7).child("start", 3).integer() == Seeds(7).child("start", 4).integer()
    False
    """

    seed: int | None = 0
    path: tuple[int, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.seed is None:
            object.__setattr__(self, "seed", secrets.randbits(128))
        else:
            whole(self.seed, "the seed", most=2**1024)

    def child(self, *branch: str | int) -> "Seeds":
        """The stream at a place below this one."""
        keys = tuple(crc32(step.encode()) if isinstance(step, str) else int(step) for step in branch)
        return Seeds(self.seed, self.path + keys)

    def generator(self) -> "np.random.Generator":
        """A NumPy generator for this stream."""
        import numpy as np

        return np.random.Generator(np.random.PCG64(self._sequence()))

    def integer(self) -> int:
        """A 64-bit seed for this stream."""
        return int(self._sequence().generate_state(1, "uint64")[0])

    def state(self) -> "np.ndarray":
        """The state of a generator for compiled code (``shoal.runtime.randomness``)."""
        return self._sequence().generate_state(4, "uint64")

    def _sequence(self) -> "np.random.SeedSequence":
        from numpy.random import SeedSequence

        return SeedSequence(self.seed, spawn_key=self.path)
