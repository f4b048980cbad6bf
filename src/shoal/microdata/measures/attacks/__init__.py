"""What an intruder still finds: one file for each attack, each of which says what its intruder knows."""
