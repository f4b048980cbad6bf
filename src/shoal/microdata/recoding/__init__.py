"""Recoding: make categorical keys coarser, or blank them, until every class has at least k records, or units."""
