"""Risk: how many records look the same, and who of a sample is at risk in the population."""

from shoal.web.pages.risk.page import register

__all__ = ["register"]
