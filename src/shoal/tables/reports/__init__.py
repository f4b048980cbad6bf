"""How results about tables are told: figures, facts and reports."""
