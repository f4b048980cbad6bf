"""The methods as they were published: exhaustive branch and bound, and the genetic algorithm."""
