"""The figures of loss and of links by the names that every comparison gives them."""

from shoal.microdata.measures.information_loss import InformationLoss


class LossFigures:
    """What a comparison with a ``loss`` and counted links has under short names."""

    loss: InformationLoss
    strict_links: int | None
    expected_links: float

    @property
    def il1(self) -> float:
        """Mean relative change of a value."""
        return self.loss.il1.value

    @property
    def il1s(self) -> float:
        """Mean change of a value in units of √2 standard deviations."""
        return self.loss.il1s.value

    @property
    def il2(self) -> float:
        """Mean relative change of a mean."""
        return self.loss.il2.value

    @property
    def il3(self) -> float:
        """Mean relative change of a covariance."""
        return self.loss.il3.value

    @property
    def il4(self) -> float:
        """Mean relative change of a variance."""
        return self.loss.il4.value

    @property
    def il5(self) -> float:
        """Mean absolute change of a correlation."""
        return self.loss.il5.value

    @property
    def il(self) -> float:
        """100 times the mean of IL1 to IL5."""
        return self.loss.il

    @property
    def sse_percent(self) -> float:
        """100·SSE/SST on standardised columns."""
        return self.loss.sse_percent

    @property
    def links_expected(self) -> float:
        """How many records an intruder links who knows all columns, ties decided by chance."""
        return self.expected_links

    @property
    def links_strict(self) -> int | None:
        """How many records are nearer to their own protected record than to any other."""
        return self.strict_links
