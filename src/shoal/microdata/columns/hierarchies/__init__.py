"""Hierarchies of values: from each value up to the one that says nothing, read from files or built by a rule."""
