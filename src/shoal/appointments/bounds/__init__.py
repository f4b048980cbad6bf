"""How good an assignment could possibly be."""
