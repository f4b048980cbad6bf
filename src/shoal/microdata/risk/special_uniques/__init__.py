"""Special uniques: records that few keys are enough to single out."""
