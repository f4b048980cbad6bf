"""Change figures: a table that is published whole, rounded, adjusted or with perturbed counts."""

from shoal.web.pages.change.page import register

__all__ = ["register"]
