"""Changing values by chance, so that what is seen in a record need not be true: PRAM, swapping, noise, shuffling."""
