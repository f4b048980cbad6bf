"""The search for the cheapest safe pattern with proof: presolve, relaxation, inequalities, tree, windows."""
