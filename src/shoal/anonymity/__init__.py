"""Equivalence classes, K and anonymity vectors: the language all domains share."""
