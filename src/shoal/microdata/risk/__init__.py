"""Who is at risk in a sample: counts, individual and household risk, uniques of the population, contributions of keys."""
