"""The heuristics as they were published: HyperCube, shortest paths, GenSup, HeurGene."""
