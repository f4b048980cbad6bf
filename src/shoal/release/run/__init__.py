"""One run of a plan, and many beside each other."""
