"""Shoal's own searches over partitions, and what they are made of."""
