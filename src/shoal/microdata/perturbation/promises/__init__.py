"""What a perturbation promises of its release, each with a check on what was written; no check knows the method."""
