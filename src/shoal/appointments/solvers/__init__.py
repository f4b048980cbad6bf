"""The ways to give out appointments."""
