"""How well the people of a table are hidden among each other: K, the vector, and the models of privacy it meets."""
