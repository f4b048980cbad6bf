"""Operations on Parquet files that are larger than memory, on one machine: read in slices, kept on disk in between."""
