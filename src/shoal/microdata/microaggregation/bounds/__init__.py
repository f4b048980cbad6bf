"""How little a partition could lose at best."""
