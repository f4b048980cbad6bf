"""What the columns of a table of records are: shared by all operations on records."""
