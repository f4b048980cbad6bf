"""Blanking single values: the fewest cells, or the cheapest, with proof or with a bound."""
