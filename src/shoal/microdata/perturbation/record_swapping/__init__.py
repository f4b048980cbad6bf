"""Targeted record swapping: households at risk exchange their place of living with others."""
