"""The cell-key method: counts are perturbed by their own records, so that the same records give the same figure in all tables."""
