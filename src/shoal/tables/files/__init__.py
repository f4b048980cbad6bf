"""Tables in files: matrices, lists of cells, ``jj``; and what is published of them."""
