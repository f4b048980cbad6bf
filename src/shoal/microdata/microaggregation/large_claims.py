"""What a release of records in many places claims of itself, and whether what was counted again on it agrees.

Nothing here is shared with what splits, groups or releases.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from sys import float_info


@dataclass(frozen=True)
class ColumnClaim:
    """What must hold of a protected column: the moments and the range of the input, on one scale of numbers.

    ``fall`` and ``rise`` say how far below and above the mean of its group a value may be, by the rounding of its kind;
    both are endless where values are no means.
    """

    name: str
    weight: float
    mean: float
    deviation: float
    least: float
    largest: float
    fall: float = 0.0
    rise: float = 0.0

    @property
    def digits(self) -> float:
        """What doubles of this size cannot tell apart."""
        return 4.0 * float_info.epsilon * max(abs(self.least), abs(self.largest))

    @property
    def averaged(self) -> bool:
        """Whether values are means, rounded or not."""
        return isfinite(self.fall) and isfinite(self.rise)

    @property
    def varies(self) -> bool:
        """Whether there is more than one value."""
        return self.deviation > 0

    def expect_range(self, least: float, largest: float) -> None:
        """Raise ``AssertionError`` unless all values lie between the least and the largest of the input."""
        inside = least >= self.least - self.digits and largest <= self.largest + self.digits
        assert inside, f"column '{self.name}' holds values that no group of the records has"

    def expect_mean(self, moved: float) -> None:
        """Raise ``AssertionError`` unless the mean stays, but for rounding; ``moved`` is in deviations."""
        play = 1e-7 + self.digits / self.deviation
        stays = -self.fall / self.deviation - play <= moved <= self.rise / self.deviation + play
        assert stays, f"the mean of column '{self.name}' has changed"

    def play(self, records: int) -> float:
        """How far the loss that the variances tell may be from the squared errors, by rounding.

        With e the rounding of a record's value, |e| ≤ E, the two differ by 2·Σ(group mean − mean)·e and at most twice Σe²,
        so by n·(2·E·s + 2·E²) at most, where s is the deviation.
        """
        share = (max(self.fall, self.rise) + self.digits) / self.deviation
        return self.weight * records * (2.0 * share + 2.0 * share * share)


@dataclass(frozen=True, eq=False)
class Claims:
    """What is stated; ``unchanged_sums`` are sums over the hashes of what was kept, taken from the input.

    ``released_sums`` are the same over all released columns, taken when the records left their groups: they tie what was kept
    of a record to what is released of it.
    """

    columns: tuple[ColumnClaim, ...]
    unchanged: tuple[str, ...]
    quasi: tuple[str, ...]
    unit: str | None
    records: int
    k: int
    k_release: int
    unchanged_sums: tuple[int, int]
    released_sums: tuple[int, int]
    sse: float
    sst: float

    @property
    def names(self) -> tuple[str, ...]:
        """The protected columns."""
        return tuple(column.name for column in self.columns)

    @property
    def centres(self) -> list[tuple[float, float]]:
        """Where the values of each column are to be taken from, and in which unit: its mean and its deviation."""
        return [(column.mean, column.deviation if column.varies else 1.0) for column in self.columns]

    @property
    def unchecked(self) -> tuple[str, ...]:
        """What cannot be told again from the release alone."""
        if all(column.averaged for column in self.columns):
            return ()
        return (
            "means and the loss, since medians keep neither: of them only that they lie in the range of the column",
        )

    def expect_records(
        self, records: int, unchanged_sums: tuple[int, int], released_sums: tuple[int, int]
    ) -> None:
        """Raise ``AssertionError`` unless all records are there, with what was kept of them beside what was made of them."""
        assert records == self.records, f"{records} records, not {self.records}"
        assert unchanged_sums == self.unchanged_sums, "the columns that are kept are not what they were"
        assert released_sums == self.released_sums, "the records are not those that left their groups"

    def expect_moments(
        self, moved: Sequence[float], variances: Sequence[float], ranges: Sequence[tuple[float, float]]
    ) -> None:
        """Raise ``AssertionError`` unless values lie where they can, means stay and what the variances lost is the loss.

        ``moved`` is how far each mean is from what it was and ``variances`` what they are now, in deviations of the input.
        SSE = Σ w·(n − 1)·(1 − variance), where every value is the mean of its group.
        """
        lost, play = 0.0, 1e-6 * max(self.sst, 1e-300)
        for place, column in enumerate(self.columns):
            column.expect_range(*ranges[place])
            if not column.varies:
                continue
            play += column.play(self.records) if column.averaged else inf
            if column.averaged:
                column.expect_mean(moved[place])
                lost += column.weight * (self.records - 1) * (1.0 - variances[place])
        assert abs(lost - self.sse) <= play, f"the loss is {lost}, not {self.sse}"

    def expect_k(self, over_columns: int, over_quasi: int) -> None:
        """Raise ``AssertionError`` unless every group holds k, and K of the release is what was stated.

        Both are counted in units where the unit is known, and in records elsewhere.
        """
        assert over_columns >= self.k, f"K over the protected columns is {over_columns}, not {self.k}"
        assert over_quasi == self.k_release, f"K of the release is {over_quasi}, not {self.k_release}"
