"""Equivalence classes, K and anonymity vectors: the language all domains share."""

from shoal.anonymity.vector import AnonymityVector, ranks

__all__ = ["AnonymityVector", "ranks"]
