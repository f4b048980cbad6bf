"""Data to try things on: people, appointment slots, and random instances of published experiments."""
