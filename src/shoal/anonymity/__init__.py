"""Equivalence classes, K and anonymity vectors: the language all domains share."""

from shoal.anonymity.measure import Anonymity, Diversity, anonymity
from shoal.anonymity.vector import AnonymityVector, ranks

__all__ = ["Anonymity", "AnonymityVector", "Diversity", "anonymity", "ranks"]
