"""Controlled rounding: every figure a multiple of a base and near the true one, and all totals still add up."""
