"""Perturb: values changed by chance, with what is promised of them and what must stay inside."""

from shoal.web.pages.perturb.page import register

__all__ = ["register"]
