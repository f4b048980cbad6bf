"""The compiled heart of the searches over partitions: plain functions on arrays."""
