"""A release checked by its files, independently of how it was made."""
