"""Releases as recorded plans: drafted, checked, run, verified, compared."""
