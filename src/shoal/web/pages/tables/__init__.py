"""Protect a table: build or upload one, say what is sensitive, hide, look at it, and try other patterns by hand."""

from shoal.web.pages.tables.page import register

__all__ = ["register"]
