"""Controlled tabular adjustment: sensitive cells are moved away from their figures, the rest a little, and totals add up."""
