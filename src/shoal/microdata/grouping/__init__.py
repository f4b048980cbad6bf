"""Which attributes to microaggregate together: groupings that balance information loss and disclosure risk.

Attributes in one group are clustered together, so that k holds for them; different groups are clustered on their own.
Few large groups lose much, many small ones let records be linked. A grouping is judged by really microaggregating the
data and measuring both (``shoal.microdata.measures.fitness``).
"""
