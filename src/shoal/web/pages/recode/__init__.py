"""Recode: keys made coarser or blanked, with an editor of hierarchies and a map of what else could be had."""

from shoal.web.pages.recode.page import register

__all__ = ["register"]
