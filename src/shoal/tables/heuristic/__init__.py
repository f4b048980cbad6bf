"""Safe patterns found quickly, on networks and on any table."""
