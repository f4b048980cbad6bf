"""Where a plan stands among all anonymity vectors of its people: rank, position, distance and gain (Cabana Ramírez 2016)."""

from dataclasses import dataclass
from typing import Any

from shoal.anonymity.vector import AnonymityVector, ranks

#: With more people the exact place would take longer than most plans.
RANKED_UP_TO = 10_000


@dataclass(frozen=True)
class Places:
    """The ranks of a plan, of its people before any slot is known, and of random seats, among so many vectors.

    Ranks count from 0 at the worst: everybody alone.

    >>> base, chance = AnonymityVector((2, 3, 2, 4)), AnonymityVector((24, 3))
    >>> found = places(AnonymityVector((9, 4, 3, 1)), base, chance)
    >>> found.rank, found.before, found.random, found.vectors, round(found.gain, 4), found.distance
    (641, 3157, 7, 5604, 0.2008, 2516)
    """

    rank: int
    before: int
    random: int
    vectors: int

    @property
    def position(self) -> float:
        """The rank as a share of the best there is: 1 when everybody is in one crowd, 0 when everybody is alone."""
        return self.rank / (self.vectors - 1) if self.vectors > 1 else 1.0

    @property
    def distance(self) -> int:
        """How many places the plan is below what its people had before any slot was known."""
        return self.before - self.rank

    @property
    def gain(self) -> float | None:
        """What the plan gains over random seats, as a share of the rank before; unknown if everybody was alone before."""
        return (self.rank - self.random) / self.before if self.before else None


def places(vector: AnonymityVector, before: AnonymityVector, random: AnonymityVector) -> Places | None:
    """The places of a plan; ``None`` for very many people, or if a crowd is seen as several."""
    people = {one.population for one in (vector, before, random)}
    if len(people) != 1 or not 0 < vector.population <= RANKED_UP_TO:
        return None
    own, bases, others = ranks([vector, before, random])
    return Places(own, bases, others, vector.vectors)


def figures(ranks: Places | None) -> dict[str, Any]:
    """The places as JSON can hold them: ranks are texts, since they outgrow the numbers of most languages."""
    if ranks is None:
        return dict.fromkeys(
            ("rank", "rank_before", "rank_random", "vectors", "position", "distance", "gain")
        )
    return {
        "rank": str(ranks.rank),
        "rank_before": str(ranks.before),
        "rank_random": str(ranks.random),
        "vectors": str(ranks.vectors),
        "position": ranks.position,
        "distance": str(ranks.distance),
        "gain": ranks.gain,
    }
