"""Changing values by chance, so that what is seen of a person need not be true: PRAM, swapping, noise, shuffling."""
