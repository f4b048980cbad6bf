"""Partitions built in one go: MDAV, V-MDAV, one column at its optimum, records put in a row and cut."""
