"""Microaggregation: every record becomes equal to at least k−1 others, losing as little as possible."""
