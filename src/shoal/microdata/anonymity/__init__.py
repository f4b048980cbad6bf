"""How well the records of a table, or their units, are hidden among each other: K, the vector, and the models it meets."""
