"""What a table is: cells, relations, rules, hierarchies, linked tables, units, networks."""
