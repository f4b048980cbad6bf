"""Tables with totals: which further cells must be hidden, and the proof that it is enough.

The public functions live in ``shoal.tables.suppression`` (``suppress``, ``audit``) and ``shoal.tables.tabulation``
(``tabulate``).
"""
