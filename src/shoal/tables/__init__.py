"""Tables with totals: which further cells must be hidden, and the proof that it is enough.

The public functions live in ``shoal.tables.api`` (``suppress``, ``audit``) and ``shoal.tables.model.tabulation``
(``tabulate``).
"""
