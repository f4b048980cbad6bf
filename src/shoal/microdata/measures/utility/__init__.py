"""What a release is still good for: one file for each measure."""
