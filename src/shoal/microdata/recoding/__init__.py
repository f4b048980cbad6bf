"""Recoding: make categorical keys coarser, or blank them, until every combination is shared by at least k people."""
