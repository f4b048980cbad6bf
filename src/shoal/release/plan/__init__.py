"""Plans: drafted, read, checked and written."""
