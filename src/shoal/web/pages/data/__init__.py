"""Data: files, databases and samples; what columns are, and what is removed."""

from shoal.web.pages.data.page import register

__all__ = ["register"]
