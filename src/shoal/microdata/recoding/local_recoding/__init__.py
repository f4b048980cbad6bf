"""Local recoding: groups of near records, each made only as coarse as its own members need."""
